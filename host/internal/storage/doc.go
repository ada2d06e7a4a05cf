// Package storage keeps what a session has beyond one turn, and beyond one process where the
// session has a directory: its journal, its results, the history of the files that it wrote,
// what it staged, its background tasks, and directories for its commands.
//
//	s, err := storage.Open(storage.Options{Parent: sessions, ID: "my-session", Logger: logger})
//	err = s.Remember("loaded", names)
//	for _, data := range s.Recall("loaded") { ... } // in the next process
//	defer s.Close()
//
// A session without a directory has no history, no stage and no spills; its results are cut,
// and its commands' output lies in its scratch directory.
package storage
