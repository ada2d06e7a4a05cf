// Package changes describes what is at a path, a [Node], and how that changes, a [Change].
// What a session staged and what its history keeps are such changes: the same code makes,
// undoes and shows them.
//
//	f, err := changes.Look(ctx, path)   // what is there; links are not followed
//	err = f.Put(ctx, to, content, nil)  // replaces it by to, if it still is what Look found
//	left, err := changes.Patch(ctx, w, list, open, changes.PatchOptions{Dir: dir})
//
// # What Put promises
//
// The new file is complete before it gets its name, and replaces the former one in one step:
// a process that is killed leaves one or the other, and at most a file beside it whose name
// begins with ".toolquay-". What something else put at the path since Look is neither
// replaced nor removed. The comment of package workspace says what holds on which system.
//
// A directory and its files change in several steps, which others can see. [Ordered] puts
// directories first and removals last.
//
// # Patches
//
// [Patch] writes what git writes: new and deleted files, modes, links as mode 120000,
// binary contents, renames by equal content. Git patches have no directories, and of modes
// only whether a file is executable: what they cannot show is returned apart ([Left]).
//
// # Logs
//
// [Log] reads and appends lines that each carry a checksum.
package changes
