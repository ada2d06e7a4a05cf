package cron

// AtStep has a store tell of each step of what it does.
func AtStep(s *Store, do func(step string)) { s.step = do }
