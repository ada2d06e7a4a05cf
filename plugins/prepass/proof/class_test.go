package proof

import (
	"errors"
	"strings"
)

// class says how a module or a call ended.
type class string

const (
	returned     class = "returned"
	refused      class = "refused by the pre-pass"
	rejected     class = "rejected by the engine"
	unlinkable   class = "unlinkable"
	exhausted    class = "call stack exhausted"
	outOfFuel    class = "out of fuel"
	noSuchExport class = "no such export"
)

// traps are the classes of traps, by wazero's texts for them.
var traps = map[string]class{
	"stack overflow":                exhausted,
	"invalid conversion to integer": "invalid conversion",
	"integer overflow":              "integer overflow",
	"integer divide by zero":        "integer divide by zero",
	"unreachable":                   "unreachable",
	"out of bounds memory access":   "out of bounds memory access",
	"invalid table access":          "invalid table access",
	"indirect call type mismatch":   "indirect call type mismatch",
	"unaligned atomic":              "unaligned atomic",
	"expected shared memory":        "expected shared memory",
	"uncaught exception":            "uncaught exception",
	"null reference":                "null reference",
}

// compileClass is the class of a module that did not compile.
func compileClass(err error) class {
	if _, ok := errors.AsType[refusedError](err); ok {
		return refused
	}
	return rejected
}

// classOf is the class of a call, or of an instantiation of a compiled module.
// wazero keeps its errors to itself: their texts are all there is.
func classOf(err error) class {
	if err == nil {
		return returned
	}
	if errors.Is(err, errOutOfFuel) {
		return outOfFuel
	}
	if errors.Is(err, errOutOfStack) {
		return exhausted
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	for name, c := range traps {
		if strings.HasSuffix(text, name) {
			return c
		}
	}
	return unlinkable
}
