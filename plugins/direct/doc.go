// Package direct runs plugins of the direct ABI (see package abi) on wazero, in
// this process and in one shared runtime.
//
// A module is rewritten and compiled once, lazily, through a cache on disk. Each
// call gets an instance with clean memory: a new one, made ahead of time off the
// call's path, or a used one that was put back to how it was after its start
// where that cannot be told from a new one. Instances share nothing but compiled
// code.
//
// What a guest can reach is what this package links: the five imports of
// abi.ImportModule and, for guests made by toolchains that need it, WASI
// preview 1 without files, sockets, arguments or environment. Time and random
// numbers are real.
//
// A capability call is done by the goroutine that waits for it, if the guest
// waits for it at once; if it does anything else first the call runs beside it,
// a millisecond after it was submitted at the latest. Capabilities have to return
// soon after their context ends: a guest's call cannot end before.
//
// A text of a result that is made of capabilities' answers never enters the guest,
// and where it is too long to hold it goes to the call's spill piece by piece (see
// [abi.ResultDecoder]).
package direct
