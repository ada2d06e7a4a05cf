// Package stage holds what a session writes until a person applies it.
//
//	s := stage.Open(filepath.Join(dir, stage.Dir), stage.Options{Make: make, History: history})
//	place, err := s.Place()                  // a file for new content
//	err = s.Put(ctx, write)                  // now it is staged
//	left, err := s.Patch(ctx, w, stage.Selection{}, o)
//	done, err := s.Apply(ctx, stage.Selection{})
//
// # On disk
//
// A stage is a directory of the session's directory, with
//
//	log.jsonl    one record a line, each with a checksum of its own
//	NAME.staged  the staged content of one file, as it is to be
//	lock         locked while something is staged, applied or discarded
//
// A record says of a file which content is staged for it, or that none is any more.
// The content is on the disk before its record is, and the record makes it count:
// a host that is killed leaves what was staged before or what is staged now, whole.
// A log of which a line is damaged is not gone by: what a session believes to have
// written must not be missing in silence. Discarding everything begins anew.
//
// The lock orders processes: a person may apply or discard what is staged while the
// session goes on in another process, which sees it with its next call. Readers need
// no lock.
//
// # Applying
//
// What the file on the disk was is noted when it is first staged. Applying looks at
// all files first, and writes none where one is not what it was then. Each is then
// written as tools write: at once, with the mode and owner of the former, which the
// session's history keeps, so that applying can be undone. What is swapped out must
// be what was looked at. A file that holds the staged content already counts as
// applied, so that applying again completes what was interrupted. One that holds what
// was staged for it earlier, since it was first staged, is taken for one that such an
// applying wrote: what was staged since was made from that.
package stage
