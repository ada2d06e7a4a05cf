// Package calls makes processes by lists of system calls.
//
// Between fork and exec a child may do what no program that is started could do for it:
// enter and make namespaces, mount, give up what it may, install a filter. Package syscall
// has a fixed list of such steps. A [Program] is a list of one's own: it is written where
// there is time and memory, sent to a supervisor as bytes, and carried out by a [Carrier]'s child
// that neither allocates nor calls anything of the runtime's, and shares the supervisor's memory.
//
// A program may fork: see [Program.Apart], after which it goes on in the first process of a
// PID namespace, and [Program.Below], after which it goes on in a process below that one.
package calls
