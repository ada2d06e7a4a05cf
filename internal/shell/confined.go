package shell

import (
	"strings"

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
)

// onlyReads reports whether a program only reads, whichever names are put in the place of words
// that are only known when it runs: it does so with a plain name there. What such a word may
// turn out to be besides, such as a flag, matters to a command that can write nothing and reach
// no host no more than which file it names. What the program starts must be known to only read,
// too, and so must a script for awk and its like.
func (a *analysis) onlyReads(words []word, depth int) bool {
	if depth > maxInner || !words[0].Literal {
		return false
	}
	named, unknown := make([]word, len(words)), false
	for i := range words {
		w := words[i]
		if w.braced || w.Literal && w.under {
			return false
		}
		if !w.Literal && w.fed == nil && !w.pipe {
			w.Text, w.Literal, w.Glob, w.Single = plainName(&w), true, false, false
			unknown = true
		}
		named[i] = w
	}
	if unknown && programs.Scripted(base(words), arguments(words)) {
		return false
	}
	found := a.judge(named)
	if found.ReadOnly || found.Confined {
		return len(found.Inner) == 0
	}
	return a.startsReaders(named, depth)
}

// arguments are the words behind a program.
func arguments(words []word) []programs.Arg {
	args := make([]programs.Arg, len(words)-1)
	for i := range args {
		args[i] = words[i+1].Arg
	}
	return args
}

// plainName is a name in the place of a word: what is known of its beginning stays.
func plainName(w *word) string {
	known := w.prefix
	if known == "" {
		known = w.Text
		if i := strings.IndexAny(known, "$`*?[{\"'<\\~"); i >= 0 {
			known = known[:i]
		}
	}
	if known == "" {
		return "./x"
	}
	return known + "x"
}

// startsReaders reports whether xargs or find starts nothing but what only reads, and does no
// more than that itself. Git is not among what it starts: it is kept from running what a
// repository names by a function of the shell.
func (a *analysis) startsReaders(words []word, depth int) bool {
	args := arguments(words)
	switch base(words) {
	case "xargs":
		if _, ok := programs.ReadXargs(args); !ok {
			return false
		}
	case "find":
		if !programs.FindStarts(args) {
			return false
		}
	default:
		return false
	}
	found := a.judge(words)
	for i := range found.Inner {
		inner := innerWords(&found.Inner[i], words)
		if found.Inner[i].Shell != "" || len(inner) == 0 || programs.NeedsEnvironment(base(inner)) || !a.onlyReads(inner, depth+1) {
			return false
		}
	}
	return len(found.Inner) > 0
}
