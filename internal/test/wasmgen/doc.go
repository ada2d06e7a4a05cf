// Package wasmgen makes WebAssembly modules for tests: by hand, with a [Module]
// and the [Code] of its functions, and at random, with [Random].
//
// # By hand
//
// A [Module] is filled in any order, imports before definitions, and encoded by
// [Module.Bytes]. It holds what is put in: nothing is checked, so that hostile
// and broken modules are as easy to make as good ones. Ten thousand nested loops
// in an exported function are
//
//	var m wasmgen.Module
//	var c wasmgen.Code
//	for range 10_000 {
//		c.Loop(wasmgen.NoResult)
//	}
//	for range 10_000 {
//		c.End()
//	}
//	f := m.Func(wasmgen.Sig(nil, nil), &c)
//	m.Export("run", wasmgen.Function, f)
//	binary := m.Bytes()
//
// [Module.Func] adds the end of the body itself. Functions that call each other
// are declared first ([Module.Declare]) and defined later ([Module.Define]).
// Instructions without immediates are written with [Code.Op]; those with, by
// methods named after them. What has no method is written with [Code.Op] followed
// by [Code.U32] or [Code.Raw]; sections that are no module's, with [Module.Raw].
//
// # At random
//
// [Random] makes a valid module of any bytes, the same one of the same bytes:
// fit for fuzzing, where the bytes are the fuzzer's, and for tests over seeds.
package wasmgen
