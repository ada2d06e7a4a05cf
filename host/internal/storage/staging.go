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

// Layer is where what is staged below a directory lies, for an overlay to be mounted of it.
type Layer = stage.Layer

// Staging has what commands change staged, too. It is safe for concurrent use.
type Staging struct {
	stage *stage.Store

	mu sync.Mutex
	// mounted are the directories, by their paths, by which this process changes what commands
	// find, and closed says that there are none any more.
	mounted map[string]mounted
	closed  bool
}

// mounted is a directory with an overlay over it.
type mounted struct {
	Layer
	dir *os.File
}

// Staging has what commands change staged; nil where writes are not.
func (s *Session) Staging() *Staging { return s.staging }

// Begin returns where the changes in directories lie, for a command that is about to find them.
// Nothing is applied or discarded before end is called.
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

// Mounted has the stage write below a directory by what open opens, unless it does already, so
// that commands are told of it.
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

// Scan finds out what a command, which began at a time, changed.
func (s *Staging) Scan(ctx context.Context, began time.Time, by capability.Call) error {
	return s.stage.Scan(ctx, began, by)
}

// close has the stage write by no overlay any more.
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
