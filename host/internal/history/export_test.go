package history

// AtMoment has do called with "recorded" and "done" when a file is restored, and with "ledger" before a ledger is read.
func AtMoment(s *Store, do func(moment string)) { s.moment = do }

// Fates judges writes of one file, each from one content to another, which is now what the
// last argument says.
func Fates(writes [][2]string, now string) []State {
	c := &chain{now: &Content{Hash: now}}
	for _, w := range writes {
		c.writes = append(c.writes, Change{Record: Record{Before: &Content{Hash: w[0]}, After: &Content{Hash: w[1]}}})
	}
	return c.fates()
}
