// Package judge asks a model about tool calls that are still open in auto mode:
// may this one run without the user being asked?
//
// What a shell line or a path tells by itself is judged in package permissions,
// without a model. What is asked here is what that cannot tell. The answer is
// allow, or ask: a model never denies, and where it is not sure, does not answer,
// answers something else, or cannot be reached, a person is asked.
//
//	j, err := judge.New(judge.Options{Model: model}) // one a session
//	...
//	pending := j.Speculate(ctx, question) // before the hooks run
//	defer pending.Cancel()
//	...
//	if !pending.About(question) { // the input, or what is known of it, changed
//		pending.Cancel()
//		pending = j.Speculate(ctx, question)
//	}
//	answer := pending.Answer(ctx)
//
// # What the model is shown
//
// Only what the [Question] holds, as one JSON document between two marks that
// carry a random number. Whatever the call's text says, it cannot close that
// block: no < is left in it, nor any character that does not print. A text that is
// too long to be shown whole is not judged at all.
//
// That keeps data apart from instructions; it does not make a model immune to
// being talked round. So a model's word counts last: no deny or ask rule, hook,
// protected path or command that cannot be parsed is ever left to it.
//
// # What is not kept
//
// Answers are not cached. One that was right for a call need not be for the same
// call later, when the files it touches, the rules or the directories are others,
// and a stale allow costs more than a question.
package judge
