package permissions

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

const (
	// maxPattern is the longest path pattern, in bytes, and maxSegments the
	// most components it has: more than any path a system takes needs, and few
	// enough that matching one against a path stays in microseconds.
	maxPattern  = 1024
	maxSegments = 64
)

// anchor says what a path pattern is relative to.
type anchor uint8

const (
	anchorRoot     anchor = iota // //x: the file system
	anchorHome                   // ~/x
	anchorSettings               // /x: the settings file's folder
	anchorCwd                    // ./x and a/x
	anchorAny                    // x: any depth
	anchorOneDir                 // x/**: any depth, but for an allow the cwd
)

// pathSpec is a path pattern as written, not yet bound to any directory.
type pathSpec struct {
	anchor anchor
	// up is how many directories above the anchor it starts.
	up   int
	segs []segment
	// dirOnly says that it ended in a slash.
	dirOnly bool
}

// parsePattern reads what stands in the parentheses of a path rule.
func parsePattern(text string) (*pathSpec, error) {
	if err := checkPattern(text); err != nil {
		return nil, err
	}
	spec, rest, err := cutAnchor(text)
	if err != nil {
		return nil, err
	}
	if trimmed := strings.TrimRight(rest, "/"); trimmed != rest {
		rest, spec.dirOnly = trimmed, true
	}
	for part := range strings.SplitSeq(rest, "/") {
		if err := spec.add(part); err != nil {
			return nil, err
		}
	}
	if len(spec.segs) > maxSegments {
		return nil, fmt.Errorf("more than %d path components", maxSegments)
	}
	if spec.anchor == anchorCwd && !dotted(text) {
		spec.anchor = spec.bareAnchor()
	}
	return spec, nil
}

func checkPattern(text string) error {
	switch {
	case text == "":
		return errors.New("nothing between the parentheses")
	case len(text) > maxPattern:
		return fmt.Errorf("a path pattern of %d bytes; at most %d are read", len(text), maxPattern)
	case !utf8.ValidString(text):
		return errors.New("a path pattern that is not UTF-8")
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("a control character in a path pattern")
	case text[0] == '!':
		return errors.New("patterns cannot be negated; write \\! for a name that starts so")
	case text[0] == ' ' || strings.HasSuffix(text, " ") && !strings.HasSuffix(text, `\ `):
		return errors.New("a space at the edge of a path pattern; write \\ before it if it is meant")
	case hasBraces(text):
		return errors.New("{a,b} is not expanded; write one rule each, or \\{ for the character")
	}
	return nil
}

// hasBraces reports whether the pattern looks as if it meant brace expansion,
// which gitignore patterns lack: read literally, such a deny would be void.
func hasBraces(text string) bool {
	open := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			open = true
		case '}':
			open = false
		case ',':
			if open {
				return true
			}
		}
	}
	return false
}

func cutAnchor(text string) (spec *pathSpec, rest string, err error) {
	spec = &pathSpec{anchor: anchorCwd}
	switch {
	case strings.HasPrefix(text, "//"):
		spec.anchor, rest = anchorRoot, text[2:]
	case text[0] == '/':
		spec.anchor, rest = anchorSettings, text[1:]
	case text == "~" || strings.HasPrefix(text, "~/"):
		spec.anchor, rest = anchorHome, text[1:]
	case text[0] == '~':
		return nil, "", errors.New("another user's home is not looked up; write the path out, with // before it")
	default:
		rest = text
	}
	return spec, rest, nil
}

// dotted reports whether a relative pattern starts with . or .. as a component
// of its own, which ties it to the working directory.
func dotted(text string) bool {
	first, _, _ := strings.Cut(text, "/")
	return first == "." || first == ".."
}

// add appends one component, resolving . and .. by name.
func (s *pathSpec) add(part string) error {
	switch part {
	case "", ".":
		return nil
	case "..":
		n := len(s.segs)
		switch {
		case n == 0:
			s.up++
		case s.segs[n-1].literal():
			s.segs = s.segs[:n-1]
		default:
			return errors.New(".. after a wildcard names no one directory")
		}
		return nil
	}
	seg, err := parseSegment(part)
	if err != nil {
		return err
	}
	if seg.deep && len(s.segs) > 0 && s.segs[len(s.segs)-1].deep {
		return nil
	}
	s.segs = append(s.segs, seg)
	return nil
}

// bareAnchor settles what a pattern that starts with a name is relative to.
func (s *pathSpec) bareAnchor() anchor {
	switch {
	case s.up > 0 || len(s.segs) == 0:
		return anchorCwd
	case len(s.segs) == 1 || s.segs[0].deep:
		return anchorAny
	case len(s.segs) == 2 && s.segs[1].deep:
		return anchorOneDir
	}
	return anchorCwd
}

// pattern is a path pattern bound to a directory.
type pattern struct {
	// base is an absolute directory without a trailing slash, empty for the
	// root; segs match what is below it.
	base string
	segs []segment
	fold bool
	// name is "/x" where the pattern says no more than that some component of
	// the path is x.
	name string
}

func newPattern(base string, segs []segment, fold bool) pattern {
	if base == "/" {
		base = ""
	}
	p := pattern{base: base, segs: segs, fold: fold}
	if fold && base != "" {
		p.base, p.segs = "", append(literals(base), segs...)
	}
	// One comparison of a long base is quicker than many of its components.
	for !fold && len(p.segs) > 0 && p.segs[0].literal() {
		p.base += "/" + p.segs[0].text
		p.segs = p.segs[1:]
	}
	if p.base == "" && !fold && len(segs) == 3 && segs[0].deep && segs[1].literal() && segs[2].deep {
		p.name = "/" + segs[1].text
	}
	return p
}

func literals(path string) []segment {
	var segs []segment
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		segs = append(segs, segment{text: part})
	}
	return segs
}

// match reports whether the pattern matches an absolute, clean path.
func (p *pattern) match(path string) bool {
	if p.name != "" {
		return paths.HasComponent(path, p.name)
	}
	rest, ok := paths.Below(p.base, path)
	return ok && matchSegments(p.segs, rest, p.fold)
}

// reaches reports whether the pattern matches the path or may match something
// below it.
func (p *pattern) reaches(path string) bool {
	if _, above := paths.Below(path, p.base); above || path == "/" {
		return true
	}
	rest, ok := paths.Below(p.base, path)
	if !ok {
		return false
	}
	for i := range p.segs {
		if p.segs[i].deep || rest == "" {
			return true
		}
		var name string
		name, rest = paths.Cut(rest)
		if !p.segs[i].match(name, p.fold) {
			return false
		}
	}
	return rest == ""
}

// matchSegments matches components against segments. Going back to the latest
// deep segment is enough: an earlier one could only have taken what the latest
// can take as well. So the time is at most the product of the lengths.
func matchSegments(segs []segment, rest string, fold bool) bool {
	i, star, after := 0, -1, ""
	for rest != "" {
		if i < len(segs) {
			if segs[i].deep {
				if i == len(segs)-1 {
					return true
				}
				star, after = i, rest
				i++
				continue
			}
			name, tail := paths.Cut(rest)
			if segs[i].match(name, fold) {
				i, rest = i+1, tail
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, after = paths.Cut(after)
		rest, i = after, star+1
	}
	for i < len(segs) && segs[i].deep {
		i++
	}
	return i == len(segs)
}
