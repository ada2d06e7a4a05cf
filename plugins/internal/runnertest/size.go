//go:build !race

package runnertest

// spillSize is the length of a long text, in bytes.
const spillSize = 200_000_000
