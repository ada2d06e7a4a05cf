// Package history keeps what files were before a session's tools wrote them, and
// gives it back.
//
//	h := history.Open(filepath.Join(dir, history.Dir), history.Options{Make: make})
//	id, err := h.Keep(ctx, write)  // before the write
//	err = h.Void(id)               // where it was not done after all
//	report, err := h.Restore(ctx, history.Selection{Call: "call-1"}, history.RestoreOptions{})
//
// # On disk
//
// A history is a directory of the session's directory, with
//
//	log.jsonl    one record a line, each with a checksum of its own
//	HASH.gz      a former content, named after its SHA-256, compressed
//	lock         locked while something is written
//
// A content that is small once compressed ([maxInline]) stands in its record
// instead: then one fsync makes both durable, which is most of what keeping costs. No
// content is kept twice. Every line stands for itself, so that one that is damaged
// loses itself and no other; contents are held to their hashes when they are read.
//
// The lock orders processes: a person may look at the history of a session, and
// restore files, while the session goes on in another process. Readers need no lock.
//
// # What is kept
//
// Only what files were before a write is kept, not what they became: that is what
// the file holds now, or what the next write found there. Only where something else
// changed the file afterwards is it nowhere, and then a diff of that one write
// cannot be shown ([ErrNotKept]); undoing writes never needs it.
//
// A history holds at most [Options.MaxBytes] of contents, none older than
// [Options.MaxAge]; the oldest go first. Their records stay. The newest content is
// always kept.
//
// # What a crash leaves
//
// A record is on the disk before its write is done, and nothing is recorded when it was
// done. Whether it was is found out by content: from what the file is, and from what
// later records say that it was ([Change.State]). A process that is killed leaves this:
//
//	killed                            the history says    restoring all of it
//	writing, before the record        nothing             finds nothing to do
//	... in the middle of the record   nothing             finds nothing to do
//	... before the swap               not done            finds nothing to do
//	... after the swap                done                gives back the former file
//	... after another one overtook    of that one: done   gives back what was before
//	    it, before it took the        of it: not done     the other
//	    record back
//	restoring, before the swap        not done            does it
//	... after the swap                done                finds it as it was already
//	... with the file to be removed   done                finds none, as it was already;
//	    taken aside                                       the file aside stays, unless
//	                                                      its directory is removed too
//
// Where something else changed the file before anyone looked, nothing tells whether the
// write was done: then it says "changed since", and restoring is refused unless it is
// forced. A write by something else that happens to be equal to what was about to be
// written counts as the write, and one that puts back what was before as if there had
// been none.
package history
