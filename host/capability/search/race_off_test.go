//go:build !race

package search

// shadow is how much more memory a process takes that looks for races: this one does not.
const shadow = 1
