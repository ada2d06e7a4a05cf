// Package ignore reads files in the format of gitignore(5) and says which paths
// they name. It looks at no file system: callers walk, and ask about each path
// from the top down, since what lies in an ignored directory is ignored with
// it.
package ignore

import (
	"bytes"
	"strings"

	"github.com/toolquay/toolquay/internal/ignore/glob"
)

// Verdict is what a list of rules says of one path.
type Verdict uint8

// The verdicts. No rule speaks of a path that is None.
const (
	None Verdict = iota
	Ignored
	Included
)

// Rules is one compiled file of patterns. The zero value has none. It is safe
// for concurrent use.
type Rules struct {
	rules []rule
}

// rule is one line. Of glob, name and suffix exactly one is set; the latter two
// are what most lines are, and need no engine.
type rule struct {
	glob   *glob.Glob
	name   string // the whole last component
	suffix string // how the last component ends
	// base says that only the last component of a path is compared.
	base    bool
	dirOnly bool
	negated bool
}

// Parse compiles the text of an ignore file. As in git, a line that is no
// pattern matches nothing.
func Parse(text []byte) *Rules {
	r := &Rules{}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		s := trimSpaces(string(bytes.TrimSuffix(line, []byte("\r"))))
		if s == "" || s[0] == '#' {
			continue
		}
		if one, err := compile(s, glob.Options{}); err == nil {
			r.add(one)
		}
	}
	return r
}

// ParseGlobs compiles patterns of the same form given one by one, with braces,
// as ripgrep's -g takes them.
func ParseGlobs(globs []string) (*Rules, error) {
	r := &Rules{}
	for _, g := range globs {
		one, err := compile(g, glob.Options{Braces: true})
		if err != nil {
			return nil, err
		}
		r.add(one)
	}
	return r, nil
}

func (r *Rules) add(one rule) {
	if one.glob != nil || one.name != "" || one.suffix != "" {
		r.rules = append(r.rules, one)
	}
}

// Len returns the number of rules.
func (r *Rules) Len() int {
	if r == nil {
		return 0
	}
	return len(r.rules)
}

// Plain returns the number of rules that do not negate.
func (r *Rules) Plain() int {
	n := 0
	for i := range r.rules {
		if !r.rules[i].negated {
			n++
		}
	}
	return n
}

// Match says what the rules make of a path relative to the directory they lie
// in, with slashes. The last rule that matches decides.
func (r *Rules) Match(path string, dir bool) Verdict {
	if r == nil {
		return None
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(r.rules) - 1; i >= 0; i-- {
		one := &r.rules[i]
		if one.dirOnly && !dir || !one.match(path, base) {
			continue
		}
		if one.negated {
			return Included
		}
		return Ignored
	}
	return None
}

func (one *rule) match(path, base string) bool {
	switch {
	case one.name != "":
		return base == one.name
	case one.suffix != "":
		return strings.HasSuffix(base, one.suffix)
	case one.base:
		return one.glob.Match(base)
	}
	return one.glob.Match(path)
}

// compile reads one pattern. A rule without glob, name and suffix matches
// nothing.
func compile(s string, opts glob.Options) (rule, error) {
	var one rule
	if s, one.negated = strings.CutPrefix(s, "!"); s == "" {
		return one, nil
	}
	s, one.dirOnly = strings.CutSuffix(s, "/")
	s, anchored := strings.CutPrefix(s, "/")
	if s == "" {
		return one, nil
	}
	one.base = !anchored && !strings.Contains(s, "/")
	if one.base {
		special := `*?[\`
		if opts.Braces {
			special += "{}"
		}
		if !strings.ContainsAny(s, special) {
			one.name = s
			return one, nil
		}
		if tail, ok := strings.CutPrefix(s, "*"); ok && tail != "" && !strings.ContainsAny(tail, special) {
			one.suffix = tail
			return one, nil
		}
	}
	var err error
	one.glob, err = glob.Compile(s, opts)
	return one, err
}

// trimSpaces takes spaces off the end of a line, but not one that a backslash
// keeps.
func trimSpaces(s string) string {
	t := strings.TrimRight(s, " ")
	slashes := len(t) - len(strings.TrimRight(t, `\`))
	if slashes%2 == 1 && len(t) < len(s) {
		t += " "
	}
	return t
}
