//go:build !race && !msan && !asan

package worker

const raceEnabled = false
