//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package workspace

import "io"

// Later collects nothing: directories are not synced separately on this system.
type Later struct{}

// skip appends n zero bytes as a hole.
func (s *staging) skip(n int64) error {
	at, err := s.file.Seek(n, io.SeekCurrent)
	if err != nil {
		return err
	}
	return s.file.Truncate(at)
}

func (s *staging) handle() uintptr { return s.file.Fd() }

// Together returns how many of most commits can be prepared at the same time: all of them.
func Together(most int) int { return most }

// Sync does nothing.
func (*Later) Sync() error { return nil }

// Later does nothing.
func (*Draft) Later(*Later) {}

// Later does nothing.
func (*Spot) Later(*Later) {}
