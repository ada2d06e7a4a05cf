package abi

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fault is one thing wrong with a manifest.
type Fault struct {
	// Path leads to it, such as tools[2].fields[0].effect.
	Path string
	// Message says what is wrong and what to write instead.
	Message string
}

// String puts the fault in one line.
func (f Fault) String() string { return f.Path + ": " + f.Message }

// validator collects faults; at gives one for a path below, which collects into
// the same list.
type validator struct {
	path   string
	root   *validator
	faults []Fault
}

func (v *validator) at(format string, args ...any) *validator {
	root := v
	if v.root != nil {
		root = v.root
	}
	path := fmt.Sprintf(format, args...)
	if v.path != "" {
		path = v.path + "." + path
	}
	return &validator{path: path, root: root}
}

func (v *validator) fault(format string, args ...any) {
	root := v
	if v.root != nil {
		root = v.root
	}
	root.faults = append(root.faults, Fault{Path: v.path, Message: fmt.Sprintf(format, args...)})
}

// oneOf checks an enumerated value; the empty one stands for a default.
func oneOf[T ~string](v *validator, got T, allowed ...T) {
	if got == "" || slices.Contains(allowed, got) {
		return
	}
	words := make([]string, 0, len(allowed))
	for _, a := range allowed {
		words = append(words, fmt.Sprintf("%q", a))
	}
	v.fault("%q is not a value it can have; write one of %s", got, strings.Join(words, ", "))
}

// unique checks that a name was not seen before.
func unique(v *validator, seen map[string]string, name string) {
	if name == "" {
		return
	}
	if at, twice := seen[name]; twice {
		v.fault("%q is there already, at %s", name, at)
		return
	}
	seen[name] = v.path
}

// line checks a text of one line that people or models are shown.
func line(v *validator, text string, most int) { shown(v, text, most, false) }

// lines checks a text of several.
func lines(v *validator, text string, most int) { shown(v, text, most, true) }

func shown(v *validator, text string, most int, breaks bool) {
	if n := utf8.RuneCountInString(text); n > most {
		v.fault("%d characters are over the limit of %d", n, most)
	}
	if !utf8.ValidString(text) {
		v.fault("bytes that are not UTF-8")
		return
	}
	if at := hiddenRune(text, breaks); at >= 0 {
		r, _ := utf8.DecodeRuneInString(text[at:])
		v.fault("the character %U at byte %d cannot be seen, or changes how the rest is shown; leave it out", r, at)
	}
}

func capability(v *validator, name string) {
	if len(name) > 64 || !capabilityName().MatchString(name) {
		v.fault("%q is not a capability; write a family and an operation, such as fs.read", name)
	}
}
