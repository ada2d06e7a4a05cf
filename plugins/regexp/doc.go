// Package regexp has ripgrep's regular expressions: the crate grep-regex, compiled
// to WebAssembly, searches text that is read into its memory.
//
// Why not Go's package regexp: it is eight to forty times as slow, and its dialect
// is another one. Why not in the process: patterns come from models. In the sandbox
// a pattern can use up to [MaxMemory] a guest and is stopped within milliseconds
// of the end of its context, by the fuel that package prepass meters, whatever it
// is; and a defect of the engine costs one search.
//
// Where an expression asks for nothing beyond lines and words and is small, the guest
// hands over a table as well: a DFA of at most 254 states that knows ASCII only. The
// host runs it natively, in four places of the text at once, and asks the guest about
// lines that have other bytes; a table cannot lead out of itself, whatever is in it.
// That is four times as fast, and spares the instances of further workers.
//
// A search in the guest has an instance of its own, so that several run in parallel: as
// many as have 64 MiB together before they read text, one in any case, and one with more
// than 1 MiB of text to be held at once. The others wait. Where there is no table, text is
// read straight into the instance's memory.
//
// The guest's source is in guest, which build.sh builds.
package regexp
