package plugins

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/plugins/internal/manifest"
)

// Severity says how bad a [Diagnostic] is.
type Severity string

// The severities.
const (
	// SeverityError: the plugin, or one of its tools, can never be used as it is.
	SeverityError Severity = "error"
	// SeverityWarning: it can be used, and something about it is not as its author
	// or its user may expect.
	SeverityWarning Severity = "warning"
)

// Diagnostic is one thing that [Plugin.Check] found.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	// File is the manifest or module that it is about, for people.
	File string `json:"file,omitempty"`
	// Line is the line of a manifest, from 1; 0 where none can be named.
	Line int `json:"line,omitempty"`
	// Where is a manifest's key, such as tools[0].input_schema, or a module's
	// section; empty for the whole.
	Where string `json:"where,omitempty"`
	// Offset is the place in a module, in bytes; 0 where none can be named.
	Offset int `json:"offset,omitempty"`
	// Message says what is wrong and, where it can, what to do.
	Message string `json:"message"`
}

// String returns the diagnostic in one line, or more where its message has more.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(string(d.Severity) + ": ")
	if d.File != "" {
		b.WriteString(d.File + ": ")
	}
	if d.Offset > 0 {
		fmt.Fprintf(&b, "offset 0x%x: ", d.Offset)
	}
	return b.String() + stricttoml.Fault{Line: d.Line, Path: d.Where}.String() + d.Message
}

// Checker is a [Runner] that can tell what it would refuse about a module, without
// compiling or running any of it.
type Checker interface {
	// Check finds everything for which [Runner.Load] would refuse a module, except
	// what only a compiler finds. Files are filled in by the caller.
	Check(m Module) []Diagnostic
}

// Check finds what is wrong with the plugin, as far as that can be told without
// running or compiling it: faults of its manifest, schemas that cannot be used,
// examples that do not fit them, imports and exports, bounds on modules, limits, names
// that others have. Errors come first. It reads the plugin's module.
func (p *Plugin) Check() []Diagnostic { return check(p, time.Now().Add(longestExamples)) }

// check is [Plugin.Check], whose examples have until then.
func check(p *Plugin, until time.Time) []Diagnostic {
	c := &checking{plugin: p}
	m := p.Manifest() // whose reading may find a problem
	for _, err := range leaves(p.Problem()) {
		c.problem(err)
	}
	if m != nil {
		c.contracts(m, until)
		c.module(m)
		for _, note := range p.Notes {
			c.add(SeverityWarning, "limits", "%s", note)
		}
	}
	slices.SortStableFunc(c.found, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.File, b.File), a.Line-b.Line)
	})
	return c.found
}

// Failed reports whether there is an error among diagnostics.
func Failed(list []Diagnostic) bool {
	return slices.ContainsFunc(list, func(d Diagnostic) bool { return d.Severity == SeverityError })
}

// Load compiles the plugin's module, or takes it from the cache, and runs none of it.
// What [Plugin.Check] cannot find of why a module does not load is its error. The
// plugin needs neither grant nor configuration.
func (p *Plugin) Load(ctx context.Context) error {
	for _, err := range leaves(p.Problem()) {
		if !operators(err) {
			return err
		}
	}
	if err := p.generation.calls.enter(p.Name); err != nil {
		return err
	}
	defer p.generation.calls.leave()
	_, err := p.generation.instance(ctx)
	return err
}

// checking is one check of a plugin.
type checking struct {
	plugin *Plugin
	doc    *stricttoml.Document // of the manifest, once it was read again
	found  []Diagnostic
}

// add adds what is wrong at a key of the manifest.
func (c *checking) add(s Severity, key, format string, args ...any) {
	d := Diagnostic{Severity: s, File: c.plugin.generation.found.ManifestPath(), Where: key, Message: fmt.Sprintf(format, args...)}
	if c.doc == nil {
		c.doc = new(stricttoml.Document)
		if raw, err := c.plugin.generation.found.RawManifest(); err == nil {
			c.doc, _ = stricttoml.Decode(raw, new(abi.Manifest))
		}
	}
	d.Line = c.doc.Line(key)
	c.found = append(c.found, d)
}

// leaves are the errors that were joined into one.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, leaves(e)...)
	}
	return out
}

// problem tells what a plugin is refused for.
func (c *checking) problem(err error) {
	if m, ok := errors.AsType[*ManifestError](err); ok {
		for _, f := range m.Faults {
			c.found = append(c.found, Diagnostic{Severity: SeverityError, File: m.File, Line: f.Line, Where: f.Path, Message: f.Message})
		}
		return
	}
	severity, messages := SeverityError, []string{err.Error()}
	if config, ok := errors.AsType[*ConfigError](err); ok {
		messages = config.Faults
	}
	if operators(err) {
		severity = SeverityWarning
	}
	for _, message := range messages {
		c.found = append(c.found, Diagnostic{Severity: severity, File: c.plugin.Path, Message: message})
	}
}

