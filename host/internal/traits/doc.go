// Package traits holds what is known about a call before it runs, by which it is
// scheduled: whether it only reads, may run beside others, what it locks. It also holds
// running calls to that. It knows neither calls nor sessions.
package traits
