package stage

// AtMoment has something done at the steps of an applying.
func AtMoment(s *Store, do func(moment string)) { s.moment = do }
