package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// Signature is the type of a function.
type Signature struct{ Params, Results []api.ValueType }

// Fits reports whether a function has the type.
func (s Signature) Fits(f *prepass.External) bool {
	return slices.Equal(s.Params, f.Params) && slices.Equal(s.Results, f.Results)
}

func (s Signature) String() string { return typeNames(s.Params) + " -> " + typeNames(s.Results) }

// SignatureOf is the type that a function has.
func SignatureOf(f *prepass.External) Signature { return Signature{f.Params, f.Results} }

func typeNames(types []api.ValueType) string {
	names := make([]string, 0, len(types))
	for _, t := range types {
		names = append(names, api.ValueTypeName(t))
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// Interface is what the program imports and exports, functions and memories, as far
// as the engine tells.
func (p *Program) Interface() *prepass.Interface { return interfaceOf(p.Compiled) }

func interfaceOf(c wazero.CompiledModule) *prepass.Interface {
	out := new(prepass.Interface)
	for _, f := range c.ImportedFunctions() {
		module, name, _ := f.Import()
		out.Imports = append(out.Imports, prepass.External{Module: module, Name: name, Kind: prepass.KindFunc, Params: f.ParamTypes(), Results: f.ResultTypes()})
	}
	for _, m := range c.ImportedMemories() {
		module, name, _ := m.Import()
		out.Imports = append(out.Imports, prepass.External{Module: module, Name: name, Kind: prepass.KindMemory})
	}
	for name, f := range c.ExportedFunctions() {
		out.Exports = append(out.Exports, prepass.External{Name: name, Kind: prepass.KindFunc, Params: f.ParamTypes(), Results: f.ResultTypes()})
	}
	for name := range c.ExportedMemories() {
		out.Exports = append(out.Exports, prepass.External{Name: name, Kind: prepass.KindMemory})
	}
	return out
}

// Inspect reads what a module imports and exports, and holds it to all bounds that
// Compile holds it to before it compiles anything.
func (e *Engine) Inspect(s Source) (*prepass.Interface, error) {
	if err := CheckSize(len(s.Wasm), e.opts.MaxModule); err != nil && !s.Trusted {
		return nil, err
	}
	i, err := prepass.Inspect(s.Wasm, s.prepass(e.opts.MaxModule))
	if err != nil {
		return nil, refused(err)
	}
	return i, nil
}

// CheckWASI says what is wrong with an import from WASI; "" is nothing.
func CheckWASI(f *prepass.External) string {
	want := Signature{[]api.ValueType{api.ValueTypeI32}, nil} // of proc_exit
	if f.Name != procExitName {
		known, ok := wasiFunctions[f.Name]
		if !ok {
			return fmt.Sprintf("imports %s, which WASI preview 1 does not have", ImportName(WASI, f.Name))
		}
		want = Signature{known.types(), []api.ValueType{api.ValueTypeI32}}
	}
	if want.Fits(f) {
		return ""
	}
	return fmt.Sprintf("imports %s as %s; it is %s", ImportName(WASI, f.Name), SignatureOf(f), want)
}

// CheckImport says what is wrong with an import that is no function; "" is nothing.
func CheckImport(i *prepass.External) string {
	switch i.Kind {
	case prepass.KindFunc:
		return ""
	case prepass.KindMemory:
		return fmt.Sprintf("imports the memory %s; a plugin brings its own and exports it", ImportName(i.Module, i.Name))
	}
	return fmt.Sprintf("imports the %s %s; nothing offers one", i.Kind, ImportName(i.Module, i.Name))
}

// CheckGo finds a module of standard Go that was built as a command, of which only _start
// can be called: the functions behind other exports need the runtime that it starts. TinyGo
// names itself otherwise; its commands work. The exports that are called are used.
func CheckGo(i *prepass.Interface, wasm []byte, used ...string) []plugins.Diagnostic {
	const command = "_start"
	producers, err := plugins.CustomSection(wasm, "producers")
	others := slices.ContainsFunc(used, func(name string) bool { return name != command && i.Export(name) != nil })
	if err != nil || !others || i.Export(command) == nil || i.Export("_initialize") != nil || !bytes.Contains(producers, []byte("Go cmd/compile")) {
		return nil
	}
	return Diagnoses([]string{"was built by Go as a command, whose functions cannot be called; build it with -buildmode=c-shared"})
}

// Diagnose is the error of a module that was refused, as a diagnostic.
func Diagnose(err error) []plugins.Diagnostic {
	d := plugins.Diagnostic{Severity: plugins.SeverityError, Message: err.Error()}
	if at, ok := errors.AsType[*prepass.Error](err); ok {
		d.Where, d.Offset, d.Message = at.Section, at.Offset, at.Message
		if at.Section != "" {
			d.Where += " section"
		}
	}
	return []plugins.Diagnostic{d}
}

// Diagnoses are the faults of a module, as in [Faults], as diagnostics.
func Diagnoses(faults []string) []plugins.Diagnostic {
	out := make([]plugins.Diagnostic, len(faults))
	for i, fault := range faults {
		out[i] = plugins.Diagnostic{Severity: plugins.SeverityError, Message: "the module " + fault}
	}
	return out
}
