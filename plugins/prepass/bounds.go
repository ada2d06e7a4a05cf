package prepass

import "cmp"

// Bounds are the most that a module may have of anything. A zero field stands
// for that of [DefaultBounds].
type Bounds struct {
	// ModuleBytes bounds the whole binary.
	ModuleBytes int
	// Types bounds the function types, ValuesPerType the parameters of one type
	// and, separately, its results.
	Types, ValuesPerType int
	// Functions bounds the functions, imported ones among them.
	Functions int
	// Imports and Exports bound the entries of those sections.
	Imports, Exports int
	// NameBytes bounds each name of an import, an export or a custom section.
	NameBytes int
	// BodyBytes bounds the code of one function.
	BodyBytes int
	// Locals bounds the locals of one function, parameters among them.
	Locals int
	// Nesting bounds how deep blocks of any kind may lie in one another,
	// LoopNesting how many of those may be loops.
	Nesting, LoopNesting int
	// BranchTable bounds the labels of one br_table, BranchTables those of all
	// in one module together.
	BranchTable, BranchTables int
	// Merges bounds, for one function, the number of places where control flow
	// comes together times the number of its locals: compilers hold a value for
	// each.
	Merges int
	// Globals bounds the globals, imported ones among them.
	Globals int
	// DataSegments and ElementSegments bound the segments, Elements the entries
	// of all element segments together. Data is bounded by ModuleBytes.
	DataSegments, ElementSegments, Elements int
	// MemoryMin bounds the size that a memory starts with, in bytes.
	MemoryMin uint64
	// Tables bounds the tables, TableEntries the entries of all of them together,
	// at the start and grown.
	Tables, TableEntries int
	// Density bounds the places in the code where something is put in, in one
	// module: that many, or one for every eight bytes of the module if these are
	// more. In code that compilers write there is one for 35 to 50 bytes. The pass
	// takes memory for each, and writes some 60 bytes at most.
	Density int
}

// DefaultBounds are in force where nothing else is said.
var DefaultBounds = Bounds{
	ModuleBytes:     32 << 20,
	Types:           10_000,
	ValuesPerType:   128,
	Functions:       200_000,
	Imports:         10_000,
	Exports:         20_000,
	NameBytes:       4096,
	BodyBytes:       4 << 20,
	Locals:          20_000,
	Nesting:         8192,
	LoopNesting:     128,
	BranchTable:     16_384,
	BranchTables:    500_000,
	Merges:          20_000_000,
	Globals:         10_000,
	DataSegments:    50_000,
	ElementSegments: 10_000,
	Elements:        500_000,
	MemoryMin:       1 << 30,
	Tables:          64,
	TableEntries:    1 << 20,
	Density:         1 << 16,
}

// orDefault fills zero fields in.
func (b Bounds) orDefault() Bounds {
	d := DefaultBounds
	return Bounds{
		ModuleBytes:     cmp.Or(b.ModuleBytes, d.ModuleBytes),
		Types:           cmp.Or(b.Types, d.Types),
		ValuesPerType:   cmp.Or(b.ValuesPerType, d.ValuesPerType),
		Functions:       cmp.Or(b.Functions, d.Functions),
		Imports:         cmp.Or(b.Imports, d.Imports),
		Exports:         cmp.Or(b.Exports, d.Exports),
		NameBytes:       cmp.Or(b.NameBytes, d.NameBytes),
		BodyBytes:       cmp.Or(b.BodyBytes, d.BodyBytes),
		Locals:          cmp.Or(b.Locals, d.Locals),
		Nesting:         cmp.Or(b.Nesting, d.Nesting),
		LoopNesting:     cmp.Or(b.LoopNesting, d.LoopNesting),
		BranchTable:     cmp.Or(b.BranchTable, d.BranchTable),
		BranchTables:    cmp.Or(b.BranchTables, d.BranchTables),
		Merges:          cmp.Or(b.Merges, d.Merges),
		Globals:         cmp.Or(b.Globals, d.Globals),
		DataSegments:    cmp.Or(b.DataSegments, d.DataSegments),
		ElementSegments: cmp.Or(b.ElementSegments, d.ElementSegments),
		Elements:        cmp.Or(b.Elements, d.Elements),
		MemoryMin:       cmp.Or(b.MemoryMin, d.MemoryMin),
		Tables:          cmp.Or(b.Tables, d.Tables),
		TableEntries:    cmp.Or(b.TableEntries, d.TableEntries),
		Density:         cmp.Or(b.Density, d.Density),
	}
}
