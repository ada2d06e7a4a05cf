// Package sandbox says how a command is run so that it can change only what it may:
// it turns a [Spec] into a list of system calls or the arguments of bubblewrap (Linux), or a
// profile for sandbox-exec (macOS). It runs little itself, below a supervisor: a probe, and what
// mends a sandbox that stands. Running commands is the caller's.
//
// # What a sandboxed command has
//
//   - The files of the machine, to read. It can write to the writable roots and the
//     temporary folder, which is also /tmp and /var/tmp.
//   - Nothing of what is hidden, by whatever name: neither the path nor a link to it.
//     Hidden by itself are /run (the sockets of daemons), the homes of others, and
//     what only root may read.
//   - Protected names it can read and not change. What it makes where there are none is
//     undone at once (see [Wrapped.Watch]), for a mount needs something to lie on, and
//     nothing is put on the disk. A program outside may see it for a moment.
//   - Its own processes to see and to signal, no capabilities, no new namespaces, and
//     none of the system calls with which sandboxes have been left before: a seccomp
//     program refuses them. It makes no Unix sockets unless told so, for a read-only
//     mount does not keep anybody from connecting to a daemon's.
//   - A loopback that it shares with the commands of its session, all of the network, or
//     (through a proxy) the hosts that are allowed.
//
// # Overlays
//
// With [Sandbox.Stage] the commands of a session see overlays over directories: their changes go to
// upper directories elsewhere, and the directories themselves stay as they are. The overlays are
// mounted in a mount namespace from which the sandboxes are made, each at the path of its directory,
// so a sandbox with overlays is made like any other. All commands of the session share these file
// systems: they see each other's changes, and inotify reports them. This process reads and changes
// the files by [Namespace.At]. A command is refused if it could change anything outside the overlays,
// its temporary folder and [Spec].Unstaged. All commands are refused if a directory with an overlay
// was moved or replaced.
//
// # Against whom, and what not
//
// The promise holds against a command that is hostile, as far as the kernel and
// bubblewrap hold. It does not cover these:
//
//   - With [NetworkAll] the services of this machine's loopback are in reach.
//   - What is hidden or protected is so by its place at the start: what is mounted is
//     compared with what was asked for. A program outside that replaces a hidden or protected file by another
//     (editors do, when they save) takes the mount off a command that runs already. It is
//     mounted again (see [Wrapped.Watch]), mostly at once, and where a file is moved first
//     within a quarter of a second ([Wrapped].LookEvery), but not before it happened: in between the command may
//     have read or changed the one or the other file. In bubblewrap's sandbox nothing is mounted
//     again: what was hidden is told as a [Loss], and what was protected is open to changes by
//     that command from then on, which [Wrapped.Changed] tells. What is new, and was not there
//     to be hidden, is not. A hard link that a hidden file has had from before is another file
//     for all a mount can tell.
//   - A protected name that is a symbolic link cannot be kept from being replaced, and
//     is refused with [ErrLink].
//   - Descriptors: what the caller hands to the command, the command has. An output
//     that is a file can be read and cut off through /proc/self/fd; a pipe cannot.
//   - Programs of another architecture, 32-bit ones included, are killed.
package sandbox
