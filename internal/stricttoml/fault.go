package stricttoml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/visible"
)

// maxFaults bounds how many faults one document is reported to have. Who has
// more reads none of them.
const maxFaults = 100

// maxPath is the longest path a fault shows, in bytes.
const maxPath = 200

// Fault is one thing wrong with a document.
type Fault struct {
	// Line is 1-based; 0 where no line can be named.
	Line int
	// Path is the value that is wrong, or empty for the whole document.
	Path string
	// Message says what is wrong with it.
	Message string
}

// maxMessage is the longest message that a fault shows, in bytes.
const maxMessage = 500

// String returns the fault as "line 12: tools[2].name: ...", in one line whatever names
// and values of the document it repeats.
func (f Fault) String() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", f.Line)
	}
	if f.Path != "" {
		b.WriteString(visible.Short(f.Path, maxPath))
		b.WriteString(": ")
	}
	b.WriteString(visible.Short(f.Message, maxMessage))
	return b.String()
}

// sorted returns the faults in order of lines, cut to what a reader can use.
func sorted(fs []Fault) []Fault {
	slices.SortStableFunc(fs, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	if more := len(fs) - maxFaults; more > 0 {
		fs = append(fs[:maxFaults:maxFaults], Fault{Message: fmt.Sprintf("and %d more faults", more)})
	}
	return fs
}
