//go:build !race

package scheduler_test

// turns is how many random turns a test plays.
const turns = 2000
