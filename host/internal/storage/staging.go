package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/stage"
)

// Layer is an overlay that shows a directory with its staged changes.
type Layer = stage.Layer

// Staging stages the changes of commands. It is safe for concurrent use.
type Staging struct {
	stage *stage.Store

	mu sync.Mutex
	// mounted has the overlays through which this process writes, so that commands see its
	// changes, by their directories. closed means that no more are accepted.
	mounted map[string]mounted
	closed  bool
}

// mounted is an open directory with an overlay mounted on it.
type mounted struct {
	Layer
	dir *os.File
}

// Staging returns the staging of commands; nil if writes are not staged.
func (s *Session) Staging() *Staging { return s.staging }

// Begin returns the overlays to mount on directories, for a command that is about to run. Nothing
// is applied or discarded before end is called.
func (s *Staging) Begin(roots []string) (_ []Layer, end func(), err error) {
	end, err = s.stage.Running()
	if err != nil {
		return nil, nil, err
	}
	layers, err := s.stage.Layers(roots)
	if err != nil {
		end()
		return nil, nil, err
	}
	return layers, end, nil
}

// Mounted makes the stage write below a directory through the mounted overlay that open opens, so
// that commands see the writes. It does nothing if the stage already writes through this overlay.
func (s *Staging) Mounted(l Layer, open func() (*os.File, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, ok := s.mounted[l.Root]
	switch {
	case s.closed:
		return fmt.Errorf("the session: %w", ErrClosed)
	case ok && was.Layer == l:
		return nil
	}
	dir, err := open()
	if err != nil {
		return err
	}
	if s.mounted == nil {
		s.mounted = make(map[string]mounted)
	}
	s.mounted[l.Root] = mounted{l, dir}
	s.stage.Mounted(l.Root, fmt.Sprintf("/proc/self/fd/%d", dir.Fd()))
	if ok {
		return was.dir.Close()
	}
	return nil
}

// Scan finds what a command changed. Began is when the command began.
func (s *Staging) Scan(ctx context.Context, began time.Time, by capability.Call) error {
	return s.stage.Scan(ctx, began, by)
}

// close makes the stage stop writing through overlays.
func (s *Staging) close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var faults []error
	for root, m := range s.mounted {
		s.stage.Mounted(root, "")
		faults = append(faults, m.dir.Close())
	}
	s.mounted, s.closed = nil, true
	return errors.Join(faults...)
}
