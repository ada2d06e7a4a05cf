//go:build race

package scheduler_test

// turns is how many random turns a test plays: fewer under the race detector, which
// makes them ten times slower.
const turns = 200
