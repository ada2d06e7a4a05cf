// Package sessiondir keeps a session's own directory: the files that belong to it and
// a journal of what it must remember when another process goes on with it.
//
//	d, err := sessiondir.Open("/home/u/.local/state/toolquay/sessions", "my-session", logger)
//	path, err := d.Write("tool-results", "call-1.txt", content)
//	err = d.Append(sessiondir.Record{Kind: "loaded", Data: []string{"Grep"}})
//	for _, data := range d.Recall("loaded") { ... } // in the next process
//
// # On disk
//
// A session directory is a private directory (0700) named after the session's id, with
//
//	session        which session it is, and who uses it; locked while somebody does
//	journal.jsonl  one record a line, each with a checksum over all before it
//	tool-results/  and other directories of files
//
// It is made when the first thing is kept in it. Only one session of one process
// uses it at a time; the lock goes with the process, however that ends.
//
// # What a crash leaves
//
// Files are written under another name, forced to the disk and renamed; a record
// is forced to the disk before [Dir.Append] returns. So whatever was told to
// somebody after these functions returned is there after a crash, and nothing
// that is half written is ever read back: a journal is read up to the first line
// whose checksum is wrong, and what comes after that is cut off, with a word in
// the log. Where that is more than the torn line of a crash, it is kept for people in
// journal-damaged-*.jsonl. Files under their first names are removed when the directory
// is opened again.
package sessiondir
