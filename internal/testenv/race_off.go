//go:build !race

package testenv

// Race says that the race detector watches the tests.
const Race = false
