//go:build !race

package shell

// slower is how much longer things may take under the race detector.
const slower = 1
