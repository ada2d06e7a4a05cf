//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package workspace

import "io"

// Later is for systems that write out directories apart from files.
type Later struct{}

// skip leaves a hole.
func (s *staging) skip(n int64) error {
	at, err := s.file.Seek(n, io.SeekCurrent)
	if err != nil {
		return err
	}
	return s.file.Truncate(at)
}

func (s *staging) handle() uintptr { return s.file.Fd() }

// Together is how many commits can be prepared at a time.
func Together(most int) int { return most }

// Sync has nothing to do.
func (*Later) Sync() error { return nil }

// Later has nothing to do.
func (*Draft) Later(*Later) {}

// Later has nothing to do.
func (*Spot) Later(*Later) {}
