// Package extism runs Extism modules as plugins: those whose manifest says
// abi = "extism". It is opt-in, so that the core stays small. A program whose worker
// processes run Extism plugins too gives New to host.Main:
//
//	host.Main(extism.New)
//
// and sets the option Plugins.Workers of package host. Without workers, the runner is an
// option of the host:
//
//	runner := extism.New(plugins.RunnerOptions{CacheDir: dir})
//
// A tool is an export without parameters, named by the tool's export key or its
// name. Its input is the call's JSON object, or with input = "NAME" the value of that
// field alone. Its output is the text of the result; with output = "json" it is the
// structured answer too, with output = "mcp" a CallToolResult with content, isError
// and structuredContent, and what does not fit is a fault of the plugin. An error that
// the guest sets, or a return value other than 0, is a failed result with that text. An export _start is a WASI command: that it exits with code 0
// is how it returns.
//
// # How it works
//
// Extism keeps a plugin's memory blocks, input, output and error in a small
// module, the kernel (folder kernel). Every instance of a plugin has a kernel of
// its own, and its imports from extism:host/env lead straight to the kernel's
// exports: what costs extism/go-sdk a call out of the sandbox, a look-up and a
// call into another one is a call within Wasm. The few functions that are not the
// kernel's, such as config_get, are renamed by the pre-pass and lead here. Input
// and answers are written into the kernel's memory where they will be, output is
// read where it is.
//
// A plugin behaves as it does in extism/go-sdk, which the tests take as their
// reference. Where go-sdk and the kernel disagree the kernel is followed: 64 bits
// that a guest loads or stores outside of the kernel's memory, or behind its
// input, are 0 and nothing, not the end of its call. The kernel begins with one
// page of memory, of 16, which is all that it reckons with.
//
// # What a guest is given
//
//   - Its input, output, error and memory blocks, as Extism defines them.
//
//   - The plugin's configuration, by config_get: strings as they are, other
//     values as JSON.
//
//   - Variables, of [MaxVars] bytes together, for the length of one call.
//
//   - Log lines of the level info and above. They, and what it writes to
//     standard output and error, go to the call's reports, bounded by the limit
//     log_lines.
//
//   - WASI without files, arguments or environment, with the real time and real
//     random numbers.
//
//   - The host's capabilities, behind the same gate as any plugin's, by one
//     function that the guest imports:
//
//     extism:host/user  toolquay_capability(request i64) -> answer i64
//
// It takes the offset of a memory block that holds a request and returns that
// of one that holds the answer, both messages of package abi. The answer's body
// comes whole and is bounded by [MaxAnswer]; larger files are read in ranges.
// The request's block stays the guest's to free, and the answer's becomes it.
//
// All of an output has been in the guest's memory, and is held in the host's: it is
// bounded by the limit output, and never spilled (see [plugins.Invocation]).
//
// # What it is never given
//
//   - Extism's http_request: it answers to no gate. Calling it ends the call with
//     a clear error.
//   - Extism's allowed_paths, or any preopened directory.
//   - Plugins of several modules.
//   - Memory of an earlier call, or of another session: memory and kernel are
//     those of a new instance in every call, whether they are, or were put back to
//     it. instance = "kept" is refused; instance = "reset" puts a guest back even
//     where its start drew random numbers.
//
// # How it is held
//
// Module and kernel both go through the pre-pass: each is bounded, pays for what
// it does and can be stopped. The limit memory bounds the memory of each of the
// two, the limit time the guest's own running time. What the kernel's memory says
// is the guest's word, and is read as such.
//
// A guest's runtime is initialised as go-sdk does it, by hs_init, _initialize or
// __wasm_call_ctors, but ahead of its call, unless it looks at what only a call
// has: then in every call.
//
// A guest that exits in the middle of its call is a failure whatever its code:
// go-sdk takes proc_exit(0) for success and returns the half of the output that
// was written.
package extism
