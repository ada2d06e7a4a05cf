package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// server is the worker's side: it serves calls to the one plugin it has loaded.
// What comes from the host is believed.
type server struct {
	instance plugins.Instance
	tools    map[string]*abi.Tool
	out      *writer
	limit    int // of a result's message

	mu       sync.Mutex
	calls    map[uint32]*served
	sessions map[uint64]*plugins.Session
}

func newServer(instance plugins.Instance, s *loadSetup, out *writer) *server {
	server := &server{
		instance: instance,
		tools:    make(map[string]*abi.Tool, len(s.Manifest.Tools)),
		out:      out,
		limit:    resultLimit(s.Manifest.Limits.Output),
		calls:    make(map[uint32]*served),
		sessions: make(map[uint64]*plugins.Session),
	}
	for i := range s.Manifest.Tools {
		t := &s.Manifest.Tools[i]
		server.tools[t.Name] = t
	}
	return server
}

// run receives messages until the host is gone.
func (s *server) run(in *reader) error {
	for {
		h, payload, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.receive(h, payload); err != nil {
			return err
		}
	}
}

func (s *server) receive(h header, payload []byte) error {
	switch h.kind {
	case kindCall, kindAssess:
		s.begin(h, payload)
	case kindEndSession:
		s.endSession(h.call, payload)
	default:
		s.mu.Lock()
		c := s.calls[h.call]
		s.mu.Unlock()
		if c == nil {
			return nil // it ended while this was on its way
		}
		switch h.kind {
		case kindCancel:
			c.cancel()
		case kindAnswer:
			return c.answer(h.request, payload)
		case kindData:
			c.data(h, payload)
		case kindSpilled:
			c.spilled(h, payload)
		}
	}
	return nil
}

func (s *server) begin(h header, payload []byte) {
	c := &served{server: s, id: h.call}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	s.mu.Lock()
	s.calls[c.id] = c
	s.mu.Unlock()
	go func() {
		defer cancel()
		if h.kind == kindAssess {
			c.finish(c.assess(ctx, payload))
			return
		}
		c.finish(c.call(ctx, payload, h.flags&flagSpill != 0))
	}()
}

// tool returns the contract of the tool of that name.
func (s *server) tool(name string) *abi.Tool {
	if t, ok := s.tools[name]; ok {
		return t
	}
	return &abi.Tool{Name: name}
}

// session returns what the plugin keeps for a session of the host's.
func (s *server) session(id uint64) *plugins.Session {
	if id == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.sessions[id]
	if !ok {
		kept = &plugins.Session{}
		s.sessions[id] = kept
	}
	return kept
}

func (s *server) endSession(number uint32, payload []byte) {
	id := binary.LittleEndian.Uint64(payload)
	s.mu.Lock()
	kept := s.sessions[id]
	delete(s.sessions, id)
	s.mu.Unlock()
	go func() {
		if kept != nil {
			_ = kept.Close(context.Background()) // no call of it is under way
		}
		_ = s.out.send(newMessage(kindSessionEnded, number, 0, 0))
	}()
}

// call runs a tool and returns the message that answers.
func (c *served) call(ctx context.Context, payload []byte, spills bool) []byte {
	head, input, err := abi.DecodeCall(payload[sessionSize:])
	if err != nil {
		return failed(c.id, err)
	}
	inv := plugins.Invocation{
		Tool:       c.server.tool(head.Tool),
		ID:         head.ID,
		Input:      input,
		Cwd:        head.Cwd,
		Config:     head.Config,
		Session:    c.server.session(binary.LittleEndian.Uint64(payload)),
		Capability: c.capability,
		Report:     c.report,
	}
	if spills {
		inv.Spill = func() (abi.Spill, error) { return c.spill(ctx) }
	}
	result, err := c.server.instance.Call(ctx, inv)
	if err != nil {
		return failed(c.id, err)
	}
	message := putSpillHead(newMessage(kindResult, c.id, 0, 256), result.Content)
	message, err = abi.EncodeResult(message, result)
	if err == nil && len(message)-headerSize > c.server.limit {
		err = abi.Errorf(abi.CodeLimit, "the result is over its limit (limit output)")
	}
	if err != nil {
		return failed(c.id, err)
	}
	return message
}

// assess asks the tool and returns the message that answers.
func (c *served) assess(ctx context.Context, payload []byte) []byte {
	head, input, err := abi.DecodeAssess(payload)
	if err != nil {
		return failed(c.id, err)
	}
	a, err := c.server.instance.Assess(ctx, plugins.Question{
		Tool: c.server.tool(head.Tool), Input: input, Cwd: head.Cwd, Facts: head.Facts, Config: head.Config,
	})
	if err != nil {
		return failed(c.id, err)
	}
	message, err := abi.EncodeAssessment(newMessage(kindAssessment, c.id, 0, 128), a)
	if err != nil {
		return failed(c.id, err)
	}
	return message
}
