package permissions

import (
	"slices"
	"strings"
)

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

// gitMoves are the forms of git that change a repository by what it holds, and by files of the work
// tree: they bring nothing into it from elsewhere.
var gitMoves = []string{
	"add", "commit", "stash", "rm", "mv", "switch", "checkout", "restore", "reset", "merge", "rebase", "cherry-pick", "revert", "branch", "tag",
}

// Moves reports, of a tree that git prints content of though it is not [Command.Foreseen], whether
// that can still be told by what the repository holds as a whole: all commits, whether or not
// anything leads to them, and what is staged. It can where the command runs wholly confined, and
// all that its parts know git to do is to move between commits and to take in files in sight.
// Programs that are not known may do more; but what they could have git print, they could print
// themselves. Words, with NULs between them, are those that may name any object.
func (c *Command) Moves(a Access) (words string, ok bool) {
	if c.Fault != "" || c.Unsandboxed || a.Former == "" || a.Former == FormerUnknown {
		return "", false
	}
	var named []string
	if a.Objects != "" {
		named = append(named, a.Objects)
	}
	for i := range c.Parts {
		p := &c.Parts[i]
		if slices.Contains(p.Accesses, a) && (!p.ReadOnly || p.Inner) {
			return "", false
		}
		if !p.git() || p.ReadOnly {
			continue
		}
		if len(p.Words) < 2 || !slices.Contains(gitMoves, p.Words[1].Text) || len(p.Env) > 0 {
			return "", false
		}
		for _, w := range p.Words[1:] {
			if !w.Literal {
				return "", false
			}
		}
		for _, w := range p.Words[2:] {
			named = append(named, objectsIn(w.Text)...)
		}
	}
	return strings.Join(named, "\x00"), true
}

// objectsIn are what a word of git may name an object by: itself, or the value of a flag.
func objectsIn(word string) []string {
	if strings.ContainsAny(word, "\n\r") {
		return nil // a message: no object has such a name
	}
	if !strings.HasPrefix(word, "-") {
		return []string{word}
	}
	_, value, _ := strings.Cut(word, "=")
	if value == "" && !strings.HasPrefix(word, "--") && len(word) > 2 {
		value = word[2:]
	}
	if value == "" {
		return nil
	}
	return []string{value}
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
