//go:build !race

package host_test

// raceEnabled says that times mean nothing.
const raceEnabled = false
