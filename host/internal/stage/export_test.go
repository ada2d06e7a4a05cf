package stage

// AtMoment makes a stage call do at each step of a change.
func AtMoment(s *Store, do func(moment string)) { s.moment = do }
