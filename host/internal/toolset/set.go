package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// Set is what a session offers its model at one moment, in order. The zero value offers
// nothing. It is immutable.
type Set struct {
	selection Selection
	format    Format
	tools     []entry
}

// entry is one tool of a set.
type entry struct {
	Tool
	deferred bool
	// definition is the encoded definition in the set's format.
	definition json.RawMessage
}

// Options are what a set depends on besides the tools.
type Options struct {
	Selection Selection
	// Format is that of the definitions.
	Format Format
	// Known is what the session's model was told before.
	Known *Known
	// Background is true if commands can run in the background. If not, the built-in tools'
	// definitions do not mention it.
	Background bool
}

// New returns the set of those tools that are offered. The tools are sorted. The tool
// [Search] is left out if it would find nothing.
func New(tools []Tool, o *Options) (*Set, error) {
	s := &Set{selection: o.Selection, format: o.Format}
	offered := slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return t.NotOffered != nil })
	for i := range offered {
		t := &offered[i]
		if t.Origin != OriginBuiltin || t.Shaped || o.Background {
			continue
		}
		var err error
		if t.Tool, err = withoutBackground(t.Tool); err != nil {
			return nil, err
		}
	}
	d := newDefiner(&s.selection, s.format, offered)
	var search *Tool
	for i := range offered {
		t := &offered[i]
		if t.isSearch() {
			search = t
			continue
		}
		definition, err := d.define(t, "")
		if err != nil {
			return nil, err
		}
		s.tools = append(s.tools, entry{*t, Deferrable(t.Tool) && !o.Known.inFull(t.Name), definition})
	}
	if search != nil && s.overflows(o.Known.defers()) {
		return s, s.add(search, d)
	}
	for i := range s.tools {
		s.tools[i].deferred = false
	}
	return s, nil
}

// overflows reports whether tools are to be deferred: some can be, and all definitions
// would be too many, or it is asked for, or was done before.
func (s *Set) overflows(before bool) bool {
	o := &s.selection
	if o.Defer == DeferNever || !slices.ContainsFunc(s.tools, func(t entry) bool { return t.deferred }) {
		return false
	}
	tools, chars := o.bounds()
	return o.Defer == DeferAlways || before || len(s.tools) > tools || s.chars() > chars
}

// chars is the size of the list of all definitions as models are shown it, in code points.
func (s *Set) chars() int {
	n := len("[]") + max(len(s.tools)-1, 0) // with the commas
	if s.format == FormatGemini && len(s.tools) > 0 {
		n += len(`{"functionDeclarations":[]}`)
	}
	for i := range s.tools {
		n += s.tools[i].shown(s.format)
	}
	return n
}

// shown is the size of a definition as a model is shown it: clients of MCP keep to themselves
// what results look like.
func (t *entry) shown(f Format) int {
	n := utf8.RuneCount(t.definition)
	var output bytes.Buffer
	if f == FormatMCP && t.OutputSchema != "" && json.Compact(&output, []byte(t.OutputSchema)) == nil {
		n -= len(`"outputSchema":,`) + utf8.RuneCount(output.Bytes())
	}
	return n
}

// add inserts [Search] in its place, with the names of the deferred tools after its
// description. Tools that were loaded stay in that list, so that the text is the same as
// long as the same tools are offered.
func (s *Set) add(search *Tool, d *definer) error {
	var names []string
	for _, t := range s.tools {
		if t.deferred {
			names = append(names, t.Name)
		}
	}
	definition, err := d.define(search, "\n\nDeferred tools: "+strings.Join(names, ", "))
	at, _ := slices.BinarySearchFunc(s.tools, search, func(t entry, search *Tool) int { return compare(&t.Tool, search) })
	s.tools = slices.Insert(s.tools, at, entry{Tool: *search, definition: definition})
	return err
}

// Tell returns the definitions for a request to the model API, and records that the
// model has them. Deferred tools that were not loaded are marked for [FormatAnthropic],
// and left out for the others.
func (s *Set) Tell(k *Known) (json.RawMessage, error) {
	told := make(map[string]bool, len(s.tools))
	list := make([]json.RawMessage, 0, len(s.tools))
	for _, t := range s.tools {
		told[t.Name] = t.deferred
		switch {
		case !t.deferred:
		case s.format == FormatAnthropic:
			t.definition = markDeferred(t.definition)
		case !k.Loaded(t.Name):
			continue
		}
		list = append(list, t.definition)
	}
	var definitions any = list
	if s.format == FormatGemini && len(list) > 0 {
		definitions = []geminiTools{{list}}
	}
	text, err := encode(definitions)
	if err == nil {
		k.tell(s.format, told)
	}
	return text, err
}

// Defers reports whether a tool is offered and deferred.
func (s *Set) Defers(name string) bool { return s.deferred(name) != nil }

// deferred is a deferred tool of the set; nil is none.
func (s *Set) deferred(name string) *entry {
	i := slices.IndexFunc(s.tools, func(t entry) bool { return t.deferred && t.Name == name })
	if i < 0 {
		return nil
	}
	return &s.tools[i]
}

// Ready returns the names of the tools that are not deferred.
func (s *Set) Ready() (names []string) {
	for _, t := range s.tools {
		if !t.deferred {
			names = append(names, t.Name)
		}
	}
	return names
}

// Deferred lists the deferred tools, for the tool that finds them.
func (s *Set) Deferred() (list []abi.DeferredTool) {
	for _, t := range s.tools {
		if t.deferred {
			list = append(list, abi.DeferredTool{Name: t.Name, Hint: t.SearchHint, Description: t.description(), MCP: isMCP(t.Tool.Tool)})
		}
	}
	return list
}

// Suggest names the offered tools in place of one that does not exist: the one whose name
// differs in case only, or else all.
func (s *Set) Suggest(name string) string {
	for _, t := range s.tools {
		if strings.EqualFold(t.Name, name) {
			return fmt.Sprintf("did you mean %s?", t.Name)
		}
	}
	ready := s.Ready()
	switch deferred := len(s.tools) - len(ready); {
	case len(ready) == 0:
		return "no tool is offered"
	case deferred > 0:
		return fmt.Sprintf("there are %s, and %d more that %s finds", strings.Join(ready, ", "), deferred, Search)
	}
	return "there are " + strings.Join(ready, ", ")
}

// Refer returns a result's content with the definition in each reference to a deferred
// tool, for APIs that do not put it there. Other references are left out, as an API
// refuses a message with them, and so is a second reference to the same tool.
func (s *Set) Refer(content []abi.Block) []abi.Block {
	var kept []abi.Block // a new list: the tool may hold on to its own
	known := make(map[string]bool)
	for _, b := range content {
		if isReference(b) {
			t := s.deferred(b.ToolName)
			if t == nil || known[b.ToolName] {
				continue
			}
			known[b.ToolName] = true
			b.Text = fmt.Sprintf("%s can be called now. Its definition:\n%s", t.Name, t.definition)
		}
		kept = append(kept, b)
	}
	return kept
}

// HasReferences reports whether a result's content refers to tools.
func HasReferences(content []abi.Block) bool { return slices.ContainsFunc(content, isReference) }
