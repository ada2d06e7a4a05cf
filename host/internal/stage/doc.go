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
// The tree in upper is the staged state: files, directories and links as they will be, in
// the format of an upper directory of overlayfs. A directory of the session is mounted for
// commands with its part of the tree over it, and so what they change is staged. It is one
// tree of absolute paths, and the upper directory of each mount is a part of it. So what is
// staged stays in place when the session's directories change.
//
// The log says what the tree cannot: who wrote something, and what was on the disk when it
// was first changed (its base). When a tool writes, the base is known by its content. What a
// command changed is found afterwards: its base is what is on the disk then, known by its
// times. If the disk changed after the command began, there is a conflict. A stage whose log
// has a damaged line is not used: nothing may be applied over files that nobody compared.
// Discarding everything repairs it.
//
// The lock orders processes: a person may apply or discard what is staged while the
// session goes on in another process. That process sees the difference at its next call,
// and mounts its directories anew ([Store.Generation]). Nothing is applied while a command
// runs. Readers need no lock.
//
// # Applying
//
// Applying compares the tree with the disk, and changes nothing if something on the disk is
// not as its base says. Changes are made as [changes.Found.Put] makes them, some hundred at
// a time, directories first and removals last. For each batch, first the contents are synced
// to the disk together, then the records of the session's history, which can undo the
// apply, and then the directories. Before the first change, applying notes everything that
// it is about to do: after a kill, applying again takes such changes as done, even if
// something was staged again since. A file that is as before, such as one that a command
// opened for writing but did not change, is not a change.
//
// A directory that was removed, or replaced by another, is applied as a whole: first, what
// the disk has in it is removed. Until then no part of it can be applied or discarded alone.
package stage
