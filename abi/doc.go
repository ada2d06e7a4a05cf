// Package abi is the contract between the Toolquay host and its guests, as
// plain data: frames, tool calls and their results, content blocks, traits,
// the manifest, capability requests and answers, and error codes.
//
// It imports nothing but the standard library and knows no runtime. The Go and
// Rust SDKs speak the same bytes; the golden vectors under testdata hold all
// three to it.
//
// # The direct ABI, version 1
//
// A guest imports from one module, [ImportModule] ("toolquay:host/1"), whose
// name carries the version, so that it can be read before anything runs:
//
//	submit(ptr i32, len i32) -> id i32            start a capability call
//	wait(ids i32, count i32) -> i64               block until one is answered
//	read(id i32, ptr i32, cap i32) -> n i32       take bytes of an answer
//	cancel(id i32)                                give a call up, free its handle
//	progress(ptr i32, len i32)                    report progress, or log
//
// and exports:
//
//	memory
//	alloc(len i32) -> ptr i32                     room for a message; never 0
//	call(ptr i32, len i32) -> i64                 run a tool
//	assess(ptr i32, len i32) -> i64               answer per-call questions (optional)
//	_initialize()                                 run once after instantiation (optional)
//
// Every message is a frame ([Frame]): an 8-byte header, a small JSON head, and
// any number of raw parts, so that bulk passes through neither JSON nor base64.
//
// Ownership: the host asks alloc for room and writes the message there; from
// the moment call or assess is entered that memory is the guest's. The message
// a guest returns is named by an i64, pointer in the high half and length in
// the low half, and must stay untouched until the guest's next export is
// entered. Memory a guest passes to an import stays the guest's and is read
// before the import returns.
//
// Capability calls are asynchronous: submit returns an id (1 or more) at once,
// and never fails for reasons other than a broken message; a refusal is the
// answer. wait takes count (1 to [MaxWait]) ids as consecutive little-endian
// u32 and returns the index of one that is answered in its low half and, in its
// high half, how many bytes of that answer can be read without waiting (capped
// at 2^31-1). read copies up to cap bytes of the answer, in order; it waits
// where it must, returns 0 at the end and -1 where the answer broke off. A
// handle is freed by reading it to its end (0 or -1), by cancel, by being named
// in the result, or with the call. After that wait, read and a result that name it
// violate the protocol, and cancel does nothing: an SDK may cancel whatever it drops.
//
// What violates the protocol (a pointer outside memory, an id never given, a
// malformed frame) is a trap: the call ends with [CodeProtocol].
package abi
