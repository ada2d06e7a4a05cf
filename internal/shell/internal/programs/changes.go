package programs

import (
	"path"
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// judgeCopy judges cp, mv, ln and install: operands are sources, the last one
// is the destination, which may be a directory to put them into.
func judgeCopy(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	sources := l.operands()
	dest, into := l.value("-t", "--target-directory")
	if !into && len(sources) > 1 {
		dest, sources = sources[len(sources)-1], sources[:len(sources)-1]
	}
	f.Effects = nil
	if l.several != "" && (l.several != l.glob || dest.Text == "") {
		f.Unknown |= permissions.UnknownRead | permissions.UnknownWrite // any of them may be the last
	}
	if l.has("-d", "--directory") && r.name == "install" {
		f.made(l.operands())
		return f
	}
	move := r.name == "mv"
	deep := move || l.deep()
	for _, s := range sources {
		k := kindRead
		if move {
			k = kindRemove
		}
		f.effect(s, k, deep)
	}
	f.destination(dest, into, deep)
	for _, s := range sources {
		f.put(s, dest, deep, l.has("--parents"))
	}
	if move {
		f.Unknown &^= permissions.UnknownMustAsk // a tree stays as it is
	}
	if len(sources) == 0 || dest.Text == "" || dest.Glob || deep && l.has("-T", "--no-target-directory") {
		f.Complete = false
	}
	return f
}

// effect adds what happens to one word's path.
func (f *Finding) effect(a Arg, k kind, deep bool) {
	switch e, ok := (item{arg: a, kind: k}).effect(deep); {
	case ok:
		f.Effects = append(f.Effects, e)
	case !a.Literal:
		f.Complete, f.Unknown = false, f.Unknown|k.unknown(deep)
	}
}

// made adds directories that are made.
func (f *Finding) made(dirs []Arg) {
	for _, d := range dirs {
		f.effect(d, kindWrite, false)
	}
}

// destination adds the destination itself: a file, or the directory.
func (f *Finding) destination(dest Arg, into, deep bool) {
	if dest.Text != "" {
		f.effect(dest, kindWrite, deep && !into)
	}
}

// put adds what a source becomes if the destination is a directory.
func (f *Finding) put(source, dest Arg, deep, parents bool) {
	if !source.Literal && !source.Glob || !dest.Literal && !dest.Glob || dest.Text == "" {
		if dest.Text != "" {
			f.Unknown |= permissions.UnknownWrite
		}
		return
	}
	name := path.Base(source.Text)
	if parents {
		name = source.Text
	}
	if deep && (name == "." || name == ".." || name == "/") {
		f.Complete = false // what is in the source lands among what is there
		return
	}
	target := Arg{
		Text:    strings.TrimRight(dest.Text, "/") + "/" + name,
		Literal: source.Literal && dest.Literal,
		Glob:    source.Glob || dest.Glob,
	}
	f.effect(target, kindWrite, deep)
}

// judgeRmdir judges rmdir, which with -p takes the directories above, too.
func judgeRmdir(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	if !l.has("-p", "--parents") {
		return f
	}
	for _, a := range l.operands() {
		for dir := path.Dir(a.Text); a.Literal && dir != "." && dir != "/"; dir = path.Dir(dir) {
			f.Effects = append(f.Effects, Effect{Kind: permissions.AccessWrite, Name: dir, Removal: true})
		}
		f.Complete = f.Complete && a.Literal
	}
	return f
}

// judgeMktemp judges mktemp, which uses the directory for temporary files if it is given no
// template. A suffix may name a kind of file that rules are about.
func judgeMktemp(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	if l.operandCount() == 0 {
		suffix, _ := l.value("--suffix")
		f.effect(Arg{Text: "/tmp/tmp.XXXXXXXXXX" + suffix.Text, Literal: suffix.Literal || suffix.Text == ""}, kindWrite, false)
	}
	return f
}

// judgeChmod judges chmod, whose mode may look like flags: chmod -x FILE.
func judgeChmod(r *row, args []Arg) Finding {
	words := make([]Arg, len(args))
	for i, a := range args {
		if mode, ok := strings.CutPrefix(a.Text, "-"); ok && a.Literal && mode != "" && strings.Trim(mode, "rwxXst") == "" {
			a.Text = "+" + mode
		}
		words[i] = a
	}
	return r.read(words).finding()
}

// judgeDd judges dd, whose operands are assignments.
func judgeDd(r *row, args []Arg) Finding {
	f := Finding{Complete: true, Reason: r.name + ": " + r.why}
	for _, a := range args {
		name, value, _ := strings.Cut(a.Text, "=")
		if !a.Literal {
			f.Complete, f.Unknown = false, permissions.UnknownRead|permissions.UnknownWrite
			continue
		}
		switch name {
		case "if":
			f.add(permissions.AccessRead, []string{value})
		case "of":
			f.add(permissions.AccessWrite, []string{value})
		case "bs", "cbs", "conv", "count", "ibs", "iflag", "obs", "oflag", "seek", "skip", "status":
		default:
			f.Complete = false
		}
	}
	return f
}

// urlOf is what HostOf in package permissions is to read of a word that curl
// takes for a URL: all of one, since readers disagree about odd ones; of a word
// without a scheme what stands before the path.
func urlOf(word string) string {
	if strings.Contains(word, "://") {
		return word
	}
	if end := strings.IndexAny(word, "/?#"); end > 0 {
		return word[:end]
	}
	return word
}

// hostOf returns the host that a word names: a URL, or user@host:path, or the
// host itself.
func hostOf(word string) string {
	if i := strings.Index(word, "://"); i >= 0 {
		word = word[i+3:]
		if end := strings.IndexAny(word, "/?#"); end >= 0 {
			word = word[:end]
		}
	} else if end := strings.IndexByte(word, '/'); end >= 0 {
		word = word[:end]
	}
	if i := strings.LastIndexByte(word, '@'); i >= 0 {
		word = word[i+1:]
	}
	if strings.HasPrefix(word, "[") {
		host, _, _ := strings.Cut(word[1:], "]")
		return host
	}
	host, _, _ := strings.Cut(word, ":")
	return host
}
