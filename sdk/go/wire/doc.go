// Package wire is the direct ABI, version 1, as a guest written in Go speaks
// it: frames, the heads of messages, and the arguments and answers of the
// host's capabilities.
//
// Its types are generated from the host's own, with JSON codecs that use no
// reflection: they are small and fast in a WebAssembly module, and TinyGo
// compiles them. Plugin authors need package toolquay only, which names what
// they use of this one.
package wire
