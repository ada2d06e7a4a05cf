// Package stage holds the changes of a session until a person applies them.
//
//	s := stage.Open(filepath.Join(dir, stage.Dir), stage.Options{Make: make, History: history})
//	place, err := s.Place()                  // a file for new content
//	err = s.Put(ctx, write)                  // now it is staged
//	layers, err := s.Layers(directories)     // overlays to mount, so that commands write into the stage
//	err = s.Scan(ctx, began, call)           // after a command
//	left, err := s.Patch(ctx, w, stage.Selection{}, o)
//	done, err := s.Apply(ctx, stage.Selection{})
//
// # On disk
//
// A stage is a directory in the session's directory, with
//
//	upper/       the tree: what is staged, at its absolute path
//	work/        the work directories that overlayfs needs while it is mounted
//	new/         contents that are not staged yet
//	gone/        a former tree that was applied or discarded, while it is removed
//	log.jsonl    one record per line, each with a checksum
//	lock         locked while something is staged, applied or discarded
//	busy         locked while commands run over what is staged
//
// The tree in upper is the staged state: files, directories and links as they will be, in the
// format of an upper directory of overlayfs. For commands, each directory of the session is
// mounted with its part of the tree as the upper directory, and so their changes are staged. The
// stage is one tree of absolute paths, and the upper directory of each mount is a part of it. So
// what is staged stays in place when the session's directories change.
//
// The log says what the tree cannot: who wrote something, and what was on the disk when it was
// first changed (its base). When a tool writes, the base is identified by its content. Changes by
// a command are found after it: their base is what is on the disk then, identified by its
// metadata. If the disk changed after the command began, there is a conflict. A stage whose log
// has a damaged line is not used: nothing may be applied over files that nobody compared.
// Discarding everything repairs it.
//
// Processes that change the stage take the lock: a person may apply or discard changes while the
// session goes on in another process. That process notices at its next call, and mounts its
// directories again ([Store.Generation]). Nothing is applied while a command runs. Readers need
// no lock.
//
// # Applying
//
// Applying compares the tree with the disk, and changes nothing if something on the disk differs
// from its base. It makes changes as [changes.Found.Put] does, up to a few hundred at a time,
// directories first and removals last. For each batch, it syncs the contents together, then the
// records of the session's history, which can undo the apply, and then the directories. Before
// the first change, it logs all changes that it is about to make: after a kill, another apply
// takes such changes as done, even if something was staged again since. A file that is as before,
// such as one that a command opened for writing but did not change, is not a change.
//
// A directory that was removed, or replaced by another, is applied as a whole: first, its former
// contents are removed from the disk. Until then no part of it can be applied or discarded alone.
package stage
