package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/permissions"
)

// maxFaults bounds how many faults of one file are told. Who has more reads none
// of them.
const maxFaults = 100

// Fault is one thing that is wrong with a settings file.
type Fault struct {
	Source permissions.Source
	// Key is the setting, such as permissions.deny[2]; empty for the whole file.
	Key string
	// Message says what is wrong with it.
	Message string
}

// Error returns the fault as "settings.toml: line 3: permissions.mode: ...".
func (f *Fault) Error() string {
	return f.Source.File + ": " + stricttoml.Fault{Line: f.Source.Line, Path: f.Key, Message: f.Message}.String()
}

// faults collects what is wrong with one file.
type faults struct {
	file *File
	list []*Fault
}

// add adds a fault, unless a fault of the same setting is known: what did not
// decode fails every further check, which tells nobody anything.
func (f *faults) add(line int, key, format string, args ...any) {
	for _, old := range f.list {
		rest, within := strings.CutPrefix(key, old.Key)
		if within && old.Key != "" && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return
		}
	}
	if len(f.list) <= maxFaults {
		f.list = append(f.list, &Fault{f.file.source(line), key, fmt.Sprintf(format, args...)})
	}
}

// err returns all faults, by line.
func (f *faults) err() error {
	slices.SortStableFunc(f.list, func(a, b *Fault) int { return cmp.Compare(a.Source.Line, b.Source.Line) })
	var errs []error
	for i, fault := range f.list {
		if i == maxFaults {
			errs = append(errs, &Fault{f.file.source(0), "", "and more faults"})
			break
		}
		errs = append(errs, fault)
	}
	return errors.Join(errs...)
}
