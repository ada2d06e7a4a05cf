// Package pathrule holds rules on paths: it reads their patterns, binds them to the
// directories of a session, and finds the first rule that covers a path.
package pathrule

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolquay/toolquay/permissions/internal/glob"
)

const (
	// maxPattern is the longest path pattern, in bytes, and maxSegments the most
	// components it has. Both are more than any real path needs, and small enough to
	// match in microseconds.
	maxPattern  = 1024
	maxSegments = 64
)

// Anchor says what a path pattern is relative to.
type Anchor uint8

// The anchors.
const (
	Root         Anchor = iota // //x: the file system
	Home                       // ~/x
	Folder                     // /x: the settings file's folder
	Cwd                        // ./x and a/x
	AnyDepth                   // x: any depth
	OneDirectory               // x/**: any depth, but for an allow the cwd
)

// Spec is a path pattern as written, not yet bound to any directory.
type Spec struct {
	Anchor Anchor
	// Up is how many directories above the anchor it starts.
	Up   int
	Segs []glob.Segment
	// DirOnly says that it ended in a slash.
	DirOnly bool
}

// Everything is the pattern that matches every path.
var Everything = &Spec{Anchor: Root}

// Parse reads the text between the parentheses of a rule on paths.
func Parse(text string) (*Spec, error) {
	if err := checkPattern(text); err != nil {
		return nil, err
	}
	spec, rest, err := cutAnchor(text)
	if err != nil {
		return nil, err
	}
	if trimmed := strings.TrimRight(rest, "/"); trimmed != rest {
		rest, spec.DirOnly = trimmed, true
	}
	for part := range strings.SplitSeq(rest, "/") {
		if err := spec.add(part); err != nil {
			return nil, err
		}
	}
	if len(spec.Segs) > maxSegments {
		return nil, fmt.Errorf("more than %d path components", maxSegments)
	}
	if spec.Anchor == Cwd && !dotted(text) {
		spec.Anchor = spec.bareAnchor()
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

// hasBraces reports whether the pattern seems to mean brace expansion, which gitignore patterns
// lack. Read literally, such a deny rule would match nothing.
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

func cutAnchor(text string) (spec *Spec, rest string, err error) {
	spec = &Spec{Anchor: Cwd}
	switch {
	case strings.HasPrefix(text, "//"):
		spec.Anchor, rest = Root, text[2:]
	case text[0] == '/':
		spec.Anchor, rest = Folder, text[1:]
	case text == "~" || strings.HasPrefix(text, "~/"):
		spec.Anchor, rest = Home, text[1:]
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
func (s *Spec) add(part string) error {
	switch part {
	case "", ".":
		return nil
	case "..":
		n := len(s.Segs)
		switch {
		case n == 0:
			s.Up++
		case s.Segs[n-1].Literal():
			s.Segs = s.Segs[:n-1]
		default:
			return errors.New(".. after a wildcard names no one directory")
		}
		return nil
	}
	seg, err := glob.Parse(part)
	if err != nil {
		return err
	}
	if seg.Deep && len(s.Segs) > 0 && s.Segs[len(s.Segs)-1].Deep {
		return nil
	}
	s.Segs = append(s.Segs, seg)
	return nil
}

// bareAnchor is the anchor of a pattern that starts with a name.
func (s *Spec) bareAnchor() Anchor {
	switch {
	case s.Up > 0 || len(s.Segs) == 0:
		return Cwd
	case len(s.Segs) == 1 || s.Segs[0].Deep:
		return AnyDepth
	case len(s.Segs) == 2 && s.Segs[1].Deep:
		return OneDirectory
	}
	return Cwd
}
