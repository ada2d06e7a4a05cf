package hostile_test

import (
	"context"
	"io"
	"time"

	"github.com/toolquay/toolquay/abi"
	wg "github.com/toolquay/toolquay/internal/test/wasmgen"
)

// asking makes the host wait, or answer without end.
func asking() []fixture {
	cancelled := func(f fixture) fixture {
		f.deadline, f.limit = standardTime, ampleTime
		f.code, f.says = abi.CodeTimeout, []string{"time limit"}
		return f
	}
	return []fixture{
		cancelled(fixture{name: "blocking in a capability", build: ask, answer: untilDone}),
		cancelled(fixture{name: "blocking in a capability, ten at once", build: ask, answer: untilDone, calls: 10}),
		cancelled(fixture{name: "blocking in a capability that does not listen", build: ask, answer: deaf}),
		{
			name: "endless capability calls", build: askForEver, asks: 1000,
			code: abi.CodeLimit, says: []string{"capability"},
		},
		{name: "capability that answers 1 GiB", build: ask, answer: zerosGiB, or: abi.CodeLimit},
		{name: "capability that answers 1 GiB and does not say so", build: ask, answer: zerosUnknown, or: abi.CodeLimit},
		{
			name: "answer of 1 GiB outside memory", only: abi.ABIDirect, build: answerOf(1 << 30),
			code: abi.CodeLimit, says: []string{"output", "1073741824"},
		},
		{
			name: "answer over the limit", only: abi.ABIDirect, build: answerOf(cap64*page - answerAt),
			code: abi.CodeLimit, says: []string{"output"},
		},
	}
}

// zeros is a body of that many bytes.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.left)
	clear(p[:n])
	z.left -= n
	return int(n), nil
}

func (z *zeros) Close() error { return nil }

func zerosGiB(context.Context) (abi.Answer, error) {
	return abi.Answer{OK: struct{}{}, Body: &zeros{gib}, Size: gib}, nil
}

// zerosUnknown does not say how many bytes it has.
func zerosUnknown(context.Context) (abi.Answer, error) {
	return abi.Answer{OK: struct{}{}, Body: &zeros{gib}, Size: -1}, nil
}

func ask(g *guest) { g.main.Append(g.capability()()) }

func askForEver(g *guest) { g.forever(g.capability()()) }

func untilDone(ctx context.Context) (abi.Answer, error) {
	<-ctx.Done()
	return abi.Answer{}, context.Cause(ctx)
}

// deaf breaks the contract of capabilities: it does not see that it is over.
func deaf(context.Context) (abi.Answer, error) {
	time.Sleep(time.Second)
	return abi.Answer{OK: struct{}{}}, nil
}

func answerOf(n int32) func(*guest) {
	return func(g *guest) {
		g.memory = wg.AtLeast(cap64)
		g.answerLen = n
	}
}

// flooding calls the host without end, or with more than it can chew.
func flooding() []fixture {
	i32, i64 := wg.I32, wg.I64
	return append(floodingKernel(), []fixture{
		outOfTime(fixture{name: "endless progress", only: abi.ABIDirect, build: progress}),
		outOfTime(fixture{name: "endless clock", build: func(g *guest) {
			clock := g.wasi("clock_time_get", i32, i64, i32)
			g.forever(new(wg.Code).I32(1).I64(1).I32(heap).Call(clock).Op(wg.Drop))
		}}),
		outOfTime(fixture{name: "endless yielding", build: func(g *guest) {
			yield := g.wasi("sched_yield")
			g.forever(new(wg.Code).Call(yield).Op(wg.Drop))
		}}),
		outOfTime(fixture{name: "random numbers over all memory", build: func(g *guest) {
			g.memory = wg.AtLeast(cap64)
			random := g.wasi("random_get", i32, i32)
			g.forever(new(wg.Code).I32(heap).I32(room).Call(random).Op(wg.Drop))
		}}),
		outOfTime(fixture{name: "fd_write of 2^27 vectors", build: write(1<<27, 0)}),
		outOfTime(fixture{name: "fd_write of 8 million empty vectors", build: write(room/8, 0)}),
		outOfTime(fixture{name: "fd_write of 8 million vectors of 16 MB", build: write(room/8, 1)}),
		outOfTime(fixture{name: "fd_write of 16 million lines", build: writeLines}),
		outOfTime(fixture{name: "fd_read without end", build: func(g *guest) {
			g.memory = wg.AtLeast(cap64)
			fdRead := g.wasi("fd_read", i32, i32, i32, i32)
			g.forever(new(wg.Code).I32(0).I32(heap).I32(room / 8).I32(256).Call(fdRead).Op(wg.Drop))
		}}),
		outOfTime(fixture{name: "poll_oneoff for an hour", build: poll(1)}),
		outOfTime(fixture{name: "poll_oneoff for 1 million hours", build: poll(million)}),
	}...)
}

