package runnertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	wg "github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins"
)

// handleState is how a guest gets the handle 1 into a state, or names another one.
type handleState struct {
	name string
	id   int32
	code func(f *handleFuncs) *wg.Code
	// freed says that wait and read of it violate the protocol, and never that cancel
	// does too.
	freed, never bool
	// breaks says that the answer breaks off.
	breaks bool
}

// handleStates are all that a handle can be in, by the words of package abi.
var handleStates = []handleState{
	{name: "zero", id: 0, code: nothing, freed: true, never: true},
	{name: "never given", id: 2, code: nothing, freed: true, never: true},
	{name: "far away", id: -1, code: nothing, freed: true, never: true},
	{name: "pending", id: 1, code: nothing},
	{name: "answered and unread", id: 1, code: (*handleFuncs).waited},
	{name: "partly read", id: 1, code: (*handleFuncs).begun},
	{name: "read to the end", id: 1, code: (*handleFuncs).drained, freed: true},
	{name: "broken off", id: 1, code: (*handleFuncs).drained, freed: true, breaks: true},
	{name: "cancelled while pending", id: 1, code: (*handleFuncs).cancelled, freed: true},
	{name: "cancelled once answered", id: 1, code: func(f *handleFuncs) *wg.Code { return f.waited().Append(f.cancelled()) }, freed: true},
	{name: "cancelled when partly read", id: 1, code: func(f *handleFuncs) *wg.Code { return f.begun().Append(f.cancelled()) }, freed: true},
	{name: "cancelled twice", id: 1, code: func(f *handleFuncs) *wg.Code { return f.cancelled().Append(f.cancelled()) }, freed: true},
}

// handleFuncs are the host's functions as a guest imports them.
type handleFuncs struct{ submit, wait, read, cancel uint32 }

func nothing(*handleFuncs) *wg.Code { return new(wg.Code) }

// Where the guest keeps the ids it waits for, what it reads, and its request.
const (
	idsAt, readAt, requestAt, resultAt = 16, 8192, 256, 1024
	handleRequest                      = "\x01\x00\x00\x00!\x00\x00\x00" + `{"capability":"test.a","args":{}}`
	handleResult                       = "\x01\x00\x00\x003\x00\x00\x00" + `{"content":[{"type":"text","source":[{"part":0}]}]}` +
		"\x02\x00\x00\x00\x02\x00\x00\x00ok"
)

func (f *handleFuncs) waiting(id int32) *wg.Code {
	return new(wg.Code).I32(idsAt).I32(id).Access(wg.I32Store, 2, 0).I32(idsAt).I32(1).Call(f.wait).Op(wg.Drop)
}

func (f *handleFuncs) waited() *wg.Code { return f.waiting(1) }

func (f *handleFuncs) begun() *wg.Code {
	return new(wg.Code).I32(1).I32(readAt).I32(1).Call(f.read).Op(wg.Drop)
}

func (f *handleFuncs) drained() *wg.Code {
	return new(wg.Code).Loop(wg.NoResult).I32(1).I32(readAt).I32(64).Call(f.read).I32(0).Op(wg.I32GtS).BrIf(0).End()
}

func (f *handleFuncs) cancelled() *wg.Code { return new(wg.Code).I32(1).Call(f.cancel) }

// Handles is the table of the direct ABI: every state of a handle, and what wait, read,
// cancel and a result do with it.
func Handles(t *testing.T, r plugins.Runner) {
	t.Helper()
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for _, state := range handleStates {
		for _, operation := range []string{"wait", "read", "cancel", "result"} {
			t.Run(state.name+", "+operation, func(t *testing.T) {
				in := Load(t, r, Module(abi.ABIDirect, "", state.module(operation)))
				_, err := in.Call(t.Context(), plugins.Invocation{
					Tool: &abi.Tool{Name: ToolName}, ID: "1", Cwd: "/", Input: []byte("{}"), Capability: state.answer,
				})
				switch broken := state.never || state.freed && operation != "cancel"; {
				case broken:
					WantCode(t, err, abi.CodeProtocol, "capability call")
				case err != nil:
					t.Errorf("it fails: %v", err)
				}
			})
		}
	}
}

// answer answers the guest's one request.
func (s *handleState) answer(context.Context, abi.Request) (abi.Answer, error) {
	body := io.Reader(strings.NewReader("body"))
	if s.breaks {
		body = io.MultiReader(body, &endingWith{errors.New("it breaks off")})
	}
	return abi.Answer{OK: struct{}{}, Body: io.NopCloser(body), Size: -1}, nil
}

// endingWith fails.
type endingWith struct{ err error }

func (e *endingWith) Read([]byte) (int, error) { return 0, e.err }

// module is a guest that makes one capability call, gets its handle into the state, and
// names it in an operation.
func (s *handleState) module(operation string) []byte {
	var m wg.Module
	i32 := func(n int) []wg.ValType { return []wg.ValType{wg.I32, wg.I32, wg.I32}[:n] }
	f := &handleFuncs{
		submit: m.ImportFunc(abi.ImportModule, abi.ImportSubmit, wg.Sig(i32(2), i32(1))),
		wait:   m.ImportFunc(abi.ImportModule, abi.ImportWait, wg.Sig(i32(2), []wg.ValType{wg.I64})),
		read:   m.ImportFunc(abi.ImportModule, abi.ImportRead, wg.Sig(i32(3), i32(1))),
		cancel: m.ImportFunc(abi.ImportModule, abi.ImportCancel, wg.Sig(i32(1), nil)),
	}
	code := new(wg.Code).I32(requestAt).I32(int32(len(handleRequest))).Call(f.submit).Op(wg.Drop).Append(s.code(f))
	result := handleResult
	switch operation {
	case "wait":
		code.Append(f.waiting(s.id))
	case "read":
		code.I32(s.id).I32(readAt).I32(8).Call(f.read).Op(wg.Drop)
	case "cancel":
		code.I32(s.id).Call(f.cancel)
	case "result":
		head := fmt.Sprintf(`{"content":[{"type":"text","source":[{"handle":%d}]}]}`, uint32(s.id))
		result = "\x01\x00\x00\x00" + string([]byte{byte(len(head)), 0, 0, 0}) + head
	}
	m.Export("memory", wg.Memory, m.Memory(wg.AtLeast(2)))
	m.Data(new(wg.Code).I32(requestAt), []byte(handleRequest))
	m.Data(new(wg.Code).I32(resultAt), []byte(result))
	m.Export("alloc", wg.Function, m.Func(wg.Sig(i32(1), i32(1)), new(wg.Code).I32(4096)))
	code.I64(resultAt<<32 | int64(len(result)))
	m.Export("call", wg.Function, m.Func(wg.Sig(i32(2), []wg.ValType{wg.I64}), code))
	return m.Bytes()
}
