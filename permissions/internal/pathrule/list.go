package pathrule

// List are the bound rules of one verdict, in order. Its methods return the place of a rule
// in the list, or None.
type List []Bound

// None is the place of no rule.
const None = -1

// Query is an access to a path, as rules are compared with it.
type Query struct {
	// Target and Real are absolute, clean and with forward slashes; Real may be empty.
	Target, Real string
	Write, Tree  bool
}

// HoldsBack finds the first deny or ask rule that covers the path as it was named or as it
// really is.
func (l List) HoldsBack(q *Query) int {
	for i := range l {
		list := l[i].of(q.Write)
		for j := range list {
			p := &list[j]
			if q.hits(p, q.Target) || q.Real != q.Target && q.Real != "" && q.hits(p, q.Real) {
				return i
			}
		}
	}
	return None
}

// hits compares one path with a pattern of a deny or ask rule. Changing a whole directory
// also changes what the pattern names below it. Searching one does not read that: each file
// found is judged by itself.
func (q *Query) hits(p *Pattern, path string) bool {
	if q.Write && q.Tree {
		return p.Reaches(path)
	}
	return p.Match(path)
}

// Allows finds the first allow rule that covers one name of the path. A rule on a name
// without what is below it does not allow a tree.
func (l List) Allows(q *Query, path string) int {
	for i := range l {
		list := l[i].of(q.Write)
		for j := range list {
			p := &list[j]
			if p.Match(path) && (!q.Tree || p.Segs[len(p.Segs)-1].Deep) {
				return i
			}
		}
	}
	return None
}

// Meets finds the first rule on reading that may cover something in a tree.
func (l List) Meets(t Tree) int {
	for i := range l {
		for j := range l[i].Reads {
			if l[i].Reads[j].Meets(t) {
				return i
			}
		}
	}
	return None
}

// First finds the first rule on reading, or on writing.
func (l List) First(write bool) int {
	for i := range l {
		if len(l[i].of(write)) > 0 {
			return i
		}
	}
	return None
}

func (b *Bound) of(write bool) []Pattern {
	if write {
		return b.Writes
	}
	return b.Reads
}
