package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// Tool is one tool of a plugin that can be called.
type Tool struct {
	// Tool is the contract, as the manifest has it.
	*abi.Tool
	Plugin *Plugin

	compile sync.Once
	input   *Schema
	fail    error

	memo assessments
}

// Validate checks an input, which must be canonical JSON, against the tool's
// schema. Its errors, of [abi.CodeInvalidInput], say field by field what to
// change. The schema is compiled at the first use.
func (t *Tool) Validate(input json.RawMessage) error {
	t.compile.Do(func() {
		if t.input, t.fail = CompileSchema(t.Name, t.InputSchema); t.fail != nil {
			t.fail = &abi.Error{Code: abi.CodeLoad, Message: "the input schema of " + t.Name + " is unusable: " + t.fail.Error(), Err: t.fail}
		}
	})
	if t.fail != nil {
		return t.fail
	}
	return t.input.Validate(input)
}

// Call runs the tool, behind the plugin's consent. See [Instance.Call].
func (t *Tool) Call(ctx context.Context, c Invocation) (abi.ToolResult, error) {
	if err := t.Plugin.refusal(); err != nil {
		return abi.ToolResult{}, err
	}
	instance, err := t.Plugin.instance(ctx)
	if err != nil {
		return abi.ToolResult{}, err
	}
	c.Tool, c.Config = t.Tool, t.Plugin.Config()
	return instance.Call(ctx, c)
}

// Assess asks the tool about an input. Answers to the same question are
// remembered: a guest that is asked has no clock worth trusting and no
// capability, so the same question has the same answer.
func (t *Tool) Assess(ctx context.Context, q Question) (abi.Assessment, error) {
	if err := t.Plugin.refusal(); err != nil {
		return abi.Assessment{}, err
	}
	q.Tool, q.Config = t.Tool, t.Plugin.Config()
	key := q.key()
	if a, ok := t.memo.get(key); ok {
		return a, nil
	}
	instance, err := t.Plugin.instance(ctx)
	if err != nil {
		return abi.Assessment{}, err
	}
	a, err := instance.Assess(ctx, q)
	if err == nil {
		t.memo.put(key, a)
	}
	return a, err
}

// Available reports why the tool cannot be called now, or nil.
func (t *Tool) Available() error {
	return errors.Join(t.Plugin.Problem, t.Plugin.refusal())
}

// key identifies a question by what the answer depends on.
func (q Question) key() [sha256.Size]byte {
	h := sha256.New()
	field := func(b []byte) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	facts, _ := json.Marshal(q.Facts) // plain data: it cannot fail
	field([]byte(q.Cwd))
	field(q.Input)
	field(facts)
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}

// remembered bounds the assessments kept for one tool.
const remembered = 256

// assessments is a small memory of a tool's answers, oldest out first.
type assessments struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]abi.Assessment
	order [][sha256.Size]byte
}

func (m *assessments) get(key [sha256.Size]byte) (abi.Assessment, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.known[key]
	return a, ok
}

func (m *assessments) put(key [sha256.Size]byte, a abi.Assessment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.known[key]; ok {
		return
	}
	if m.known == nil {
		m.known = make(map[[sha256.Size]byte]abi.Assessment)
	}
	if len(m.order) == remembered {
		delete(m.known, m.order[0])
		m.order = m.order[1:]
	}
	m.known[key] = a
	m.order = append(m.order, key)
}
