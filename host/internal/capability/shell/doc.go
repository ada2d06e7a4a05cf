// Package shell answers shell.run: it runs commands, and tells honestly what came of
// them.
//
// A command is guarded and analysed (shell.go, guard.go). What was judged is what runs,
// byte for byte: bash gets it as its -c argument, and learns where to report its last
// directory from a prologue of ours (cwd.go) that comes through a pipe, so that nothing
// that an earlier command could have changed is read. It runs below a keeper, which
// ends all that it leaves behind (launch.go), in the sandbox that its judgement calls
// for (confine.go).
//
// Both of its streams go through one pipe (pipe_unix.go, output.go) into a store
// (store.go) that counts everything and holds little. While it runs, run.go minds the
// time, the budget, the person who may move it, and progress; what goes on in the
// background becomes a task (background.go).
package shell
