// Package direct runs plugins of the direct ABI (see package abi) on wazero, in
// this process and in one shared runtime.
//
// A module is compiled once, lazily, through a compile cache on disk. Each call
// gets an instance of its own, made ahead of time off the call's path, and
// thrown away after it, so that memory is clean for every call. Instances share
// nothing but compiled code.
//
// What a guest can reach is what this package links: the five imports of
// abi.ImportModule and, for guests made by toolchains that need it, WASI
// preview 1 without files, sockets, arguments or environment. A clock and
// random numbers are real.
//
// wazero is asked to check for cancellation ([interruptible]). Without that, or
// fuel, a guest that spins would hold up the whole process at the next garbage
// collection: guest code has no preemption point.
package direct
