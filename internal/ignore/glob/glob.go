// Package glob matches slash-separated paths against the patterns of
// gitignore(5) and, on request, with brace alternatives as ripgrep's -g knows
// them.
//
// A pattern is compiled once; matching allocates nothing and takes time in
// proportion to pattern times path, whatever the pattern: there is no
// backtracking beyond the last star.
package glob

import "strings"

// The bounds of a pattern, against braces that multiply.
const (
	// MaxPattern is the longest pattern, in bytes.
	MaxPattern = 8 << 10
	// MaxAlternatives is the most patterns that braces may stand for.
	MaxAlternatives = 1000
)

// Options say which language a pattern is written in.
type Options struct {
	// Braces makes {a,b} stand for a or b; they may nest. Without it braces
	// are themselves.
	Braces bool
}

// Glob is a compiled pattern. It is safe for concurrent use.
//
// "*" matches within one path component, "?" one code point, "[...]" one of a
// class ("!" or "^" negates, POSIX names as in [[:alpha:]] count), "\" takes
// the meaning from what follows. A component of nothing but two or more stars
// matches any number of components, none included, but at the pattern's end at
// least one.
type Glob struct {
	alts []pattern
}

// Compile reads a pattern. Errors say what is wrong with it.
func Compile(text string, opts Options) (*Glob, error) {
	if len(text) > MaxPattern {
		return nil, errorf("pattern of %d bytes is over the limit of %d", len(text), MaxPattern)
	}
	texts := []string{text}
	if opts.Braces {
		var err error
		if texts, err = expand(text); err != nil {
			return nil, err
		}
	}
	g := &Glob{alts: make([]pattern, 0, len(texts))}
	for _, t := range texts {
		p, err := parse(t)
		if err != nil {
			return nil, err
		}
		g.alts = append(g.alts, p)
	}
	return g, nil
}

// Match reports whether the whole path matches. The path has no leading slash.
func (g *Glob) Match(path string) bool {
	for i := range g.alts {
		if g.alts[i].match(path) {
			return true
		}
	}
	return false
}

// MayContain reports whether a path below the directory could match. The empty
// directory is where paths start.
func (g *Glob) MayContain(dir string) bool {
	for i := range g.alts {
		if g.alts[i].mayContain(dir) {
			return true
		}
	}
	return false
}

// pattern is a list of components to match in turn.
type pattern []segment

// component returns the path component that starts at i.
func component(path string, i int) string {
	if n := strings.IndexByte(path[i:], '/'); n >= 0 {
		return path[i : i+n]
	}
	return path[i:]
}

// match walks path and pattern side by side. A mismatch goes back to the last
// deep component only and lets it take one component more: an earlier one could
// not reach further.
func (p pattern) match(path string) bool {
	seg, pos := 0, 0 // pos is past len(path) when no component is left
	backSeg, backPos := -1, 0
	for {
		switch {
		case seg < len(p) && p[seg].deep:
			if seg == len(p)-1 {
				return pos <= len(path)
			}
			backSeg, backPos = seg, pos
			seg++
			continue
		case pos > len(path):
			return seg == len(p)
		case seg < len(p):
			c := component(path, pos)
			if p[seg].match(c) {
				seg++
				pos += len(c) + 1
				continue
			}
		}
		if backSeg < 0 {
			return false
		}
		backPos += len(component(path, backPos)) + 1
		if backPos > len(path) {
			return false
		}
		seg, pos = backSeg+1, backPos
	}
}

func (p pattern) mayContain(dir string) bool {
	if dir == "" {
		return true
	}
	seg := 0
	for c := range strings.SplitSeq(dir, "/") {
		switch {
		case seg == len(p):
			return false
		case p[seg].deep:
			return true
		case !p[seg].match(c):
			return false
		}
		seg++
	}
	return seg < len(p)
}
