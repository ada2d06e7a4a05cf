package toolquay

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/sdk/go/internal/guest"
	"github.com/toolquay/toolquay/sdk/go/wire"
)

// Tool is one tool of the plugin. Its name is that of plugin.toml.
type Tool struct {
	Name string
	// Run does one call. An [Error] it returns keeps its code; any other error
	// becomes a failed result with the error's text. What Output holds besides
	// is sent along.
	Run func(c *Call) (Output, error)
	// Assess, if not nil, answers questions about a call before anything is
	// decided; plugin.toml says which are asked (traits of "input", validates,
	// checks). It must not do the work, has no capabilities and little time. An
	// error refuses the input.
	Assess func(q *Question) (Assessment, error)
}

var tools = map[string]Tool{}

// Register adds a tool; call it from an init function. It panics where the name
// is taken or the tool has no name or no Run: the plugin is then broken and
// must not start.
func Register(t Tool) {
	switch _, taken := tools[t.Name]; {
	case t.Name == "":
		panic("toolquay: a tool without a name")
	case t.Run == nil:
		panic("toolquay: the tool " + t.Name + " has no Run")
	case taken:
		panic("toolquay: the tool " + t.Name + " is registered twice")
	}
	tools[t.Name] = t
}

// Handle registers a tool whose input is decoded into In.
func Handle[In any](name string, run func(c *Call, in In) (Output, error)) {
	warm[In]()
	Register(Tool{Name: name, Run: Typed(run)})
}

// warm decodes an empty input once: encoding/json then knows In. An instance that
// is put back to where it started would find that out anew in every call, which
// takes it some 100 us. What comes of it does not matter; a panic in a method of In
// would come again where it can be told.
func warm[In any]() {
	_, _ = guarded(nil, func() (in In, err error) { return in, decodeInput([]byte("{}"), &in) })
}

// Typed makes a [Tool]'s Run of a function that takes its input decoded, by the
// rules of encoding/json. Input that does not fit In is [CodeInvalidInput].
func Typed[In any](run func(c *Call, in In) (Output, error)) func(*Call) (Output, error) {
	return func(c *Call) (Output, error) {
		var in In
		if err := c.Decode(&in); err != nil {
			return Output{}, err
		}
		return run(c, in)
	}
}

func init() { guest.Call, guest.Assess = serveCall, serveAssess }

func serveCall(h guest.Host, message []byte) []byte {
	head, input, err := wire.DecodeCall(message)
	if err != nil {
		return Output{}.encode(err)
	}
	tool, ok := tools[head.Tool]
	if !ok {
		return Output{}.encode(&Error{Code: CodeUnknownTool, Message: "this plugin has no tool " + strconv.Quote(head.Tool)})
	}
	call := &Call{host: h, head: head, input: input}
	out, err := guarded(call, func() (Output, error) { return tool.Run(call) })
	return out.encode(err)
}

// guarded turns a panic into an error, which names it better than the end of a
// stack trace does, with its place. The stack goes to the log of the call, if there is
// one. (TinyGo recovers where its version can, and tells no places.)
func guarded[T any](c *Call, run func() (T, error)) (v T, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		place, stack := panicPlace()
		if c != nil && stack != "" {
			c.Log(LevelError, "panic: "+panicText(p)+"\n"+stack)
		}
		err = &Error{Code: CodeTrap, Message: "the tool panicked: " + panicText(p) + place}
	}()
	return run()
}

func panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	return "a value that is no text"
}

func serveAssess(message []byte) []byte {
	head, input, err := wire.DecodeAssess(message)
	var answer Assessment
	if tool := tools[head.Tool]; err == nil && tool.Assess != nil {
		answer, err = guarded(nil, func() (Assessment, error) {
			return tool.Assess(&Question{head: head, input: input})
		})
	}
	if err != nil {
		answer.Invalid = &Invalid{Message: err.Error()}
	}
	encoded, err := wire.Append(nil, answer.AppendJSON)
	if err != nil { // the answer's own texts are over the limit of a head
		encoded, _ = wire.Append(nil, (&Assessment{Invalid: &Invalid{Message: err.Error()}}).AppendJSON)
	}
	return encoded
}

// decodeInput is the convenience for authors' own types; nothing else in the
// package needs reflection.
func decodeInput(input []byte, v any) error {
	err := json.Unmarshal(input, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return &Error{Code: CodeInvalidInput, Message: wrong.Field + ": a " + wrong.Value + " where " + wrong.Type.String() + " is needed"}
	}
	return &Error{Code: CodeInvalidInput, Message: err.Error()}
}

// Question is what the host asks a tool's Assess.
type Question struct {
	head  wire.AssessHead
	input wire.Raw
}

// Tool is the name of the tool that is asked.
func (q *Question) Tool() string { return q.head.Tool }

// Cwd is the session's working directory, an absolute path.
func (q *Question) Cwd() string { return q.head.Cwd }

// Input is the call's input, canonical JSON.
func (q *Question) Input() []byte { return q.input }

// Decode decodes the input into v by the rules of encoding/json.
func (q *Question) Decode(v any) error { return decodeInput(q.input, v) }

// Facts are what the host knows of the paths in the input; none are given while
// only traits are asked for.
func (q *Question) Facts() []Fact { return q.head.Facts }

// Config returns a configuration value as [Call.Config] does.
func (q *Question) Config(key string) (string, bool) { return configValue(q.head.Config, key) }

// EscapeLine writes a text so that a template of [Lines] shows it as it is.
func EscapeLine(text string) string {
	return strings.NewReplacer("{", "{{", "}", "}}", "[", "[[", "]", "]]").Replace(text)
}

// Yes and No point at booleans, for the fields of an [Assessment].
func Yes() *bool { return boolean(true) }

// No points at false; see [Yes].
func No() *bool { return boolean(false) }

func boolean(b bool) *bool { return &b }
