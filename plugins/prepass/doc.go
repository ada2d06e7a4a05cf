// Package prepass reads a WebAssembly module once, before any engine sees it,
// refuses what no honest module needs, and writes it anew so that a host can
// bound and stop it.
//
// A rewritten module differs from the original in this:
//
//   - Fuel. A counter runs down at function entries, at loop heads by the weight
//     of the loop's body, and at bulk operations by their length. When it is used
//     up the module calls [ImportModule].[ImportRefill], where the host sees to
//     cancellation and hands out more. Guest code has no other point at which it
//     could be interrupted: without it a spinning guest holds up the whole
//     process at the next garbage collection. A unit is about one machine
//     instruction, from a tenth of a nanosecond to some nanoseconds where memory
//     is slow. Most loops pay in advance, so that a turn costs a subtraction and a
//     branch; those of functions that may recurse, and of functions that are
//     nothing but a loop, pay for each turn. Between two calls to the host a module can use up what it was given
//     and what it has in hand from before, less than 3 Mi.
//   - Depth. Functions that may be part of a recursion pay for their frame out of
//     a stack budget and get it back when they return; where it is used up the
//     module traps. Recursion would otherwise take hundreds of megabytes of
//     stack, which no memory limit sees.
//   - Caps. Memories and tables state a maximum, no higher than the host's.
//   - Exports. Mutable globals are exported under [GlobalPrefix], so that a host
//     can put an instance back to where it started.
//   - Imports are renamed where the host asks for it.
//   - Custom sections are left out, but for the names of functions.
//
// Everything else is as it was: same results, same traps, same memory. What was
// taken out of the stack budget is not given back where a function ends in a
// trap: an instance that has trapped is to be thrown away.
//
// Weights are those of compiled code, in which moving a value from one local to
// another takes nothing. An interpreter may take longer for a unit.
//
// The package is pure Go and knows no engine. It does not validate: a module it
// accepts may still be invalid, which the engine's own validation finds. What it
// writes of a valid module is valid.
package prepass
