package history

// FailSync has the store find out that it cannot force a directory to the disk after a
// file was removed there.
func FailSync(s *Store, err error) { s.sync = func(string) error { return err } }

// AtSwap has the last step of a restoring done by somebody else, who is given what it
// would be.
func AtSwap(s *Store, swap func(put func() error) error) { s.swap = swap }

// Fates judges writes of one file, each from one content to another, which is now what the
// last argument says.
func Fates(writes [][2]string, now string) []State {
	c := &chain{now: &Content{Hash: now}}
	for _, w := range writes {
		c.changes = append(c.changes, Change{Record: Record{Before: &Content{Hash: w[0]}, After: &Content{Hash: w[1]}}})
	}
	return c.fates()
}
