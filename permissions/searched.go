package permissions

import "slices"

// Searched returns the trees that commands read and in which deny or ask rules on reading
// may name something: each is asked about, unless it is in [Request.Clear]. It belongs there
// where all of this is so:
//
//   - nothing that [SandboxPolicy.Withholds] names is in the tree, under either name of it, or
//     nothing runs but what only reads, in a sandbox that hides it ([SandboxPolicy.HidesIn]);
//   - with a Glob, each path that the pattern matches is an access of its own, as far as it
//     may be withheld;
//   - with a Former, nothing of the kind is in the index or the history of that work tree,
//     and its Objects are commits of that history.
func (p *Policy) Searched(commands []Command) []Access {
	var out []Access
	for i := range commands {
		for j := range commands[i].Parts {
			for _, a := range commands[i].Parts[j].Accesses {
				if a.Kind == AccessRead && a.Tree && !slices.Contains(out, a) && p.book.mayWithhold(a.tree()) {
					out = append(out, a)
				}
			}
		}
	}
	return out
}

// Foreseen reports whether a command finds in a tree only what is there before it starts or, if
// confined, what a sandbox lets it see. That holds for programs that are known to read; links that
// they follow are accesses of their own. Other programs of the command may write before they
// search, unless they only do plain things to files: that matters without a sandbox, and where git
// may bring back files that do not exist yet. Reads says that the command can do no more than
// read: see [Policy.OnlyReads].
func (c *Command) Foreseen(a Access, confined, reads bool) bool {
	if c.Fault != "" || c.Unsandboxed && confined || a.Former == FormerUnknown {
		return false
	}
	bounded := c.ReadOnly || c.Restrained || reads
	for i := range c.Parts {
		p := &c.Parts[i]
		git := p.git()
		// What another program starts may search elsewhere.
		if slices.Contains(p.Accesses, a) && (!p.ReadOnly && !reads || p.Inner && !bounded) || git && !bounded && !p.ReadOnly {
			return false
		}
	}
	return bounded || confined && a.Former == ""
}
