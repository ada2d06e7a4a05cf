package prepass

import "fmt"

// Error says why a module was refused. All errors of [Rewrite] are of this type.
type Error struct {
	// Section names the section, such as "code" or "import"; empty where the
	// module as a whole is meant.
	Section string
	// Offset is the place in the original binary, in bytes.
	Offset int
	// Message says what is wrong and, where a bound was passed, which.
	Message string
}

func (e *Error) Error() string {
	if e.Section == "" {
		return fmt.Sprintf("wasm module, offset 0x%x: %s", e.Offset, e.Message)
	}
	return fmt.Sprintf("wasm module, %s section, offset 0x%x: %s", e.Section, e.Offset, e.Message)
}

// over words a passed bound.
func over(what string, got, limit uint64) string {
	return fmt.Sprintf("%d %s, at most %d are allowed", got, what, limit)
}

// unsupported words a refused feature.
func unsupported(feature string) string {
	return feature + " is not supported"
}
