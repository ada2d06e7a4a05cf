// Package approvals has ways to ask a person ([host.Asker]) other than a prompt
// in the same process:
//
//   - [Durable] keeps questions in a [Store]. The call ends with needs_approval,
//     and the answer, given hours later by another process, holds once, when the
//     same call comes again.
//
//   - [Coordinator] lets many workers ask one person, one question at a time.
//
//   - [Func] makes an asker of a function that answers approvals, [AnyFunc] one of a function
//     for questions of every kind, and [Deny] one that denies. [WithTimeout] turns
//     to another asker when the first one takes too long.
//
// Put together:
//
//	store, err := approvals.OpenStore(dir, approvals.Options{})
//	away := approvals.NewDurable(store, approvals.Resume{})
//	person := approvals.NewCoordinator(approvals.WithTimeout(terminal, 2*time.Minute, away), 0)
//	options := host.SessionOptions{Asker: person.Worker("reviewer")}
//
// # What an answer holds for
//
// The very input and tool definition (the approval's binding), in the session
// that asked, and no more accesses than were listed. Anything else is asked anew.
// Rules are judged before anybody is asked: an answer stands against no deny. The answer to a
// form or a URL holds for exactly that form or URL, asked by that call.
//
// # What a denial ends
//
// The call, and where the reply says EndTurn the turn: what has not begun is cancelled.
// A person's plain no is meant so where the question says DenyEndsTurn, so an asker that
// asks a person passes that on for a no without words. A program that judges by a policy
// leaves EndTurn unset. Of a worker of a coordinator only the call is denied.
//
// # The store
//
// A private directory. Of each question it has KEY.ID.question, and later
// KEY.ID.answer and KEY.ID.used. None of them is ever written to again. An answer
// is put there by linking, and used is made exclusively, so of several processes
// that answer, or use an answer, one wins, without locks that a crash could leave.
// The question is taken away first and used last, and an answer without its
// question is none: so nothing is used twice, whenever a process ends.
//
// Whoever can write to the directory can answer. It belongs among the host's
// directories ([host.PathOptions].Host), which tools may not change unasked.
package approvals
