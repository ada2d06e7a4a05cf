package hostile_test

import (
	"github.com/toolquay/toolquay/abi"
	wg "github.com/toolquay/toolquay/internal/test/wasmgen"
)

const (
	page = 64 << 10
	// heap is where fixtures may write: below it lie the answer and the room for
	// messages.
	heap = page
	// cap64 is a memory of just the limit that fixtures run under, in pages, and
	// room is what of it lies above heap, in bytes.
	cap64 = 1024
	room  = (cap64 - 1) * page
	// answerAt is where the answer "ok" lies and where alloc makes room.
	answerAt, allocAt = 64, 4096
)

var (
	none = wg.Sig(nil, nil)
	// okMessage is a result of the direct ABI.
	okMessage = "\x01\x00\x00\x003\x00\x00\x00" + `{"content":[{"type":"text","source":[{"part":0}]}]}` +
		"\x02\x00\x00\x00\x02\x00\x00\x00ok"
)

// guest is a module under construction that has, beside what a fixture puts in,
// all that its ABI asks of it. Without more it is a plugin that answers.
type guest struct {
	wg.Module
	abi    string
	memory wg.Limits
	// main is what a call does before it answers.
	main   wg.Code
	locals []wg.Locals
	// answerLen is the length of the answer; 0 is that of okMessage.
	answerLen int32
	// alloc replaces what makes room for messages.
	alloc *wg.Code
	// plain leaves the exports and the answer out.
	plain bool
}

// bytes builds the module of a fixture for an ABI.
func (f *fixture) bytes(abiName string) []byte {
	g := &guest{abi: abiName, memory: wg.AtLeast(2)}
	if f.build != nil {
		f.build(g)
	}
	if !g.plain {
		g.finish()
	}
	return g.Bytes()
}

func (g *guest) finish() {
	memory := g.Memory(g.memory)
	g.Export("memory", wg.Memory, memory)
	main := g.Func(none, &g.main, g.locals...)
	if g.abi == abi.ABIExtism {
		call := g.Func(wg.Sig(nil, i32s(1)), new(wg.Code).Call(main).I32(0))
		g.Export(toolName, wg.Function, call)
		return
	}
	if g.answerLen == 0 {
		g.answerLen = int32(len(okMessage))
		g.Data(new(wg.Code).I32(answerAt), []byte(okMessage))
	}
	if g.alloc == nil {
		g.alloc = new(wg.Code).I32(allocAt)
	}
	g.Export("alloc", wg.Function, g.Func(wg.Sig(i32s(1), i32s(1)), g.alloc))
	answer := new(wg.Code).Call(main).I64(answerAt<<32 | int64(g.answerLen))
	g.Export("call", wg.Function, g.Func(wg.Sig(i32s(2), i64s(1)), answer))
}

// capability is the import that asks the host for something, and how to call it
// so that the guest waits for the answer.
func (g *guest) capability() func() *wg.Code {
	request := "\x01\x00\x00\x00!\x00\x00\x00" + `{"capability":"test.a","args":{}}`
	if g.abi == abi.ABIExtism {
		alloc := g.ImportFunc("extism:host/env", "alloc", wg.Sig(i64s(1), i64s(1)))
		store := g.ImportFunc("extism:host/env", "store_u8", wg.Sig([]wg.ValType{wg.I64, wg.I32}, nil))
		ask := g.ImportFunc("extism:host/user", "toolquay_capability", wg.Sig(i64s(1), i64s(1)))
		block := g.Global(wg.I64, true, new(wg.Code).I64(0))
		return func() *wg.Code {
			c := new(wg.Code).I64(int64(len(request))).Call(alloc).GlobalSet(block)
			for i, b := range []byte(request) {
				c.GlobalGet(block).I64(int64(i)).Op(wg.I64Add).I32(int32(b)).Call(store)
			}
			return c.GlobalGet(block).Call(ask).Op(wg.Drop)
		}
	}
	submit := g.ImportFunc(abi.ImportModule, "submit", wg.Sig(i32s(2), i32s(1)))
	wait := g.ImportFunc(abi.ImportModule, "wait", wg.Sig(i32s(2), i64s(1)))
	const requestAt, idAt = 1024, 2048
	g.Data(new(wg.Code).I32(requestAt), []byte(request))
	return func() *wg.Code {
		return new(wg.Code).
			I32(idAt).I32(requestAt).I32(int32(len(request))).Call(submit).Access(wg.I32Store, 2, 0).
			I32(idAt).I32(1).Call(wait).Op(wg.Drop)
	}
}

// wasi imports a function of WASI that returns an error number.
func (g *guest) wasi(name string, params ...wg.ValType) uint32 {
	return g.ImportFunc("wasi_snapshot_preview1", name, wg.Sig(params, i32s(1)))
}

// forever repeats code without end.
func (g *guest) forever(c *wg.Code) { g.main.Loop(wg.NoResult).Append(c).Br(0).End() }

// repeat writes code out n times, without a loop.
func (g *guest) repeat(n int, c *wg.Code) {
	for range n {
		g.main.Append(c)
	}
}

// spread writes code out n times, without a loop, in functions that are called one
// after the other: a single one with so many bulk operations on tables or segments
// would be refused.
func (g *guest) spread(n int, c *wg.Code) {
	const each = 400
	for ; n > 0; n -= each {
		var line wg.Code
		for range min(n, each) {
			line.Append(c)
		}
		g.main.Call(g.Func(none, &line))
	}
}

func i32s(n int) []wg.ValType { return many(n, wg.I32) }

func i64s(n int) []wg.ValType { return many(n, wg.I64) }

func many(n int, t wg.ValType) []wg.ValType {
	list := make([]wg.ValType, n)
	for i := range list {
		list[i] = t
	}
	return list
}
