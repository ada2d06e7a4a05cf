// Package session is a session behind its public face: the tools that its model is offered,
// its turns, and the streams by which calls come to a turn. It knows neither events nor
// people; a [Turn] tells [Listeners] what happens, and asks by them.
//
//   - [Host] is what the sessions of a host share, and [Session] one of them.
//   - [Tools] says which tools the session has and what its model knows of them.
//   - [Turn] is the calls of one model message, or those that a running call makes.
//   - [Stream] takes the calls of a turn one by one.
package session