// floodingKernel does what Extism modules can: their blocks, variables and logs
// are kept for them elsewhere.
func floodingKernel() []fixture {
	list := []fixture{
		{name: "blocks without end", build: kernelFlood("", 0, func(alloc, _ uint32) *wg.Code {
			return new(wg.Code).I64(1 << 16).Call(alloc).Op(wg.Drop)
		})},
		{name: "endless log", build: kernelFlood("log_info", 1, func(_, log uint32) *wg.Code {
			return new(wg.Code).GlobalGet(0).Call(log)
		})},
		{name: "the same variable without end", build: kernelFlood("var_set", 2, func(_, set uint32) *wg.Code {
			return new(wg.Code).GlobalGet(0).GlobalGet(0).Call(set)
		})},
		{name: "output of 1 GiB", build: kernelFlood("output_set", 2, func(_, set uint32) *wg.Code {
			return new(wg.Code).GlobalGet(0).I64(gib).Call(set).Op(wg.Return)
		})},
	}
	for i := range list {
		list[i].only = abi.ABIExtism
		list[i] = outOfTime(list[i])
	}
	// Extism reads no more of an output than its block has.
	last := &list[len(list)-1]
	last.code, last.says, last.or = "", nil, abi.CodeLimit
	return list
}

// kernelFlood imports a function of Extism's with so many parameters, makes a
// block of 100 bytes, whose address is global 0, and repeats what use says.
func kernelFlood(name string, params int, use func(alloc, imported uint32) *wg.Code) func(*guest) {
	return func(g *guest) {
		const module = "extism:host/env"
		alloc := g.ImportFunc(module, "alloc", wg.Sig(i64s(1), i64s(1)))
		imported := alloc
		if name != "" {
			imported = g.ImportFunc(module, name, wg.Sig(i64s(params), nil))
		}
		block := g.Global(wg.I64, true, new(wg.Code).I64(0))
		g.main.I64(100).Call(alloc).GlobalSet(block)
		g.forever(use(alloc, imported))
	}
}

func progress(g *guest) {
	const message = "\x01\x00\x00\x00*\x00\x00\x00" + `{"log":{"level":"info","message":"again"}}`
	report := g.ImportFunc(abi.ImportModule, "progress", wg.Sig(i32s(2), nil))
	g.Data(new(wg.Code).I32(1024), []byte(message))
	g.forever(new(wg.Code).I32(1024).I32(int32(len(message))).Call(report))
}

// write writes n vectors to standard output, without end. Memory above the heap
// is full of one byte, and so are the vectors that lie there.
func write(n, b int32) func(*guest) {
	return func(g *guest) {
		g.memory = wg.AtLeast(cap64)
		fdWrite := g.wasi("fd_write", i32s(4)...)
		g.main.I32(heap).I32(b).I32(room).MemoryFill()
		g.forever(new(wg.Code).I32(1).I32(heap).I32(n).I32(256).Call(fdWrite).Op(wg.Drop))
	}
}

// writeLines writes memory full of lines of one letter.
func writeLines(g *guest) {
	const vector, written = 128, 256
	g.memory = wg.AtLeast(cap64)
	fdWrite := g.wasi("fd_write", i32s(4)...)
	const size = 32 << 20
	g.Data(new(wg.Code).I32(heap), []byte("x\n"))
	for n := int32(2); n < size; n *= 2 {
		g.main.I32(heap + n).I32(heap).I32(n).MemoryCopy()
	}
	g.main.I32(vector).I32(heap).Access(wg.I32Store, 2, 0).I32(vector).I32(size).Access(wg.I32Store, 2, 4)
	g.forever(new(wg.Code).I32(1).I32(vector).I32(1).I32(written).Call(fdWrite).Op(wg.Drop))
}

// poll waits for n clocks, 48 bytes each: a tag at 8, the clock's id at 16, and
// the nanoseconds at 24.
func poll(n int32) func(*guest) {
	return func(g *guest) {
		const subscription, event, hour = 48, 32, int64(3600e9)
		g.memory = wg.AtLeast(cap64)
		g.main.I32(heap).I32(0).I32(room).MemoryFill()
		pollOneoff := g.wasi("poll_oneoff", i32s(4)...)
		at := func(offset int32) *wg.Code {
			return new(wg.Code).LocalGet(0).I32(subscription).Op(wg.I32Mul).I32(heap + offset).Op(wg.I32Add)
		}
		g.locals = []wg.Locals{{Count: 1, Type: wg.I32}}
		g.main.Loop(wg.NoResult).
			Append(at(24)).I64(hour).Access(wg.I64Store, 3, 0).
			LocalGet(0).I32(1).Op(wg.I32Add).LocalTee(0).I32(min(n, room/(subscription+event))).Op(wg.I32LtU).BrIf(0).
			End()
		events := int32(room - room/(subscription+event)*event)
		g.forever(new(wg.Code).I32(heap).I32(heap + events&^7).I32(n).I32(256).Call(pollOneoff).Op(wg.Drop))
	}
}

// collecting has garbage collected while ten guests are under way: none of them
// has a point at which it could be stopped but those that the pre-pass wrote.
func collecting() []fixture {
	list := []fixture{
		outOfTime(fixture{name: "collecting, endless loops", build: spin}),
		outOfTime(fixture{name: "collecting, large bodies", build: spinLarge}),
		outOfTime(fixture{name: "collecting, call trees", build: callTree}),
		outOfTime(fixture{name: "collecting, hoarded fuel", build: hoard, limit: time.Second}),
		outOfTime(fixture{name: "collecting, memory.fill", build: fillLine}),
		outOfTime(fixture{name: "collecting, memory.copy", build: copyLine}),
		outOfTime(fixture{name: "collecting, table.fill", build: tableFillLine}),
		outOfTime(fixture{name: "collecting, 1 GiB copied", build: copyGiB, memory: 1 << 30}),
	}
	for i := range list {
		list[i].calls, list[i].collect = 10, true
	}
	list[len(list)-1].calls = 1
	return list
}
