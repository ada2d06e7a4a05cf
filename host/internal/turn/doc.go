// Package turn holds what the calls of one turn need to tell about themselves, in order,
// and to wait for one another: it knows neither calls nor sessions.
//
//   - [Feed] carries a turn's events to the one who ranges over them, and [Observer] to
//     the embedder.
//   - [Progress] thins out what a running call reports, and [Stopwatch] measures where its
//     time goes.
//   - [Work] counts what is under way for a call, so that what goes on after its result is
//     known.
//   - [Token] is held by the turn that runs. [Queue] lets the streams of a session run in
//     the order in which they were made.
//   - [Life] is how long a session goes on, and [Span] a turn.
package turn
