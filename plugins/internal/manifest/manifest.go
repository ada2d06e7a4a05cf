// Package manifest reads plugin manifests, and the sections of modules that carry them.
package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/internal/visible"
)

// MaxSize is the largest manifest in bytes, and the largest section of tools.
const MaxSize = 1 << 20

// Error lists everything that is wrong with a manifest.
type Error struct {
	// File is the manifest's name for people.
	File string
	// Faults are in the order of their lines.
	Faults []stricttoml.Fault
}

// Error names every fault, a line each.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has %d fault(s):", visible.Line(e.File), len(e.Faults))
	for _, f := range e.Faults {
		b.WriteString("\n  " + f.String())
	}
	return b.String()
}

// Parse reads a manifest strictly: unknown keys, wrong types and broken
// contracts are all faults, reported at once in a [Error]. module is
// asked for the plugin's module only where the manifest leaves a tool's schema
// to it. file is the manifest's name for people.
func Parse(file string, src []byte, module func(*abi.Manifest) ([]byte, error)) (*abi.Manifest, error) {
	m := new(abi.Manifest)
	doc, faults := stricttoml.Decode(src, m)
	if len(faults) > 0 && reflect.ValueOf(*m).IsZero() {
		return nil, &Error{File: file, Faults: faults} // nothing was understood
	}
	var more []abi.Fault
	if len(faults) == 0 && slices.ContainsFunc(m.Tools, lacksSchema) {
		var err error
		if more, err = complete(m, module); err != nil {
			return nil, err
		}
	}
	form := faults
	for _, f := range append(more, m.Validate()...) {
		if !covered(form, f.Path) {
			faults = append(faults, doc.Fault(f.Path, "%s", clip(f.Message)))
		}
	}
	if len(faults) == 0 {
		return m, nil
	}
	slices.SortStableFunc(faults, func(a, b stricttoml.Fault) int { return a.Line - b.Line })
	if n := len(faults) - maxFaults; n > 0 {
		faults = append(faults[:maxFaults], stricttoml.Fault{Message: fmt.Sprintf("and %d more faults", n)})
	}
	return nil, &Error{File: file, Faults: faults}
}

// clip bounds what a message says of a manifest or a module.
func clip(text string) string { return visible.Short(text, 500) }

// maxFaults bounds how many faults of one manifest are told.
const maxFaults = 100

func lacksSchema(t abi.Tool) bool { return t.InputSchema == "" }

// covered reports whether a fault in the form of the document says what is wrong
// at a path already: the value there was never read.
func covered(faults []stricttoml.Fault, path string) bool {
	return slices.ContainsFunc(faults, func(f stricttoml.Fault) bool {
		rest, below := strings.CutPrefix(path, f.Path)
		return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// complete takes what a manifest leaves to the module from there.
func complete(m *abi.Manifest, module func(*abi.Manifest) ([]byte, error)) ([]abi.Fault, error) {
	code, err := module(m)
	if err != nil {
		return nil, err
	}
	pieces, err := toolPieces(code)
	if err != nil {
		return nil, err
	}
	faults := merge(m, pieces)
	for i, t := range m.Tools {
		if lacksSchema(t) {
			faults = append(faults, abi.Fault{
				Path:    fmt.Sprintf("tools[%d].input_schema", i),
				Message: "missing, and the module's section " + abi.SectionTools + " has none either; write a JSON Schema of an object",
			})
		}
	}
	return faults, nil
}

// merge fills tools in from the pieces of their module.
func merge(m *abi.Manifest, pieces []abi.ToolPiece) []abi.Fault {
	var faults []abi.Fault
	seen := make(map[string]bool)
	for _, p := range pieces {
		i := slices.IndexFunc(m.Tools, func(t abi.Tool) bool { return t.Name == p.Name })
		switch {
		case i < 0:
			faults = append(faults, abi.Fault{Path: "tools", Message: fmt.Sprintf("the module has a tool %s that the manifest does not list", visible.Name(p.Name))})
			continue
		case seen[p.Name]:
			faults = append(faults, abi.Fault{Path: fmt.Sprintf("tools[%d]", i), Message: fmt.Sprintf("the module describes the tool %q twice", p.Name)})
			continue
		}
		seen[p.Name] = true
		t := &m.Tools[i]
		t.Description = cmp.Or(t.Description, p.Description)
		t.InputSchema = cmp.Or(t.InputSchema, string(p.InputSchema))
		t.OutputSchema = cmp.Or(t.OutputSchema, string(p.OutputSchema))
		t.Lines = t.Lines.Or(p.Lines)
		t.ClassifierText = cmp.Or(t.ClassifierText, p.ClassifierText)
	}
	return faults
}

// toolPieces reads what a module says of its tools.
func toolPieces(module []byte) ([]abi.ToolPiece, error) {
	section, err := Section(module, abi.SectionTools)
	if err != nil || section == nil {
		return nil, err
	}
	if len(section) > MaxSize {
		return nil, abi.Errorf(abi.CodeLoad, "the module's section %s has %d bytes, over the limit of %d", abi.SectionTools, len(section), MaxSize)
	}
	var pieces []abi.ToolPiece
	for decoder := json.NewDecoder(bytes.NewReader(section)); ; {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return pieces, nil
		} else if err != nil {
			return nil, abi.Errorf(abi.CodeLoad, "the module's section %s is not a stream of JSON objects: %s", abi.SectionTools, clip(err.Error()))
		}
		var p abi.ToolPiece
		if err := abi.Unmarshal(raw, &p); err != nil {
			return nil, abi.Errorf(abi.CodeLoad, "the module's section %s: %s", abi.SectionTools, clip(err.Error()))
		}
		pieces = append(pieces, p)
	}
}
