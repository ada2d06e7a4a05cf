//go:build race

package calls

const instrumented = true
