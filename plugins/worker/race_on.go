//go:build race || msan || asan

package worker

// raceEnabled says that the program carries a detector whose shadow memory is
// larger than any limit.
const raceEnabled = true
