//go:build race

package search

// shadow is how much more memory a process takes that looks for races.
const shadow = 8
