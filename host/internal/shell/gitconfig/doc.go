// Package gitconfig lets confined commands change a repository's configuration, key by key.
//
// A command works on a copy ([Take]). When it has ended, [Copy.Merge] compares the copy with
// what it was, judges every changed key by a list of those that pass, and writes these into the
// real file as it is by then, under git's own lock. Keys that may name programs, further files
// of configuration or other places to push to are not on the list: they stay as they were.
//
// Git itself reads and writes all configuration here: it runs without any configuration of its
// own, in an empty directory.
package gitconfig
