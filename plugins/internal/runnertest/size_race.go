//go:build race

package runnertest

// spillSize is the length of a long text, in bytes: the race detector looks at each
// of them many times.
const spillSize = 40_000_000
