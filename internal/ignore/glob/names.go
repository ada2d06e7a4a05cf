package glob

// Names is a pattern as it speaks of the entries of one directory: what its
// components before the last make of the directory's path is found out once, so
// that each name costs one comparison.
type Names struct {
	all  bool
	last []*segment
}

// In returns what the pattern says of the names in a directory. The empty
// directory is where paths start.
//
//	g.In(dir).Match(name) == g.Match(dir + "/" + name)
func (g *Glob) In(dir string) Names {
	var n Names
	var room [2][maxQuick]bool
	for i := range g.alts {
		p := g.alts[i]
		at := p.positions(dir, &room)
		last := len(p) - 1
		switch {
		case last < 0:
		case at[last] && p[last].deep:
			n.all = true
		case at[last], last > 0 && at[last-1] && p[last-1].deep:
			n.last = append(n.last, &p[last])
		}
	}
	return n
}

// Match reports whether the path of a name matches.
func (n *Names) Match(name string) bool {
	if n.all {
		return true
	}
	for _, s := range n.last {
		if s.match(name) {
			return true
		}
	}
	return false
}

// maxQuick is how many components, and one more, a pattern may have that is gone
// through without an allocation: most have three.
const maxQuick = 16

// positions tells for each component of the pattern whether all before it may
// match a directory's path, so that it is next.
func (p pattern) positions(dir string, room *[2][maxQuick]bool) []bool {
	at, next := room[0][:], room[1][:]
	if len(p) >= maxQuick {
		at, next = make([]bool, len(p)+1), make([]bool, len(p)+1)
	}
	clear(at)
	at[0] = true
	for pos := 0; dir != "" && pos <= len(dir); {
		c := component(dir, pos)
		pos += len(c) + 1
		clear(next)
		for j := range p {
			switch {
			case !at[j]:
			case p[j].deep:
				next[j] = true
				if j+1 < len(p) && p[j+1].match(c) { // a deep component of nothing
					next[j+2] = true
				}
			case p[j].match(c):
				next[j+1] = true
			}
		}
		at, next = next, at
	}
	return at
}
