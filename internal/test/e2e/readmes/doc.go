// Package readmes types what the READMEs say to type, in a fresh clone at a terminal. It
// has no code but tests.
package readmes
