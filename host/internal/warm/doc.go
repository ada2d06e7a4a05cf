// Package warm runs commands in shells that are kept ready inside a sandbox.
//
// Making a sandbox costs several milliseconds, and most commands of a model only
// look at something. So a bash waits inside a sandbox in which nothing can be
// written and no network be reached, and a child that it forked beforehand
// evaluates the command: well under a millisecond, for what was judged read-only.
// Everything else gets a sandbox of its own, elsewhere.
//
// What must hold is that nobody can tell, and that nothing stays behind:
//
//   - The child begins in the state of bash -c COMMAND: variables, options,
//     descriptors, traps. Where bash itself tells the two apart, [Fit] says no (see
//     there what), and the command goes the long way.
//   - Nothing that a child does to itself outlives it. What is left of its processes
//     is killed, all at once, by the kernel: kill -9 -1 inside the PID namespace.
//   - What is shared between calls is the waiting bash, the pipes and the namespaces.
//     The pipes are opened anew, by name, for each call, as programs leave flags
//     such as O_NONBLOCK on what they were given. The waiting bash is spoken to
//     through a socket that has no name to open it by. Where anything is not as
//     expected (a process was left, a signal, a byte that nobody asked for, a call
//     cut short) the shell is thrown away with its sandbox.
//
// A program of the same user could change the waiting bash's memory, by ptrace. It
// would have to be hostile and misjudged as one that only reads, and would win no
// more than to lie to later commands of the same kind: it can write nothing here, and
// reach nobody. Who wants to be spared that too keeps no shells.
package warm
