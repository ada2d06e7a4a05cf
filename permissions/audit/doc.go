// Package audit keeps the log of permission decisions: what was decided, by
// which rule, and who answered. It is appended to and never rewritten.
//
//	log, err := audit.Open("/home/u/.local/state/toolquay/decisions", audit.Options{})
//	err = log.Append(audit.Of(&decision))
//	report, err := audit.Verify(dir, "")
//
// # On disk
//
// A log is a private directory with segments, log-000001.jsonl and on, of one
// JSON object a line, and the files head and lock. Every line is
//
//	{"prev":"HASH","seq":N,"kind":"decision", ... ,"hash":"HASH"}
//
// where hash is the SHA-256, in hexadecimal, of the line's bytes before
// ,"hash": and prev is the hash of the line before, across segments; the first
// line's is all zeros. So no line can be changed, taken out, put in or moved
// without the lines after it telling. Kinds other than decision are the log's
// own words: see [Kind].
//
// The chain cannot tell that its end is missing. The file head can: it says
// which line was the last one written. It is written after the line, so a crash
// leaves it behind the log, never before it. Losing power may, where lines are
// not synced ([Options.Sync]).
//
// # What it proves
//
// Lines changed, removed, inserted, reordered or cut off by somebody who did not
// compute the rest of the chain and the head anew, or by a fault of the disk.
// Somebody who may write to the directory can do that, or delete it all: against
// them keep the hash of some line elsewhere, and hand it to [Verify].
//
// # Writers
//
// Several processes may append to one log; a lock orders them. When Append
// returns nil the line has been handed to the operating system: it survives the
// end of the process, and with [SyncEach] that of the machine. An incomplete
// line that a crash left is kept, and the next writer adds a record of it. What
// could not be written is counted, and a gap record says how much is missing as
// soon as there is room again.
//
// # Forgetting
//
// Without [Options.Keep] and [Options.MaxBytes] the log grows without bound. With them
// old segments are dropped: first a line of the log says which segment it is, and number
// and hash of its last line, and is forced to the disk; then the file is removed. So the
// chain begins at a line that the log itself vouches for, and [Verify] says which. A crash
// in between leaves a segment that is dropped later. Segments that somebody else takes
// away are reported as removed, and nothing more is dropped after a gap.
package audit
