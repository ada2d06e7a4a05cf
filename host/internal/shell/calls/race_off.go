//go:build !race

package calls

// instrumented says that the compiler has put calls of the race detector's into what processes
// begin with. They write to a stack of the runtime's, of which such a process needs a copy.
const instrumented = false
