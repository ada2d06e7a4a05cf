package extism

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/engine"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// checkModule looks at a module before anything of it runs. All faults are
// reported at once.
func checkModule(c, kernel wazero.CompiledModule, tools []abi.Tool) error {
	faults := append(checkImports(c, kernel.ExportedFunctions()), checkExports(c, tools)...)
	if len(faults) > 0 {
		return abi.Errorf(abi.CodeLoad, "the module %s", engine.Faults(faults))
	}
	return nil
}

func checkImports(c wazero.CompiledModule, kernel map[string]api.FunctionDefinition) []string {
	var faults []string
	for _, f := range c.ImportedFunctions() {
		if fault := checkImport(f, kernel); fault != "" {
			faults = append(faults, fault)
		}
	}
	for _, m := range c.ImportedMemories() {
		module, name, _ := m.Import()
		faults = append(faults, fmt.Sprintf("imports the memory %s; a plugin brings its own", engine.ImportName(original(module, name), name)))
	}
	return faults
}

func checkImport(f api.FunctionDefinition, kernel map[string]api.FunctionDefinition) string {
	module, name, _ := f.Import()
	from := original(module, name)
	switch module {
	case prepass.ImportModule, wasi_snapshot_preview1.ModuleName:
		return ""
	case moduleEnv:
		return mismatch(f, from, name, signatureOf(kernel[name]))
	case hostModule:
		known, ok := hostFunctions[name]
		if ok {
			return mismatch(f, from, name, known.signature)
		}
	case moduleUser:
		return fmt.Sprintf("imports %s; the only function there is %s", engine.ImportName(from, name), CapabilityImport)
	case unknownEnv:
		return fmt.Sprintf("imports %s, which Extism does not have", engine.ImportName(from, name))
	}
	return fmt.Sprintf("imports %s; Extism modules get %s, %s and %s", engine.ImportName(module, name), moduleEnv, moduleUser, wasi_snapshot_preview1.ModuleName)
}

func mismatch(f api.FunctionDefinition, module, name string, want signature) string {
	if want.fits(f) {
		return ""
	}
	return fmt.Sprintf("imports %s as %s; it is %s", engine.ImportName(module, name), signatureOf(f), want)
}

// imports reports whether a module imports functions of another.
func imports(c wazero.CompiledModule, module string) bool {
	return slices.ContainsFunc(c.ImportedFunctions(), func(f api.FunctionDefinition) bool {
		from, _, _ := f.Import()
		return from == module
	})
}

// exportOf is the export that runs a tool.
func exportOf(t *abi.Tool) string {
	if t.Export != "" {
		return t.Export
	}
	return t.Name
}

func checkExports(c wazero.CompiledModule, tools []abi.Tool) []string {
	have := c.ExportedFunctions()
	var faults []string
	for i := range tools {
		name := exportOf(&tools[i])
		f, ok := have[name]
		switch {
		case !ok:
			faults = append(faults, fmt.Sprintf("has no export %q for the tool %s; it has %s (set the tool's export key)", name, tools[i].Name, callable(have)))
		case !isTool(f):
			faults = append(faults, fmt.Sprintf("exports %q with %d parameters and %d results; an Extism export takes none and returns at most one", name, len(f.ParamTypes()), len(f.ResultTypes())))
		}
	}
	if f, ok := have[exportHaskell]; ok && len(f.ParamTypes()) != 2 {
		faults = append(faults, fmt.Sprintf("exports %s as %s; Haskell's takes two parameters", exportHaskell, signatureOf(f)))
	}
	return faults
}

func isTool(f api.FunctionDefinition) bool {
	return len(f.ParamTypes()) == 0 && len(f.ResultTypes()) <= 1
}

// maxNamed bounds the exports that an error names.
const maxNamed = 20

func callable(exports map[string]api.FunctionDefinition) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(exports)) {
		if isTool(exports[name]) && !strings.HasPrefix(name, "_") {
			names = append(names, engine.PlainName(name))
		}
	}
	if len(names) == 0 {
		return "none that could be a tool"
	}
	if more := len(names) - maxNamed; more > 0 {
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
