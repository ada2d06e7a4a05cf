// Package lang judges the small languages that some programs bring: awk, sed,
// jq and the expressions of find.
package lang

// Finding is what is known of one script.
type Finding struct {
	// ReadOnly says that running it changes nothing, starts nothing, and reads no
	// file that is not named in Reads. It need not end.
	ReadOnly bool
	// Reason says why it is not; the empty string where it is.
	Reason string
	// StartsNothing says that a script that is not read-only starts no program either.
	StartsNothing bool
	// Reads and Writes are the files the script itself names, literally.
	Reads, Writes []string
}
