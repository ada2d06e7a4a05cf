package stage

// AtMoment has something done at the steps of what changes a stage.
func AtMoment(s *Store, do func(moment string)) { s.moment = do }
