// Package changes has one word for what lies at a path, a [Node], and for what becomes of
// it, a [Change]. What a session staged and what its history keeps are such changes, and
// are done, undone and shown by the same code.
//
//	f, err := changes.Look(ctx, path)   // what lies there, no link followed
//	err = f.Put(ctx, to, content, nil)  // now it is what to says, if it was what Look found
//	left, err := changes.Patch(ctx, w, list, open, changes.PatchOptions{Dir: dir})
//
// # What Put promises
//
// What is put in place is whole before it has its name, and the former thing goes at once:
// a process that is killed leaves the one or the other, and beside it at most a file whose
// name begins with ".toolquay-". What something else put there since Look is not replaced
// and not removed. The comment of package workspace says what holds on which system.
//
// Two steps are not one for those who look: a directory and what lies in it. [Ordered]
// has directories come before, and removals after.
//
// # Patches
//
// [Patch] writes what git writes: new and deleted files, modes, links as mode 120000,
// binary contents, renames by equal content. Git knows no directories, and of modes only
// whether a file is executable: what it has no words for is told apart ([Left]).
//
// # Logs
//
// [Log] reads and appends lines that each carry a checksum.
package changes
