// Package stage holds what a session writes until a person applies it.
//
//	s := stage.Open(filepath.Join(dir, stage.Dir), stage.Options{Make: make, History: history})
//	place, err := s.Place()                  // a file for new content
//	err = s.Put(ctx, write)                  // now it is staged
//	layers, err := s.Layers(directories)     // what to mount, so that commands write into it
//	err = s.Scan(ctx, began, call)           // after a command
//	left, err := s.Patch(ctx, w, stage.Selection{}, o)
//	done, err := s.Apply(ctx, stage.Selection{})
//
// # On disk
//
// A stage is a directory of the session's directory, with
//
//	upper/       what is staged, each at its whole path
//	work/        what overlayfs needs beside that, while it is mounted
//	new/         contents that are not staged yet
//	gone/        a tree that was applied or discarded, while it is removed
//	log.jsonl    one record a line, each with a checksum of its own
//	lock         locked while something is staged, applied or discarded
//	busy         locked while commands run over what is staged
//
// The tree in upper is what counts: files, directories and links as they are to be, in the
// format of an upper directory of overlayfs. So a directory of the session can be mounted
// with its part of the tree over it, for commands; what those change is staged. It is one
// tree by whole paths, and the upper directory of each mount a part of it: what is staged
// stays where it is whichever directories a session has.
//
// The log says what the tree does not: who wrote something, and what lay on the disk when
// it was first changed (its base). Of what a tool writes that is known by its content. What
// a command changed is found after it: its base is what lies on the disk then, known by its
// times, or if that changed since the command began, a conflict. A log of which a line is
// damaged is not gone by: what a session believes to have written must not be applied over
// what nobody compared. Discarding everything begins anew.
//
// The lock orders processes: a person may apply or discard what is staged while the
// session goes on in another process, which sees it with its next call, and mounts its
// directories anew ([Store.Generation]). Nothing is applied while a command runs. Readers
// need no lock.
//
// # Applying
//
// Applying compares the tree with the disk, and does nothing where something on the disk is
// not what its base says. Changes are done as [changes.Found.Put] does them, some hundred
// at a time, directories first and removals last: their contents, the records of the
// session's history, by which applying can be undone, and then their directories are
// written out to the disk together. Before the first it notes all that it is about to do:
// applying again after a kill takes what it finds done for done, also where something was
// staged anew since. What is not changed after all, such as a file that a command opened
// for writing and left as it was, is no change.
//
// A directory that was removed, or replaced by another, is applied as a whole: what the
// disk has in it goes first, and only then can a part of it be taken out of the tree.
package stage