// operators reports whether a problem is not the plugin's own: it could be used if it
// were configured or trusted, or if the other one were not there.
func operators(err error) bool {
	_, shadowed := errors.AsType[*ShadowedError](err)
	_, config := errors.AsType[*ConfigError](err)
	return shadowed || config || abi.CodeOf(err) == abi.CodeNotGranted
}

// longestExamples is how long the examples of one plugin are held against their schemas.
const longestExamples = 5 * time.Second

// contracts checks the tools' schemas, and their examples against them.
func (c *checking) contracts(m *abi.Manifest, until time.Time) {
	for i := range m.Tools {
		t := &m.Tools[i]
		at := fmt.Sprintf("tools[%d].", i)
		c.texts(t, at)
		if t.OutputSchema != "" {
			if _, err := CompileOutputSchema(t.Name, t.OutputSchema); err != nil {
				c.add(SeverityError, at+"output_schema", "%v", err)
			}
		}
		schema, err := CompileSchema(t.Name, t.InputSchema)
		if err != nil {
			c.add(SeverityError, at+"input_schema", "%v", err)
			continue
		}
		for n, example := range t.InputExamples {
			if time.Now().After(until) {
				c.add(SeverityError, at+"input_examples", "checking them takes longer than %v; make the schema simpler", longestExamples)
				return
			}
			c.example(fmt.Sprintf("%sinput_examples[%d]", at, n), schema, example)
		}
	}
}

// texts warns of texts that some programs would cut.
func (c *checking) texts(t *abi.Tool, at string) {
	warn := func(key, what, text string) {
		if len(text) > abi.MaxSafeText {
			c.add(SeverityWarning, at+key, "%s has %d bytes; some programs that hand it to a model cut it after %d", what, len(text), abi.MaxSafeText)
		}
	}
	warn("description", "the description", t.Description)
	for key, schema := range map[string]string{"input_schema": t.InputSchema, "output_schema": t.OutputSchema} {
		var value any
		if json.Unmarshal([]byte(schema), &value) == nil { // what is wrong with it is said elsewhere
			descriptions(value, func(text string) { warn(key, "a description in the schema", text) })
		}
	}
}

// descriptions calls take with each description in a schema.
func descriptions(schema any, take func(text string)) {
	switch s := schema.(type) {
	case map[string]any:
		if text, is := s["description"].(string); is {
			take(text)
		}
		for _, part := range s {
			descriptions(part, take)
		}
	case []any:
		for _, part := range s {
			descriptions(part, take)
		}
	}
}

func (c *checking) example(key string, schema *Schema, example string) {
	input, err := abi.Canonical(json.RawMessage(example))
	if err == nil {
		err = schema.Validate(input)
	}
	if err != nil {
		c.add(SeverityError, key, "the example does not fit the input schema: %v", err)
	}
}

// module has the runner of the plugin's ABI look at its module.
func (c *checking) module(m *abi.Manifest) {
	g := c.plugin.generation
	file := filepath.Join(filepath.Dir(g.found.ManifestPath()), g.finding.Summary.Module)
	wasm, _, err := g.found.ReadModule(g.finding.Summary.Module)
	if err == nil {
		err = manifest.CheckModule(wasm)
	}
	if err != nil {
		c.found = append(c.found, Diagnostic{Severity: SeverityError, File: file, Message: err.Error()})
		return
	}
	checker := g.lineage.options.checker(g.finding.Summary.ABI)
	if checker == nil {
		return
	}
	found := checker.Check(Module{
		Manifest: m, Hash: sha256.Sum256(wasm), Wasm: wasm, Trusted: g.found.Origin == OriginBuiltin,
		Limits: c.plugin.Limits, Logger: g.lineage.options.Logger,
	})
	for _, d := range found {
		if d.File = file; strings.Contains(d.Message, "bytes of memory at the start") {
			d.Message += "; raise limits.memory in " + abi.ManifestFile + ", or build it with less"
		}
		c.found = append(c.found, d)
	}
}

// checker is what checks modules of an ABI, or nil.
func (o *Options) checker(name string) Checker {
	for _, r := range slices.Concat(o.Runners, o.Isolated) {
		if checker, ok := r.(Checker); ok && r.ABI() == name {
			return checker
		}
	}
	return nil
}
