package lists

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text checks one text that a model wrote.
type text struct {
	name string
	most int // in code points
	// lines says that it may have several, and empty that it may have nothing in it.
	lines, empty bool
}

// check returns what is wrong with a value, or nil.
func (t text) check(value string) error {
	if !t.empty && strings.TrimSpace(value) == "" {
		return fmt.Errorf("%s is empty", t.name)
	}
	if n := utf8.RuneCountInString(value); n > t.most {
		return fmt.Errorf("%s has %d characters; at most %d are kept", t.name, n, t.most)
	}
	if !utf8.ValidString(value) {
		return fmt.Errorf("%s is not valid UTF-8", t.name)
	}
	for _, r := range value {
		if !t.allows(r) {
			return fmt.Errorf("%s has the control character %U; leave it out", t.name, r)
		}
	}
	return nil
}

func (t text) allows(r rune) bool {
	if r == '\n' || r == '\t' || r == '\r' {
		return t.lines
	}
	return !unicode.IsControl(r)
}

// maxFaults bounds how many faults of one list are told.
const maxFaults = 5

// faults gathers what is wrong with an input.
type faults struct {
	told []error
	more int
}

func (f *faults) add(err error) {
	switch {
	case err == nil:
	case len(f.told) < maxFaults:
		f.told = append(f.told, err)
	default:
		f.more++
	}
}

func (f *faults) addf(format string, args ...any) { f.add(fmt.Errorf(format, args...)) }

// err joins the faults, or is nil.
func (f *faults) err() error {
	if f.more > 0 {
		return errors.Join(append(f.told, fmt.Errorf("and %d more faults", f.more))...)
	}
	return errors.Join(f.told...)
}
