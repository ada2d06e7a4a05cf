package permissions

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// SourceKind says who wrote a rule. Rules of all sources count together; the
// kind says what may edit it, and who is shown.
type SourceKind uint8

// The sources, the most weighty first.
const (
	SourcePolicy SourceKind = iota
	SourceCommandLine
	SourceSession
	SourceProjectLocal
	SourceProject
	SourceUser
)

var sourceNames = [...]string{"policy", "command line", "session", "project-local", "project", "user"}

// String returns the kind's name, such as "project-local".
func (k SourceKind) String() string {
	if int(k) < len(sourceNames) {
		return sourceNames[k]
	}
	return fmt.Sprintf("source(%d)", uint8(k))
}

// Source is where a rule stands.
type Source struct {
	Kind SourceKind
	// File is the settings file, or empty.
	File string
	// Line is 1-based; 0 is unknown.
	Line int
}

// String returns "project, .toolquay/settings.toml:3" or as much of it as is
// known.
func (s Source) String() string {
	out := s.Kind.String()
	if s.File != "" {
		out += ", " + s.File
		if s.Line > 0 {
			out += ":" + strconv.Itoa(s.Line)
		}
	}
	return out
}

// Rule is one line of a deny, ask or allow list.
type Rule struct {
	Verdict Verdict
	// Tool is the tool it binds, an alias resolved.
	Tool string
	// Spec is what stood in parentheses; empty for the whole tool.
	Spec   string
	Source Source

	text string
	// folder is what a pattern that starts with one slash is relative to.
	folder Dir
	name   nameMatch
	// whole says that the rule binds calls of the tool as such.
	whole bool
	// path is set where it binds accesses to paths: reads where reads is set,
	// and writes where writes is.
	path          *pathSpec
	reads, writes bool
}

// String returns the rule as it was written.
func (r *Rule) String() string { return r.text }

// ParseRule reads a rule. Its warning, if there is one, says what of it is not
// taken as its writer may have meant; the rule is then stricter than written.
//
// A deny or ask rule that reports no error always binds at least what it says.
func ParseRule(v Verdict, text string, src Source, aliases map[string]string) (r Rule, warning string, err error) {
	r = Rule{Verdict: v, Source: src, text: strings.TrimSpace(text)}
	tool, spec, err := cutRule(r.text)
	if err != nil {
		return r, "", err
	}
	r.Tool, r.Spec = tool, spec
	if to, ok := aliases[tool]; ok {
		r.Tool = to
	}
	if r.name, err = parseName(r.Tool, v); err != nil {
		return r, "", err
	}
	if spec == "" {
		r.bindWhole()
		return r, "", nil
	}
	if to, ok := fileTools[r.Tool]; ok {
		return r.bindPath(to)
	}
	if hint := caseHint(r.Tool); hint != "" {
		warning = fmt.Sprintf("names are case-sensitive; the tool is called %s. ", hint)
	}
	if v == Allow {
		return r, warning + "it grants nothing: what is in the parentheses is not understood for this tool", nil
	}
	r.whole = true
	return r, warning + fmt.Sprintf(
		"it binds every call of %s: what is in the parentheses is not understood for this tool", r.Tool), nil
}

// cutRule splits Tool(spec). Tool and Tool(*) are the same.
func cutRule(text string) (tool, spec string, err error) {
	tool, spec, ok := strings.Cut(text, "(")
	if !ok {
		if strings.Contains(text, ")") {
			return "", "", errors.New("a ) without its (")
		}
		if text == "" {
			return "", "", errors.New("the rule is empty")
		}
		return text, "", nil
	}
	spec, ok = strings.CutSuffix(spec, ")")
	switch {
	case !ok:
		return "", "", errors.New("a ( without its ) at the end")
	case spec == "":
		return "", "", errors.New("nothing between the parentheses; leave them out to mean the whole tool")
	case spec == "*":
		spec = ""
	}
	return tool, spec, nil
}

// The tools whose rules speak of paths, whichever tool gets there.
const (
	toolRead = "Read"
	toolEdit = "Edit"
)

// fileTools lists the tools that take paths, and the one whose path rules
// count for them.
var fileTools = map[string]string{
	toolRead: toolRead, "Glob": toolRead, "Grep": toolRead, "LS": toolRead, "NotebookRead": toolRead,
	toolEdit: toolEdit, "Write": toolEdit, "MultiEdit": toolEdit, "NotebookEdit": toolEdit,
}

func caseHint(tool string) string {
	for name := range fileTools {
		if name != tool && strings.EqualFold(name, tool) {
			return name
		}
	}
	return ""
}

// everything is the pattern of a bare Read or Edit in a deny or ask.
var everything = &pathSpec{anchor: anchorRoot}

// bindWhole binds calls of the tool. Denied or asked for as a whole, Read and
// Edit also bind every access of their kind, as Read(*) reads.
func (r *Rule) bindWhole() {
	r.whole = true
	if r.Verdict != Allow && (r.Tool == toolRead || r.Tool == toolEdit) {
		r.path = everything
		r.effects(r.Tool)
	}
}

// effects sets which accesses the path binds. What may not be read may not be
// edited either.
func (r *Rule) effects(tool string) {
	r.reads = tool == toolRead
	r.writes = tool == toolEdit || r.Verdict != Allow
}

// bindPath binds a path rule, written with any file tool; to is Read or Edit.
func (r Rule) bindPath(to string) (Rule, string, error) {
	spec, err := parsePattern(r.Spec)
	if err != nil {
		return r, "", err
	}
	if r.Tool != to && r.Verdict == Allow {
		return r, fmt.Sprintf("it grants nothing: rules on paths are written %s(%s)", to, r.Spec), nil
	}
	r.path = spec
	r.effects(to)
	switch {
	case r.Verdict != Allow && looksLikeParam(r.Spec):
		r.whole = true
		return r, fmt.Sprintf("it may mean a parameter, so it binds every call of %s too; "+
			"write ./ before a path with a colon", r.Tool), nil
	case r.Tool != to:
		return r, fmt.Sprintf("it counts as %s(%s)", to, r.Spec), nil
	}
	return r, "", nil
}

// looksLikeParam reports whether a spec could be param:value.
func looksLikeParam(spec string) bool {
	param, _, ok := strings.Cut(spec, ":")
	return ok && param != "" && strings.Trim(param, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
