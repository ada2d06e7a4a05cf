package prepass

// Kind is what an import or export is.
type Kind uint8

// The kinds, as the binary format numbers them.
const (
	KindFunc   Kind = kindFunc
	KindTable  Kind = kindTable
	KindMemory Kind = kindMemory
	KindGlobal Kind = kindGlobal
)

func (k Kind) String() string {
	return [...]string{"function", "table", "memory", "global"}[k&3]
}

// External is an import or an export of a module.
type External struct {
	// Module is what an import is imported from; empty for an export.
	Module, Name string
	Kind         Kind
	// Params and Results are the value types of a function, as the binary format
	// numbers them.
	Params, Results []byte
}

// Interface is what a module takes from others and offers them.
type Interface struct{ Imports, Exports []External }

// Import returns the import of a name, or nil.
func (i *Interface) Import(module, name string) *External { return find(i.Imports, module, name) }

// Export returns the export of a name, or nil.
func (i *Interface) Export(name string) *External { return find(i.Exports, "", name) }

func find(list []External, module, name string) *External {
	for i := range list {
		if e := &list[i]; e.Name == name && e.Module == module {
			return e
		}
	}
	return nil
}

// Inspect returns the interface of a module that [Rewrite] accepts with these
// options, its imports renamed as there. Its errors are those of Rewrite.
func Inspect(wasm []byte, o Options) (*Interface, error) {
	m, err := decode(wasm, o)
	if err != nil {
		return nil, err
	}
	out := &Interface{
		Imports: make([]External, 0, len(m.imports)),
		Exports: make([]External, 0, len(m.exports)),
	}
	for _, e := range m.imports {
		x := External{Module: e.module, Name: e.name, Kind: Kind(e.kind)}
		if o.Rename != nil {
			x.Module, x.Name = o.Rename(e.module, e.name)
		}
		if e.kind == kindFunc {
			x.Params, x.Results = m.types[e.index].params, m.types[e.index].results
		}
		out.Imports = append(out.Imports, x)
	}
	for _, e := range m.exports {
		x := External{Name: e.name, Kind: Kind(e.kind)}
		if e.kind == kindFunc {
			t := m.types[m.funcs[e.index]]
			x.Params, x.Results = t.params, t.results
		}
		out.Exports = append(out.Exports, x)
	}
	return out, nil
}
