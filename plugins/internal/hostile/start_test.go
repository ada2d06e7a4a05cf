package hostile_test

import (
	"github.com/toolquay/toolquay/abi"
	wg "github.com/toolquay/toolquay/internal/test/wasmgen"
)

// starting does its harm before anybody calls it, or where a call begins.
func starting() []fixture {
	return []fixture{
		outOfTime(fixture{name: "endless start function", build: startWith(loop())}),
		outOfTime(fixture{name: "ten endless start functions", build: startWith(loop()), calls: 10}),
		outOfTime(fixture{name: "endless _initialize", build: initializeWith(loop())}),
		outOfTime(fixture{name: "straight line in the start function", build: startFilling}),
		outOfTime(fixture{name: "endless alloc", only: abi.ABIDirect, build: allocWith(loop().I32(0))}),
		{name: "start function to the bottom of the stack", build: startRecursing, code: abi.CodeTrap, says: []string{"stack"}},
	}
}

func loop() *wg.Code { return new(wg.Code).Loop(wg.NoResult).Br(0).End() }

func startWith(c *wg.Code) func(*guest) {
	return func(g *guest) { g.Start(g.Func(none, c)) }
}

func startFilling(g *guest) {
	var c wg.Code
	for range 20_000 {
		c.Append(fill(room))
	}
	g.memory = wg.AtLeast(cap64)
	g.Start(g.Func(none, &c))
}

func startRecursing(g *guest) {
	f := g.Declare(none)
	g.Define(f, new(wg.Code).Call(f).Op(wg.Nop))
	g.Start(f)
}

func initializeWith(c *wg.Code) func(*guest) {
	return func(g *guest) { g.Export("_initialize", wg.Function, g.Func(none, c)) }
}

func allocWith(c *wg.Code) func(*guest) {
	return func(g *guest) { g.alloc = c }
}

// trapping would go on after a trap.
func trapping() []fixture {
	return []fixture{
		refused(fixture{name: "catching traps, as exceptions were", build: catchLegacy}, "exception"),
		refused(fixture{name: "catching traps, as exceptions are", build: catchTable}, "exception"),
		{
			name: "going on after a trap", only: abi.ABIDirect, build: trapOnce, kept: true, calls: 3,
			code: abi.CodeTrap, says: []string{"unreachable"},
		},
		{
			name: "going on after its time", only: abi.ABIDirect, build: spinOnce, kept: true, calls: 3,
			code: abi.CodeTimeout, says: []string{"limit time"},
		},
	}
}

// tags adds a section of one exception, after the memories.
func (g *guest) tags() {
	const sectionMemory, sectionTag = 5, 13
	g.Raw(sectionMemory, sectionTag, []byte{1, 0, byte(g.Type(none))})
}

func catchLegacy(g *guest) {
	const try, catchAll = 0x06, 0x19
	g.tags()
	g.forever(new(wg.Code).Raw(try, 0x40).Op(wg.Unreachable).Raw(catchAll).End())
}

func catchTable(g *guest) {
	const tryTable, catchAll = 0x1f, 0x02
	g.tags()
	g.forever(new(wg.Code).Raw(tryTable, 0x40, 1, catchAll, 0).Op(wg.Unreachable).End())
}

// once does c in the first call an instance sees, and answers in the next.
func once(g *guest, c *wg.Code) {
	called := g.Global(wg.I32, true, new(wg.Code).I32(0))
	g.main.GlobalGet(called).If(wg.NoResult).Op(wg.Return).End().I32(1).GlobalSet(called).Append(c)
}

func trapOnce(g *guest) { once(g, new(wg.Code).Op(wg.Unreachable)) }

func spinOnce(g *guest) { once(g, loop()) }
