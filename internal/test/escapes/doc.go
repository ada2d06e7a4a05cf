// Package escapes is what commands try in order to get out of a sandbox, and a small
// world of its own that shows whether one did. It is for tests: those of package
// sandbox, and those of the whole shell above it.
//
// A [Case] is a piece of shell text and says nothing about what must not happen; the
// [World] does, for all of them: what lies outside the working directory is as it
// was, what is hidden was not printed, nobody outside was talked to, nobody outside
// was signalled. What only the command itself can see, such as a system call that
// went through, it prints as ESCAPED.
package escapes
