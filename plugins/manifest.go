package plugins

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/internal/visible"
)

// ManifestError lists everything that is wrong with a manifest.
type ManifestError struct {
	// File is the manifest's name for people.
	File string
	// Faults are in the order of their lines.
	Faults []stricttoml.Fault
}

// Error names every fault, a line each.
func (e *ManifestError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has %d fault(s):", visible.Line(e.File), len(e.Faults))
	for _, f := range e.Faults {
		b.WriteString("\n  " + f.String())
	}
	return b.String()
}

// ParseManifest reads a manifest strictly: unknown keys, wrong types and broken
// contracts are all faults, reported at once in a [ManifestError]. module is
// asked for the plugin's module only where the manifest leaves a tool's schema
// to it. file is the manifest's name for people.
func ParseManifest(file string, src []byte, module func(*abi.Manifest) ([]byte, error)) (*abi.Manifest, error) {
	m := new(abi.Manifest)
	doc, faults := stricttoml.Decode(src, m)
	if len(faults) > 0 && reflect.ValueOf(*m).IsZero() {
		return nil, &ManifestError{File: file, Faults: faults} // nothing was understood
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
	return nil, &ManifestError{File: file, Faults: faults}
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
		t.Description = or(t.Description, p.Description)
		t.InputSchema = or(t.InputSchema, string(p.InputSchema))
		t.OutputSchema = or(t.OutputSchema, string(p.OutputSchema))
	}
	return faults
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// toolPieces reads what a module says of its tools.
func toolPieces(module []byte) ([]abi.ToolPiece, error) {
	section, err := CustomSection(module, abi.SectionTools)
	if err != nil || section == nil {
		return nil, err
	}
	if len(section) > maxManifest {
		return nil, abi.Errorf(abi.CodeLoad, "the module's section %s has %d bytes, over the limit of %d", abi.SectionTools, len(section), maxManifest)
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

// bundle is what was read of a candidate.
type bundle struct {
	finding
	parsed *abi.Manifest
	// readAt is when reading began.
	readAt time.Time
}

// read reads a candidate's manifest and, where that needs it, its module.
func (c candidate) read() (*bundle, error) {
	if c.file != "" {
		return c.readSingle()
	}
	b := &bundle{readAt: time.Now(), finding: finding{entry: c.folder}}
	raw, at, err := readFile(c.fs, c.manifestFile(), maxManifest)
	if err != nil {
		return nil, err
	}
	b.manifest, b.manifestAt = sha256.Sum256(raw), at
	b.parsed, err = ParseManifest(c.manifestPath(), raw, func(m *abi.Manifest) ([]byte, error) {
		module, at, err := c.readModule(moduleOf(m))
		if err == nil {
			b.completed, b.moduleAt, b.carried = true, at, carried(module)
		}
		return module, err
	})
	if err != nil {
		return nil, err
	}
	b.summary = summarise(b.parsed, moduleOf(b.parsed))
	if c.module != "" && c.module != b.summary.module {
		return nil, abi.Errorf(abi.CodeLoad, "it carries no manifest, and %s beside it is for the module %s; name that one, or pack a manifest into this one",
			abi.ManifestFile, b.summary.module)
	}
	if !b.completed {
		b.moduleAt, err = c.checkModule(b.summary.module)
	}
	return b, err
}

// manifestFile is where a folder plugin's manifest stands within its file system.
func (c candidate) manifestFile() string { return path.Join(c.folder, abi.ManifestFile) }

// manifestPath is where a candidate's manifest stands, for people.
func (c candidate) manifestPath() string {
	switch {
	case c.file != "":
		return c.path
	case c.module != "":
		return filepath.Join(filepath.Dir(c.path), abi.ManifestFile)
	}
	return filepath.Join(c.path, abi.ManifestFile)
}

// readSingle reads a module that carries its manifest.
func (c candidate) readSingle() (*bundle, error) {
	b := &bundle{readAt: time.Now(), finding: finding{entry: c.file, single: true, completed: true}}
	module, at, err := readFile(c.fs, c.file, maxModule)
	if err != nil {
		return nil, err
	}
	b.manifestAt, b.moduleAt = at, at
	section, err := CustomSection(module, abi.SectionManifest)
	if err != nil {
		return nil, err
	}
	if section == nil {
		return nil, abi.Errorf(abi.CodeLoad, "the module carries no manifest (custom section %s); put a plugin.toml beside it in a folder, or pack one into it", abi.SectionManifest)
	}
	b.manifest, b.carried = sha256.Sum256(section), carried(module)
	b.parsed, err = ParseManifest(c.manifestPath(), section, func(*abi.Manifest) ([]byte, error) { return module, nil })
	if err == nil && b.parsed.Module != "" {
		err = abi.Errorf(abi.CodeLoad, "the manifest inside a module must not name another one (module = %q)", b.parsed.Module)
	}
	if err != nil {
		return nil, err
	}
	b.summary = summarise(b.parsed, c.file)
	return b, nil
}

// settled reports whether the files will be told from changed ones by their
// stamps.
func (b *bundle) settled() bool {
	return b.manifestAt.settled(b.readAt) && (!b.completed || b.moduleAt.settled(b.readAt))
}

// moduleOf is the name of a folder plugin's module.
func moduleOf(m *abi.Manifest) string { return path.Base(or(m.Module, m.Name+".wasm")) }

// readModule reads a plugin's module, of a folder plugin by its name.
func (c candidate) readModule(name string) ([]byte, stamp, error) {
	file := c.moduleFile(name)
	module, at, err := readFile(c.fs, file, maxModule)
	if errors.Is(err, fs.ErrNotExist) {
		err = missingModule(file)
	}
	return module, at, err
}

// checkModule looks whether a folder plugin's module is there, without reading
// it.
func (c candidate) checkModule(name string) (stamp, error) {
	file := c.moduleFile(name)
	at, err := checkFile(c.fs, file, maxModule)
	if errors.Is(err, fs.ErrNotExist) {
		err = missingModule(file)
	}
	return at, err
}

func (c candidate) moduleFile(name string) string {
	if c.file != "" {
		return c.file
	}
	return path.Join(c.folder, name)
}

func missingModule(file string) error {
	return abi.Errorf(abi.CodeLoad, "its module %s is not there; build the plugin first", path.Base(file))
}
