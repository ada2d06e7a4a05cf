// Package process runs commands so that nothing of them survives.
//
// On Linux each command runs below a supervisor: a small process of this same program
// that adopts whatever its descendants leave behind. What is below a supervisor belongs
// to its command, and no way of becoming a daemon leads out of there: neither double
// forks, sessions and process groups of one's own, closed descriptors nor ignored
// signals. A supervisor runs one command at a time and is used again, so that a command
// costs a message and a fork, and not the start of a second program.
//
// # What is promised on Linux
//
//   - When a command's first process ends, what it left is killed, and counted.
//   - [Process.Stop] asks all of a command's processes to end, and kills, after the
//     time of grace, those that did not.
//   - When the host ends, however it ends, its supervisors kill all there is and end too.
//   - [Process.Gone] means that nothing is left. Where a supervisor cannot hold that, Gone
//     comes all the same, seconds later, and [Status.Err] says so.
//   - A command over a limit of its [Limits] is killed and the limit is named. Limits
//     of processes, memory and processor time are for all of its processes together.
//     They are looked at twenty times a second, and less often, down to every two seconds,
//     while nothing happens: for moments there may be more. The
//     supervisor of root, and of others whom the system lets, runs before all commands, so
//     that none holds it up; others' commands have a bound of their user's processes.
//   - Nothing reaches the command but what its [Command] says: no descriptor, no
//     variable, no terminal, no ignored or blocked signal. Nor does a supervisor have the
//     host's environment for anyone to read.
//   - No process gets a signal that is not the command's: a number is never trusted
//     to mean who it meant a moment ago.
//
// # Against whom, and what not
//
// The promise holds against commands that are careless or stubborn, and against
// hostile ones as long as they cannot reach their supervisor. A command outside any
// sandbox, run by the same user, can. It can kill the supervisor: then the host kills what
// has inherited a limit of that supervisor's which means nothing and which no other process
// has. What lowered that limit (ulimit -x) before is not found, nor is what root set
// anew; and where supervisor and host are killed together nobody looks. It can also have
// others run things for it, such as at, cron, a service manager or a container
// daemon, which are no descendants of its. A command that becomes another user
// (sudo) can be killed only where the host may do so. Whoever needs the promise to
// hold there gives the command a sandbox with a PID namespace.
//
// On other Unix systems there are no supervisors: a command has a session of its own and
// that session's process groups as far as they are known are killed. The end of the
// host ends no command there. On Windows nothing is started, with
// [abi.CodeUnsupported].
//
// # Opting in
//
// A supervisor is a program that calls [Main] first thing:
//
//	func main() {
//		process.Main() // returns, unless this process was started as a supervisor
//		...
//	}
package process
