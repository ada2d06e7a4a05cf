// Package worker does in child processes what a host should not do in its own:
// compile the modules of strangers, and run plugins that ask for a process of
// their own (isolation = "process").
//
// A compiler that was sent a hostile module can neither be interrupted nor told
// to use less memory, and a sandbox that is broken out of is the process it is
// in. A child can be ended at any moment, is bound by limits of the operating
// system, and has nothing that is worth breaking out for: an empty environment,
// no files but its three pipes, and on Linux no system calls beyond what a
// running guest needs.
//
// # What confines a child
//
//   - Limits of memory, files and, for compiling, processor time: Linux and macOS.
//     A child that cannot be bound does not start to work.
//   - A filter of system calls, seccomp: Linux on amd64 and arm64. There a plugin is
//     not run without it, [abi.CodeUnsupported] says what is missing: whoever asked
//     for isolation = "process" did not ask for less. On other systems there is
//     none, and a process with limits is what isolation means; the log says so.
//     Compiling does without where it must: its process is there for the limits.
//   - A fence for files, Landlock: Linux from 5.19 on, in programs without cgo. It
//     counts while a module is compiled or loaded, when the filter lets the compile
//     cache be used: no other files are in reach then. Without it, all of the user's
//     are, until the module is loaded; processes and sockets cannot be made then
//     either.
//
// [Confinement] says which of them this machine has.
//
// Code that is compiled in one child is never another module's: a host takes it
// under the module's own name only, and every isolated plugin has a cache directory
// of its own. It does run in the process that asked for it, though: who trusts no
// compiler wants the plugin isolated, not only compiled elsewhere.
//
// # Opting in
//
// In a program that embeds package host, host.Main calls [Main], and the option
// Plugins.Workers does the rest.
//
// A child is a program that calls [Main] first thing. Nothing is started unless
// somebody says which program that is, in [Options.Command]: the command
// toolquay, which is always fit for it, or the embedding program itself:
//
//	func main() {
//		worker.Main() // returns, unless this process was started as a worker
//		command, err := worker.Self()
//		...
//	}
//
// A program that was started as a worker and does not call Main starts no
// further ones, so that a mistake here ends with an error and not with a machine
// full of processes.
//
// # What passes between host and worker
//
// Messages over two pipes, each a header of 16 bytes and a payload, most of them
// frames of package abi: see wire.go. Calls are told apart by number and run side
// by side. The bodies of capabilities' answers flow piece by piece, each against
// a window of its own, so that one of 10 GB crosses in constant memory and one
// that nobody reads stops no other. So do, the other way, texts of a result that are
// too long to hold: the host writes each where the call says, on a goroutine of its
// own, and the worker is never more than a few pieces ahead of it.
//
// The host trusts nothing that a worker sends. Sizes, numbers, states and codes
// are checked, and a worker that breaks a rule is killed. What it may ask for is
// decided by the same gate as for a plugin in the host's process.
package worker
