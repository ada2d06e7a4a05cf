package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
)

// feed is what is known of the names that a pipe brings.
type feed struct {
	// dir is what all names lie in. They begin with it, unless bare is set.
	dir string
	// bare says that they are names in the working directory, without a slash, however
	// they are split: each may look like a flag.
	bare bool
}

// The words that stand for names of a feed. The NUL tells them from what anybody writes.
const (
	fedPath = "./\x00*"
	fedName = "\x00*"
)

// text is the word for a name of the feed.
func (f *feed) text() string {
	if f.bare {
		return fedName
	}
	return fedPath
}

// isFed reports whether an effect is on the names of a feed.
func isFed(e *programs.Effect) bool { return e.Name == fedPath || e.Name == fedName }

// feeding finds what the left side of a pipe brings to the right side.
func (a *analysis) feeding(cmd *syntax.BinaryCmd, s state) {
	to, ok := cmd.Y.Cmd.(*syntax.CallExpr)
	delete(a.brought, to) // of an earlier turn of a loop
	from, simple := cmd.X.Cmd.(*syntax.CallExpr)
	if !ok || !simple || cmd.Op != syntax.Pipe || s.shaken != "" || a.unfollowed || len(from.Assigns) > 0 ||
		slices.ContainsFunc(cmd.Y.Redirs, mayFeed) || slices.ContainsFunc(cmd.X.Redirs, printsMore) {
		return
	}
	var words []word
	for _, arg := range from.Args {
		words = append(words, a.fields(arg, &s)...)
	}
	if len(words) == 0 || slices.ContainsFunc(words, func(w word) bool { return !w.Literal }) {
		return
	}
	if f := feedOf(words); f != nil {
		a.brought[to] = f
	}
}

// mayFeed reports whether a redirection may have a command read something else than its
// pipe: all may but those of what it prints to a file.
func mayFeed(r *syntax.Redirect) bool {
	printed := r.N == nil || r.N.Value == "1" || r.N.Value == "2"
	return !printed || r.Op != syntax.RdrOut && r.Op != syntax.AppOut && (r.Op != syntax.DplOut || r.N == nil)
}

// printsMore reports whether a redirection may change what a command prints: all may but
// those that throw its complaints away.
func printsMore(r *syntax.Redirect) bool {
	return r.Op != syntax.RdrOut || r.N == nil || r.N.Value != "2" || r.Word.Lit() != "/dev/null"
}

// feedOf is what ls and find print, if it is known.
func feedOf(words []word) *feed {
	args := make([]programs.Arg, len(words)-1)
	for i, w := range words[1:] {
		args[i] = w.Arg
	}
	switch words[0].Text {
	case "ls":
		if !slices.ContainsFunc(args, func(w programs.Arg) bool {
			return w.Text == "-" || strings.Trim(w.Text, "-1aAtrS") != "" || !strings.HasPrefix(w.Text, "-")
		}) {
			return &feed{dir: ".", bare: true}
		}
	case "find":
		if dir, ok := programs.FindNames(args); ok {
			return &feed{dir: dir}
		}
	}
	return nil
}

// calm programs have no flag that names a file, and read no directory.
var calm = []string{"cat", "head", "nl", "rev", "cut", "fold", "echo", "basename", "dirname"}

// named puts names of the input into the command that xargs starts, where it is known what
// they are: none may then make it do more than read them. It returns no words elsewhere.
func (a *analysis) named(words, inner []word, f *feed) []word {
	args := make([]programs.Arg, len(words)-1)
	for i := range args {
		args[i] = words[i+1].Arg
	}
	x, ok := programs.ReadXargs(args)
	name := base(inner)
	if !ok || !programs.Plain(name) || path.Base(inner[0].Text) != inner[0].Text {
		return nil
	}
	item := word{Arg: programs.Arg{Text: "..."}}
	switch {
	case f == nil:
	case f.bare && slices.Contains(calm, name), !f.bare && x.NUL:
		item.fed = f
	}
	inner = slices.Clone(inner)
	if last := len(inner) - 1; x.Mark != "" {
		inner = inner[:last] // nothing is put behind it
	} else {
		// One name may be a flag's value, or a pattern, and the next one a file.
		inner = append(inner[:last], item, item)
	}
	for i := range inner {
		switch w := &inner[i]; {
		case x.Mark == "" || !strings.Contains(w.Text, x.Mark):
		case w.Text == x.Mark && item.fed != nil:
			*w = item
		default:
			w.Literal = false
		}
	}
	return inner
}

// xargs makes of what is known of xargs with flags what is known of the command that it
// starts, and returns that command, if it only reads.
func (a *analysis) xargs(words []word, found *programs.Finding, f *feed) []word {
	if base(words) != "xargs" || len(found.Inner) != 1 || found.Inner[0].Shell != "" || found.Inner[0].Transparent {
		return nil
	}
	inner := a.named(words, innerWords(&found.Inner[0], words), f)
	if len(inner) == 0 {
		return nil
	}
	// Without a name it may run, too.
	bare := slices.DeleteFunc(slices.Clone(inner), func(w word) bool { return !w.Literal && (w.fed != nil || w.Text == "...") })
	with, without := a.judge(inner), a.judge(bare)
	if !with.ReadOnly || !without.ReadOnly || with.Unknown|without.Unknown != 0 || len(with.Inner)+len(without.Inner) > 0 {
		return nil
	}
	*found = programs.Finding{
		ReadOnly: true, Complete: true, Effects: slices.Concat(with.Effects, without.Effects),
		Reason: "xargs starts a command that only reads, whatever its input is",
	}
	return inner
}
