// Package protected finds the hidden and the protected paths in directories: those that
// rules withhold from reading or changing, and those guarded by their names. A sandbox is
// made of them, and searches are judged by them.
//
// A walk remembers in a [Memory] what it found, so that the next one reads only the
// directories that changed. What is found without a walk is kept there as well, and found anew
// only where something that it was found by has changed.
package protected
