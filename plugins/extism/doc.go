// Package extism runs Extism modules as plugins: those whose manifest says
// abi = "extism". It is opt-in, so that the core stays small:
//
//	runner := extism.New(extism.Options{CacheDir: dir})
//
// A module is compiled once, with extism/go-sdk, and every call gets an
// instance of its own: clean memory, clean variables, a fresh kernel. A tool is
// an export without parameters, named by the tool's export key or its name; its
// input is the call's JSON, its output the text of the result. An error that
// the guest sets, or a return value other than 0, is a failed result with that
// text.
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
//   - Log lines. They, and what it writes to standard output and error, go to
//     the call's reports, bounded by the limit log_lines.
//
//   - WASI without files, arguments or environment, with the real time and real
//     random numbers: the engine's defaults are the year 2022 and a fixed seed.
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
// # What it is never given
//
//   - The SDK's http_request: it answers to no gate, follows redirects anywhere
//     and stops for no one. Calling it ends the call with a clear error.
//   - The SDK's allowed_paths, or any preopened directory: "../" leads out of
//     them.
//   - Memory of an earlier call, or of another session; instance = "kept" is
//     refused.
//
// # How it is held
//
// Extism keeps a guest's blocks in a kernel with a memory of its own. The limit
// memory bounds each of the two, the kernel's to no less than the 1 MiB that it
// needs to start.
//
// The engine checks for cancellation at function entries and loop heads, armed
// here for every module; the SDK arms it only for manifests with a timeout. The
// limit time counts the guest's own running time, start functions included.
//
// A guest that exits in the middle of its call is a failure whatever its code:
// the SDK takes proc_exit(0) for success and returns the half of the output
// that was written. Panics, which are how the SDK's host functions fail, end
// the call and nothing else.
//
// Two things the SDK keeps for a whole process. Its log level: New sets it to
// "info", without which no guest's log line arrives. And the environment
// variable EXTISM_ENABLE_WASI_OUTPUT: where it is set, standard output and
// error of guests go to the process's own, not to the reports.
package extism
