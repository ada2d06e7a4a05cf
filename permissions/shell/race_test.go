//go:build race

package shell

// slower is how much longer things may take: the race detector looks at every
// access to memory. What is promised is promised of the program without it.
const slower = 5
