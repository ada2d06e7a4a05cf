package worker

import (
	"context"
	"fmt"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// exchangeKept has a worker serve a call in the instance of a session.
func (m *module) exchangeKept(ctx context.Context, c *call, s *plugins.Session) reply {
	if c.parent.has(m) {
		return reply{err: abi.Errorf(abi.CodeReentry, "plugin %s keeps one instance (instance = \"kept\") and cannot be called by itself", m.name)}
	}
	k, err := m.keeper(s)
	if err != nil {
		return reply{err: err}
	}
	select {
	case <-k.turn:
	case <-ctx.Done():
		return reply{err: m.explain(ctx)}
	}
	defer func() { k.turn <- struct{}{} }()
	c.keeper = k
	was := k.in
	r := m.exchange(ctx, c)
	if (was != nil && was.gone()) || (c.process != nil && c.process.gone()) {
		c.lost()
	}
	if c.process != nil {
		was = c.process
	}
	k.moved(was)
	return r
}

func (m *module) keeper(s *plugins.Session) (*keeper, error) {
	kept, err := s.Keep(m, func() plugins.Keeper {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.sessions++
		k := &keeper{module: m, id: m.sessions, turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		return k
	})
	if err != nil {
		return nil, abi.Errorf(abi.CodeCancelled, "plugin %s: %w", m.name, err)
	}
	k, ok := kept.(*keeper)
	if !ok {
		return nil, abi.Errorf(abi.CodeInternal, "plugin %s: the session keeps a %T for it", m.name, kept)
	}
	return k, nil
}

// lost tells the call that state is gone.
func (c *call) lost() {
	if c.reports.to != nil {
		c.reports.to(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: fmt.Sprintf(
			"plugin %s lost the state it kept for this session: its worker process ended", c.module.name)}})
	}
}
