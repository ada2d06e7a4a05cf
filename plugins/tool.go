package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// Tool is one tool of a plugin that can be called.
type Tool struct {
	// Tool is the contract, as the manifest has it. Where that turned out to be
	// unreadable there are only names; see [Tool.Available].
	*abi.Tool
	Plugin *Plugin

	index  int // among the manifest's
	filled sync.Once

	compile sync.Once
	input   *Schema
	fail    error

	compileOutput sync.Once
	output        *Schema
	outputFail    error

	hashed     sync.Once
	definition [sha256.Size]byte

	memo assessments
}

// fill reads the contract, at the first time that somebody asks for the tool.
func (t *Tool) fill() {
	t.filled.Do(func() {
		if m := t.Plugin.Manifest(); m != nil {
			t.Tool = &m.Tools[t.index]
			return
		}
		names := t.Plugin.generation.finding.Summary.Tools[t.index]
		t.Tool = &abi.Tool{Name: names[0], Aliases: names[1:]}
	})
}

// Definition is the SHA-256 of the contract.
func (t *Tool) Definition() [sha256.Size]byte {
	t.hashed.Do(func() {
		text, _ := json.Marshal(t.Tool) // plain data: it cannot fail
		t.definition = sha256.Sum256(text)
	})
	return t.definition
}

// Validate checks an input as [Tool.Accept] does.
func (t *Tool) Validate(input json.RawMessage) error {
	_, err := t.Accept(input)
	return err
}

// Accept checks an input, which must be canonical JSON, against the tool's schema, and
// returns it as guests get it: see [Schema.Accept], with nulls where the tool is
// strict. Its errors, of [abi.CodeInvalidInput], say field by field what to change. The
// schema is compiled at the first use.
func (t *Tool) Accept(input json.RawMessage) (json.RawMessage, error) {
	t.compile.Do(func() {
		if t.input, t.fail = CompileSchema(t.Name, t.InputSchema); t.fail != nil {
			t.fail = &abi.Error{Code: abi.CodeLoad, Message: "the input schema of " + t.Name + " is unusable: " + t.fail.Error(), Err: t.fail}
		}
	})
	if t.fail != nil {
		return input, t.fail
	}
	return t.input.Accept(input, t.Strict)
}

// AcceptOutput checks structured content, which must be canonical JSON, against the tool's
// output schema, and returns it without nulls where the schema wants a property to be left
// out. Without a schema it is taken as it is. The schema is compiled at the first use.
func (t *Tool) AcceptOutput(structured json.RawMessage) (json.RawMessage, error) {
	if t.OutputSchema == "" {
		return structured, nil
	}
	t.compileOutput.Do(func() { t.output, t.outputFail = CompileOutputSchema(t.Name, t.OutputSchema) })
	if t.outputFail != nil {
		return nil, t.outputFail
	}
	return t.output.AcceptOutput(structured)
}

// Call runs the tool, behind the plugin's grant. See [Instance.Call].
func (t *Tool) Call(ctx context.Context, c Invocation) (abi.ToolResult, error) {
	g := t.Plugin.generation
	if err := g.calls.enter(t.Plugin.Name); err != nil {
		return abi.ToolResult{}, err
	}
	defer g.calls.leave()
	if err := t.Plugin.refusal(); err != nil {
		return abi.ToolResult{}, err
	}
	instance, err := g.instance(ctx)
	if err != nil {
		return abi.ToolResult{}, err
	}
	c.Tool, c.Config = t.Tool, g.config
	if m := g.parsed.Load(); m.Instance == abi.InstanceKept {
		c.Session = c.Session.part(&g.parts)
	} else {
		c.Session = nil
	}
	return instance.Call(ctx, c)
}

// Assess asks the tool about an input. Answers to the same question are
// remembered: a guest that is asked has no clock worth trusting and no
// capability, so the same question has the same answer.
func (t *Tool) Assess(ctx context.Context, q Question) (abi.Assessment, error) {
	g := t.Plugin.generation
	if err := g.calls.enter(t.Plugin.Name); err != nil {
		return abi.Assessment{}, err
	}
	defer g.calls.leave()
	if err := t.Plugin.refusal(); err != nil {
		return abi.Assessment{}, err
	}
	q.Tool, q.Config = t.Tool, g.config
	key := q.key()
	if a, ok := t.memo.get(key); ok {
		return a, nil
	}
	instance, err := g.instance(ctx)
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
	if t.Plugin.problem != nil {
		return t.Plugin.problem
	}
	return t.Plugin.refusal()
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
