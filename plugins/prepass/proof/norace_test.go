//go:build !race

package proof

// sampleEvery has all files, modules and mutants compared.
const sampleEvery = 1
