package stricttoml

// Form is how a value is written.
type Form uint8

// The forms. A table that is only implied, by [a.b] or by a.b = 1, has none.
const (
	// FormNone is of what the document does not have, or has without writing it.
	FormNone Form = iota
	// FormValue stands after an equals sign or in an array: a scalar, an array,
	// an inline table.
	FormValue
	// FormTable is under a [header], or one of those under a [[header]].
	FormTable
	// FormTables is the array of all tables under one [[header]].
	FormTables
)

// Layout is where and how a value is written, for those who change documents
// without rewriting them. Offsets are in bytes from the document's start.
type Layout struct {
	Form Form
	// Start and End enclose the value: its text for FormValue, brackets and
	// braces included; for FormTable the header up to the end of the last value
	// that stands under it. They are 0 for other forms.
	Start, End int
	// Elems is how many elements an array has.
	Elems int
	// Keys are the keys of a table, sorted, however it is written.
	Keys []string
}

// Layout returns how the value at a path such as "tools[2].name" is written.
func (d *Document) Layout(path string) Layout {
	n, found := d.find(path)
	if !found {
		return Layout{}
	}
	l := Layout{Form: n.form, Elems: len(n.elems), Keys: sortedKeys(n.kids)}
	if n.form == FormValue || n.form == FormTable {
		l.Start, l.End = n.start, n.end
	}
	return l
}
