package glob

import (
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Match compares the components of a path with segments. Going back to the latest
// deep segment is enough: an earlier one could only have taken what the latest
// can take as well. So the time is at most the product of the lengths.
func Match(segs []Segment, rest string, fold bool) bool {
	i, star, after := 0, -1, ""
	for rest != "" {
		if i < len(segs) {
			if segs[i].Deep {
				if i == len(segs)-1 {
					return true
				}
				star, after = i, rest
				i++
				continue
			}
			name, tail := paths.Cut(rest)
			if segs[i].Match(name, fold) {
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
	for i < len(segs) && segs[i].Deep {
		i++
	}
	return i == len(segs)
}

// Names are the segments that match the components of a path.
func Names(path string) []Segment {
	var segs []Segment
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		segs = append(segs, Segment{Text: part})
	}
	return segs
}

// Deepen lets a pattern match at any depth.
func Deepen(segs []Segment) []Segment {
	if len(segs) > 0 && segs[0].Deep {
		return segs
	}
	return append([]Segment{AnyDepth}, segs...)
}

// Cover makes a pattern cover what lies below its matches.
func Cover(segs []Segment) []Segment {
	if n := len(segs); n > 0 && segs[n-1].Deep {
		return segs
	}
	return append(slices.Clip(segs), AnyDepth)
}

// Shallow undoes [Cover]: the pattern without what lies below its matches.
func Shallow(segs []Segment) []Segment {
	for n := len(segs); n > 0 && segs[n-1].Deep; n-- {
		segs = segs[:n-1]
	}
	return segs
}

// DeepInside reports whether a pattern matches at any depth, apart from what lies below its
// matches.
func DeepInside(segs []Segment) bool {
	segs = Shallow(segs)
	return slices.ContainsFunc(segs, func(s Segment) bool { return s.Deep })
}

// Reach tells for each i whether the first i segments of a pattern match all
// components of a path.
func Reach(segs []Segment, rest string, fold bool) []bool {
	now := make([]bool, len(segs)+1)
	now[0] = true
	spread(now, segs)
	for some := true; some && rest != ""; {
		var name string
		name, rest = paths.Cut(rest)
		some = false
		// Backwards, so that each is looked at before it is overwritten.
		for i := len(segs); i >= 0; i-- {
			stays := i < len(segs) && segs[i].Deep && now[i]
			now[i] = stays || i > 0 && !segs[i-1].Deep && now[i-1] && segs[i-1].Match(name, fold)
			some = some || now[i]
		}
		spread(now, segs)
	}
	return now
}

// AllDeep reports whether all segments match any number of components.
func AllDeep(segs []Segment) bool {
	for i := range segs {
		if !segs[i].Deep {
			return false
		}
	}
	return true
}

// Overlap reports whether some path may match both the segments and a shell's pattern,
// which is given component by component.
func Overlap(segs []Segment, glob []string, fold bool) bool {
	// reach[i] is whether the first i segments may match the components so far.
	reach := make([]bool, len(segs)+1)
	reach[0] = true
	spread(reach, segs)
	for _, part := range glob {
		if part == "**" { // all that lies below the matches
			return slices.Contains(reach, true)
		}
		next := make([]bool, len(segs)+1)
		for i := range segs {
			if segs[i].Deep {
				next[i] = next[i] || reach[i]
			} else if reach[i] && segs[i].overlaps(part, fold) {
				next[i+1] = true
			}
		}
		reach = next
		spread(reach, segs)
	}
	return reach[len(segs)]
}

// spread lets deep segments match nothing.
func spread(reach []bool, segs []Segment) {
	for i := range segs {
		if segs[i].Deep && reach[i] {
			reach[i+1] = true
		}
	}
}

// overlaps reports whether some name may match both the segment and a component of a
// shell's pattern.
func (s *Segment) overlaps(part string, fold bool) bool {
	if dot, known := s.dotted(); known && dot != strings.HasPrefix(part, ".") {
		return false // no wildcard of a shell matches a leading dot, nor does a class
	}
	if !s.Literal() {
		return s.suffix == "" || fold || mayEndSo(part, s.suffix)
	}
	name := s.Text
	if fold {
		name, part = paths.Fold(name), paths.Fold(part)
	}
	hit, err := path.Match(part, name)
	return hit || err != nil || strings.Contains(part, "[")
}

// dotted reports whether all names that the segment matches begin with a dot, or none.
// Known is false where only some do.
func (s *Segment) dotted() (dot, known bool) {
	switch {
	case s.Literal():
		return strings.HasPrefix(s.Text, "."), true
	case !s.Deep && s.ops[0].kind == opRune:
		return s.ops[0].r == '.', true
	}
	return false, false
}

// mayEndSo reports whether a name that a shell's pattern matches may have a
// suffix: not where the pattern's own end is another.
func mayEndSo(part, suffix string) bool {
	end := part[strings.LastIndexAny(part, "*?[]")+1:]
	return strings.HasSuffix(end, suffix) || strings.HasSuffix(suffix, end)
}
