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
	parts map[*parts]*Session
}

// parts are what sessions keep of one plugin. The zero value is ready for use.
type parts struct {
	mu   sync.Mutex
	kept map[*Session]*Session // by session
}

// keep remembers that a session keeps something of the plugin, or forgets it where
// part is nil.
func (p *parts) keep(session, part *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case part == nil:
		delete(p.kept, session)
	case p.kept == nil:
		p.kept = map[*Session]*Session{session: part}
	default:
		p.kept[session] = part
	}
}

// close ends all that sessions keep of the plugin.
func (p *parts) close(ctx context.Context) error {
	p.mu.Lock()
	kept := p.kept
	p.kept = nil
	p.mu.Unlock()
	var errs []error
	for session, part := range kept {
		session.forget(p)
		errs = append(errs, part.Close(ctx))
	}
	return errors.Join(errs...)
}

// part is the session as one plugin sees it. A nil session has no parts.
func (s *Session) part(of *parts) *Session {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.parts[of]; ok {
		return p
	}
	p := &Session{closed: s.closed}
	if s.closed {
		return p
	}
	if s.parts == nil {
		s.parts = make(map[*parts]*Session)
	}
	s.parts[of] = p
	of.keep(s, p)
	return p
}

// forget removes the part of a plugin that is closed.
func (s *Session) forget(of *parts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parts, of)
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
	for of, p := range parts {
		of.keep(s, nil)
		errs = append(errs, p.Close(ctx))
	}
	for _, k := range kept {
		errs = append(errs, k.Close(ctx))
	}
	return errors.Join(errs...)
}
