package extism

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/engine"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// checkModule looks at a module before anything of it runs. All faults are
// reported at once.
func checkModule(i, kernel *prepass.Interface, tools []abi.Tool) error {
	if faults := examine(i, kernel, tools); len(faults) > 0 {
		return abi.Errorf(abi.CodeLoad, "the module %s", engine.Faults(faults))
	}
	return nil
}

// examine finds everything for which a module cannot be run.
func examine(i, kernel *prepass.Interface, tools []abi.Tool) []string {
	var faults []string
	for n := range i.Imports {
		if fault := checkImport(&i.Imports[n], kernel); fault != "" {
			faults = append(faults, fault)
		}
	}
	return append(faults, checkExports(i, tools)...)
}

func checkImport(i *prepass.External, kernel *prepass.Interface) string {
	from := original(i.Module, i.Name)
	if i.Kind != prepass.KindFunc {
		named := *i
		named.Module = from
		return engine.CheckImport(&named)
	}
	switch i.Module {
	case prepass.ImportModule:
		return ""
	case wasi_snapshot_preview1.ModuleName:
		return engine.CheckWASI(i)
	case moduleEnv:
		return mismatch(i, from, engine.SignatureOf(kernel.Export(i.Name)))
	case hostModule:
		known, ok := hostFunctions[i.Name]
		if ok {
			return mismatch(i, from, known.Signature)
		}
	case moduleUser:
		return fmt.Sprintf("imports %s; the only function there is %s", engine.ImportName(from, i.Name), CapabilityImport)
	case unknownEnv:
		return fmt.Sprintf("imports %s, which Extism does not have", engine.ImportName(from, i.Name))
	}
	return fmt.Sprintf("imports %s; Extism modules get %s, %s and %s", engine.ImportName(i.Module, i.Name), moduleEnv, moduleUser, wasi_snapshot_preview1.ModuleName)
}

func mismatch(i *prepass.External, module string, want engine.Signature) string {
	if want.Fits(i) {
		return ""
	}
	return fmt.Sprintf("imports %s as %s; it is %s", engine.ImportName(module, i.Name), engine.SignatureOf(i), want)
}

// imports reports whether a module imports anything of another.
func imports(i *prepass.Interface, module string) bool {
	return slices.ContainsFunc(i.Imports, func(e prepass.External) bool { return e.Module == module })
}

// exportOf is the export that runs a tool.
func exportOf(t *abi.Tool) string {
	if t.Export != "" {
		return t.Export
	}
	return t.Name
}

func checkExports(i *prepass.Interface, tools []abi.Tool) []string {
	var faults []string
	for n := range tools {
		name := exportOf(&tools[n])
		f := i.Export(name)
		switch {
		case f == nil || f.Kind != prepass.KindFunc:
			faults = append(faults, fmt.Sprintf("has no export %q for the tool %s; it has %s (set the tool's export key)", name, tools[n].Name, callable(i)))
		case !isTool(f):
			faults = append(faults, fmt.Sprintf("exports %q with %d parameters and %d results; an Extism export takes none and returns at most one", name, len(f.Params), len(f.Results)))
		}
	}
	if f := i.Export(exportHaskell); f != nil && f.Kind == prepass.KindFunc && len(f.Params) != 2 {
		faults = append(faults, fmt.Sprintf("exports %s as %s; Haskell's takes two parameters", exportHaskell, engine.SignatureOf(f)))
	}
	return faults
}

func isTool(f *prepass.External) bool {
	return f.Kind == prepass.KindFunc && len(f.Params) == 0 && len(f.Results) <= 1
}

// maxNamed bounds the exports that an error names.
const maxNamed = 20

func callable(i *prepass.Interface) string {
	var names []string
	for n := range i.Exports {
		if e := &i.Exports[n]; isTool(e) && !strings.HasPrefix(e.Name, "_") {
			names = append(names, engine.PlainName(e.Name))
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "none that could be a tool"
	}
	if more := len(names) - maxNamed; more > 0 {
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
