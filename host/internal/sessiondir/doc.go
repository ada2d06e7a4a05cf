// Package sessiondir keeps a session's own directory: the files that belong to it and
// a journal of what it must remember when another process goes on with it.
//
//	f, err := sessiondir.Open("/home/u/.local/state/toolquay/sessions", "my-session", logger)
//	path, err := f.Write("tool-results", "call-1.txt", content)
//	err = f.Append(sessiondir.Record{Kind: "loaded", Data: []string{"Grep"}})
//	for _, data := range f.Recall("loaded") { ... } // in the next process
//
// # On disk
//
// A folder is a private directory (0700) named after the session's id, with
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
// is forced to the disk before [Folder.Append] returns. So whatever was told to
// somebody after these functions returned is there after a crash, and nothing
// that is half written is ever read back: a journal is read up to the first line
// whose checksum is wrong, and what comes after that is cut off, with a word in
// the log. Where that is more than the torn line of a crash, it is kept for people in
// journal-damaged-*.jsonl. Files under their first names are taken away when the folder is opened
// again.
package sessiondir
