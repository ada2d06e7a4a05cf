// Package engine is what the in-process runners of plugins share: one wazero
// runtime with its compile cache, modules that are rewritten before they are
// compiled, guests that can be stopped, and pools of instances whose memory is
// clean for every call.
//
// A runner compiles a module with [Engine.Compile], says with a [Plan] what its
// instances are made of, and takes them from a [Pool]:
//
//	in, err := pool.Take(ctx)      // clean memory
//	run := &engine.Run{}           // the context that the guest runs under
//	run.Begin(ctx, limits.Time)
//	err = in.Host.fn.CallWithStack(run, stack)
//	pool.Put(in, err == nil)       // put back, or made anew
//
// # How a guest is stopped
//
// No module runs as it came: package prepass has it pay for what it does out of
// a counter, and call the host each time that is used up, every millisecond or
// so. There [Run] is asked whether the call is over, and Go's scheduler gets a
// point at which it may stop the thread. The host functions of this package ask
// as well, so that neither long arguments nor many calls stretch a limit.
//
// # How memory is kept clean
//
// Every call gets memory, globals and WASI state as they were after the start of
// an instance. Where the start took nothing from outside, neither time nor
// random numbers, a used instance that is put back to that point cannot be told
// from a new one, and putting it back is a hundred times cheaper. See [Policy].
//
// Memory is cleared, copied and given back in pieces, between which others run,
// and off the path of calls where it is much: at most half of the processors are
// busy with it. Memories of more than 8 MiB are never copied but mapped from a
// snapshot; what cannot be put back so, or grew far, or left a deep native stack
// ([StackOf]), is thrown away. All that is kept between calls counts towards
// Options.IdleMemory.
//
// # How things end
//
// A running guest's memory is never taken away. Pools and the engine may be closed
// while instances are out: these go on undisturbed, are freed when they are
// handed back, and the last of them frees the runtime.
package engine
