//go:build race

package proof

// sampleEvery has one of so many of the specification's files, and of random
// modules and mutants, compared: the race detector makes all ten times slower,
// and they share nothing between goroutines but the engine's cache.
const sampleEvery = 20
