//go:build tinygo

package toolquay

// panicPlace tells nothing: TinyGo keeps no places of functions.
func panicPlace() (place, stack string) { return "", "" }
