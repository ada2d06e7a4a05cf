// Package repo holds the rules of this repository as tests: which room may
// import what, what every package documents, how long a file may be, who may
// skip a test, what no file may contain, and that what documents name is there.
// It has no code of its own.
//
// The rules are read from the files themselves, for every build tag and
// platform at once, so that neither a cache nor the machine's own platform can
// hide a breach.
package repo
