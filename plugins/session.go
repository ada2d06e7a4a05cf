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
	// parts are what single plugins keep, which ends with them if not before.
	parts map[*generation]*Session
}

// part is the session as one generation of a plugin sees it. A nil session has
// no parts.
func (s *Session) part(g *generation) *Session {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.parts[g]; ok {
		return p
	}
	p := &Session{closed: s.closed}
	if s.closed {
		return p
	}
	if s.parts == nil {
		s.parts = make(map[*generation]*Session)
	}
	s.parts[g] = p
	g.keep(s, p)
	return p
}

// forget lets go of the part of a generation that is no more.
func (s *Session) forget(g *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parts, g)
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
	kept, parts := s.kept, s.parts
	s.kept, s.parts, s.closed = nil, nil, true
	s.mu.Unlock()
	var errs []error
	for g, p := range parts {
		g.keep(s, nil)
		errs = append(errs, p.Close(ctx))
	}
	for _, k := range kept {
		errs = append(errs, k.Close(ctx))
	}
	return errors.Join(errs...)
}
