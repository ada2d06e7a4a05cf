// Package changes describes the file, directory or link at a path, as a [Node], and changes to
// paths, as a [Change]. The stage of a session and its history both consist of such changes, so
// that the same code makes, undoes and shows them.
//
//	f, err := changes.Look(ctx, path)   // what is there; links are not followed
//	err = f.Put(ctx, to, content, nil)  // replaces it with to, unless it changed since Look
//	left, err := changes.Patch(ctx, w, list, open, changes.PatchOptions{Dir: dir})
//
// # What Put promises
//
// The new file is complete before it gets its name, and replaces the former one in one step. If
// the process is killed, the path holds one or the other, and at most a temporary file, whose
// name begins with ".toolquay-", is left beside it. If something else changed the path since
// Look, Put neither replaces nor removes it. The documentation of package workspace says what
// each operating system guarantees.
//
// A directory and its files change in several steps, and other processes can see the states in
// between. [Ordered] puts directories first and removals last.
//
// # Patches
//
// [Patch] writes the format of git: new and deleted files, modes, symbolic links (as mode
// 120000), binary contents, and renames of files with equal content. Git patches have no
// directories, and of a mode they only say whether a file is executable. Patch returns the
// changes that the format cannot represent as a list ([Left]).
//
// # Logs
//
// [Log] reads and appends the lines of a log file that several processes share.
package changes
