package plugins

import (
	"context"
	"errors"
	"sync"
)

// Session holds what plugins keep from one call to the next, for one session of
// the host. The zero value is ready for use; Close ends what is kept.
type Session struct {
	mu     sync.Mutex
	closed bool
	kept   map[any]Keeper
}

// Keeper is something a runner keeps for a session.
type Keeper interface {
	Close(ctx context.Context) error
}

// ErrSessionClosed is returned by [Session.Keep] after Close.
var ErrSessionClosed = errors.New("the session is closed")

// Keep returns what is kept under key, made by the given function where nothing
// is. Keys are a runner's own pointers, so that none meets another's.
func (s *Session) Keep(key any, create func() Keeper) (Keeper, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrSessionClosed
	}
	if k, ok := s.kept[key]; ok {
		return k, nil
	}
	k := create()
	if s.kept == nil {
		s.kept = make(map[any]Keeper)
	}
	s.kept[key] = k
	return k, nil
}

// Close ends everything kept. Further calls keep nothing.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	kept := s.kept
	s.kept, s.closed = nil, true
	s.mu.Unlock()
	var errs []error
	for _, k := range kept {
		errs = append(errs, k.Close(ctx))
	}
	return errors.Join(errs...)
}
