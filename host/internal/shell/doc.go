// Package shell answers shell.run: it runs commands, and tells honestly what came of
// them.
//
// A command goes through stages. Each is a type that holds what is known by then:
//
//   - command (command.go, programs.go, sleep.go): it is understood and analysed. What was
//     judged is what runs, byte for byte: bash gets it as its -c argument.
//   - launch (launch.go): its confinement (confinement.go) is known, and its output has a
//     place. It starts as a child (cold.go, prepare.go) below a supervisor, which ends all that it
//     leaves behind.
//   - run (launch.go): it runs. Its call follows it (follow.go), and minds the time, the
//     budget, the person who may move it, and progress. What goes on in the background
//     becomes a task (background.go).
//   - result (result.go): how it ended. An account (answer.go, notes.go, places.go) explains
//     that from the end of the output (program.go, image.go).
//
// Bash learns where to report its last directory from a prologue of ours (report.go) that
// comes through a pipe, so that nothing that an earlier command could have changed is read.
//
// Both streams go through one pipe (pipe_unix.go, output.go) into a store (store.go,
// content.go) that counts everything and holds little. Answers show it (body.go).
//
// # The room
//
// The folders below are what a command needs on its way:
//
//   - commands plans: environment, what the sandbox hides, protects and opens, the supervisors.
//   - sandbox turns that into system calls, and has the session's network; proxy leads to hosts.
//   - process supervises: nothing of a command outlives it. A supervisor carries out a list of
//     calls between fork and exec.
//   - caches and gitconfig give a command copies of what it may change and others run.
//   - gitevents tells what it did to repositories.
package shell
