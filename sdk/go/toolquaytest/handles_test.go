package toolquaytest

import (
	"testing"

	"github.com/toolquay/toolquay/sdk/go/wire"
)

// TestHandles is the table of the ABI: the states of a handle, and what wait, read,
// cancel and a result do with it.
func TestHandles(t *testing.T) {
	begin := func(s *session) { s.Read(1, make([]byte, 1)) }
	drain := func(s *session) {
		for s.Read(1, make([]byte, 64)) > 0 {
		}
	}
	cancel := func(s *session) { s.Cancel(1) }
	states := []struct {
		name           string
		id             uint32
		steps          []func(*session)
		named, cancels bool
	}{
		{"zero", 0, nil, false, false},
		{"never given", 2, nil, false, false},
		{"far away", 1<<32 - 1, nil, false, false},
		{"answered", 1, nil, true, true},
		{"partly read", 1, []func(*session){begin}, true, true},
		{"read to the end", 1, []func(*session){drain}, false, true},
		{"cancelled", 1, []func(*session){cancel}, false, true},
		{"cancelled when partly read", 1, []func(*session){begin, cancel}, false, true},
		{"cancelled twice", 1, []func(*session){cancel, cancel}, false, true},
	}
	operations := map[string]func(s *session, id uint32){
		"wait":   func(s *session, id uint32) { s.Wait([]uint32{id}) },
		"read":   func(s *session, id uint32) { s.Read(id, make([]byte, 8)) },
		"cancel": func(s *session, id uint32) { s.Cancel(id) },
		"result": func(s *session, id uint32) { s.rest(id, 0) },
	}
	for _, state := range states {
		for name, operation := range operations {
			s := newSession(t)
			for _, step := range state.steps {
				step(s)
			}
			if s.fault != "" {
				t.Fatalf("%s: %s", state.name, s.fault)
			}
			operation(s, state.id)
			want := state.named
			if name == "cancel" {
				want = state.cancels
			}
			if (s.fault == "") != want {
				t.Errorf("%s, %s: %q", state.name, name, s.fault)
			}
		}
	}
}

// newSession is one with a capability call that was answered with a body, as 1.
func newSession(t *testing.T) *session {
	t.Helper()
	h := Files(nil)
	h.On("test.a", func([]byte) (any, []byte, error) { return struct{}{}, []byte("body"), nil })
	s := &session{host: h, answers: map[uint32]*answer{}}
	head := wire.RequestHead{Capability: "test.a"}
	message, err := wire.Append(nil, head.AppendJSON)
	if err != nil {
		t.Fatal(err)
	}
	if id := s.Submit(message); id != 1 {
		t.Fatalf("the first call is %d", id)
	}
	return s
}
