package programs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// Judge says what a simple command does, by its program's row of the table. A
// program without a row is not known: neither ReadOnly nor Complete.
//
// What it says of read-only commands holds where they run under [Environment].
func Judge(argv []Arg) Finding {
	if len(argv) == 0 {
		return Finding{Reason: "there is no command"}
	}
	if !argv[0].Literal {
		return Finding{Reason: "which program runs is not known before it does"}
	}
	name, byPath := programName(argv[0].Text)
	r := table()[name]
	if r == nil || strings.Contains(name, " ") { // which is a sub-command's row
		return Finding{Reason: argv[0].Text + " is not on the list of known programs"}
	}
	f := r.find(argv[1:])
	if byPath && r.byName && f.ReadOnly {
		f.ReadOnly, f.Complete = false, false
		f.Reason = argv[0].Text + " called by its path goes round what makes it safe"
	}
	return f
}

// NeedsEnvironment reports whether a program only reads, where it does, because
// [Environment] keeps it from what a repository names.
func NeedsEnvironment(program string) bool {
	r := table()[program]
	return r != nil && (r.byName || r.env)
}

// programName takes the directory off a program of the system. One elsewhere is
// another program, whatever its name.
func programName(text string) (name string, byPath bool) {
	for _, dir := range []string{"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"} {
		if name, ok := strings.CutPrefix(text, dir); ok {
			return name, true
		}
	}
	return text, false
}

// find judges the words after a row's name, by the row of the sub-command if
// there is one.
func (r *row) find(args []Arg) Finding {
	if r.hub {
		for i, a := range args {
			if a.Literal && strings.HasPrefix(a.Text, "-") && r.isSwitch(a.Text) {
				continue
			}
			if sub := table()[r.name+" "+a.Text]; sub != nil && a.Literal && !strings.Contains(a.Text, " ") {
				return sub.find(args[i+1:])
			}
			return r.unlisted(args, a).with(r.hidden(args[i:]))
		}
	}
	return r.own(args)
}

// unlisted judges a program by itself where a word is none of its sub-commands. A form of
// git that is not known may print what the repository holds.
func (r *row) unlisted(args []Arg, sub Arg) Finding {
	f := r.own(args)
	if r.name == "git" && !strings.HasPrefix(sub.Text, "-") {
		f.Unknown, f.ReadOnly, f.Complete = f.Unknown|permissions.UnknownRead, false, false
	}
	return f
}

// own judges the words after a row's name by that row alone.
func (r *row) own(args []Arg) Finding {
	f := r.judged(args).printing(r, args)
	if r.strict || r.free || r.never || r.anywhere || !flagBehindOperand(args) {
		return f
	}
	return f.and(r.strictly().judged(args), r.byName)
}

// strictly is the row as a program reads it whose flags end at the first operand.
// One operand too many is a fault to a program whose every flag only reads.
func (r *row) strictly() *row {
	strict := *r
	strict.strict = true
	if n := len(r.takes); r.plain && !r.changes && (n == 0 || !r.takes[n-1].repeat) {
		strict.takes = append(slices.Clip(r.takes), operand{kindText, true})
	}
	return &strict
}

// judged judges words as one of two kinds of program reads them.
func (r *row) judged(args []Arg) Finding {
	if r.judge != nil {
		return r.judge(r, args)
	}
	return r.read(args).finding()
}

// flagBehindOperand reports whether a word that looks like a flag may stand behind
// an operand. GNU's programs take it for a flag; xxd, git config, those of BSD, and
// GNU's with POSIXLY_CORRECT take it, and all that follows, for operands.
func flagBehindOperand(args []Arg) bool {
	first := slices.IndexFunc(args, func(a Arg) bool { return !strings.HasPrefix(a.Text, "-") || a.Text == "-" })
	return first >= 0 && slices.ContainsFunc(args[first:], func(a Arg) bool { return len(a.Text) > 1 && a.Text[0] == '-' })
}

// and is what holds of a command line that is read in two ways. The values of flags
// may be files then; the flags themselves name none that matters, nor do words of git.
func (f Finding) and(other Finding, git bool) Finding {
	if f.ReadOnly && !other.ReadOnly {
		f.ReadOnly, f.Complete, f.Reason = false, f.Complete && other.Complete, other.Reason
	}
	f.Confined = f.Confined && other.Confined
	f.AnyHost = f.AnyHost || other.AnyHost
	if git {
		return f
	}
	f.Complete, f.Unknown = f.Complete && other.Complete, f.Unknown|other.Unknown
	for _, e := range other.Effects {
		flag := strings.HasPrefix(e.Name, "-") && !strings.Contains(e.Name, "/")
		whole := e
		whole.Tree = true
		if !flag && !slices.Contains(f.Effects, e) && !slices.Contains(f.Effects, whole) {
			f.Effects = append(f.Effects, e)
		}
	}
	return f
}

// hidden finds what sub-commands behind flags of the program's own start, and the
// hosts that they reach: any word may be the sub-command.
func (r *row) hidden(args []Arg) (f Finding) {
	if args[0].Literal && !strings.HasPrefix(args[0].Text, "-") {
		return f
	}
	for i, a := range args[:min(len(args), mostGuesses)] {
		if sub := table()[r.name+" "+a.Text]; i > 0 && a.Literal && sub != nil && !strings.Contains(a.Text, " ") {
			f = f.with(sub.find(args[i+1:]))
		}
	}
	return f
}

// with adds what another finding has that only deny and ask rules are asked about.
func (f Finding) with(other Finding) Finding {
	for _, in := range other.Inner {
		in.Transparent = false
		f.Inner = append(f.Inner, in)
	}
	for _, e := range other.Effects {
		if e.Kind == permissions.AccessNet {
			e.Held = true
		}
		if e.Held || e.Git {
			f.Effects = append(f.Effects, e)
		}
	}
	f.AnyHost = f.AnyHost || other.AnyHost
	return f
}

// isSwitch reports whether a word is a listed flag without a value, as may stand
// before a sub-command.
func (r *row) isSwitch(word string) bool {
	f, ok := r.flags[word]
	return ok && f.value == valueNone && !f.risky
}

// finding is what the row and the words say.
func (l *line) finding() Finding {
	f := Finding{Effects: l.effects(), Inner: l.texts(), AnyHost: l.anyHost()}
	fault := l.fault()
	f.Unknown = l.unseen()
	f.Complete = !l.row.never && fault == "" && f.Unknown == 0
	switch {
	case l.row.never, l.row.changes:
		f.Reason = l.row.name + ": " + l.row.why
		f.Confined = l.row.confined && fault == "" && l.glob == "" && (len(l.row.needs) == 0 || l.has(l.row.needs...))
	case fault != "":
		f.Reason = fault
	case l.glob != "" && !l.row.plain:
		f.Reason = fmt.Sprintf("the names that %s stands for may be flags of %s", l.glob, l.row.name)
	case writes(f.Effects):
		f.Reason = l.row.name + " writes a file"
	case len(l.row.needs) > 0 && !l.has(l.row.needs...):
		f.Reason = fmt.Sprintf("%s is known to only read with %s", l.row.name, strings.Join(l.row.needs, ", "))
		f.Complete = false
	default:
		f.ReadOnly, f.Reason = true, l.row.why
	}
	return f
}

// fault says which word makes the line one that the row does not speak of.
func (l *line) fault() string {
	if l.unknown != "" {
		return fmt.Sprintf("%s is not a flag with which %s is known to only read", l.unknown, l.row.name)
	}
	if l.loose != "" && !l.row.plain {
		return fmt.Sprintf("%s may turn out to be a flag of %s", l.loose, l.row.name)
	}
	if l.spilled != "" && (!l.row.plain || l.row.changes) {
		return fmt.Sprintf("%s may stand for more than the one value that is meant", l.spilled)
	}
	for _, it := range l.items {
		if reason := it.fault(l.row); reason != "" {
			return reason
		}
	}
	if l.several != "" && !l.row.plain && !l.row.open() {
		return fmt.Sprintf("%s may turn out to be any number of words", l.several)
	}
	return ""
}

// fault says what is wrong with a word for the place it stands in.
func (it item) fault(r *row) string {
	switch it.kind {
	case "":
		return fmt.Sprintf("%s is not an operand with which %s is known to only read", it.arg.Text, r.name)
	case kindPlus:
		if !it.arg.Literal && !it.arg.Single || !strings.HasPrefix(it.arg.Text, "+") {
			return fmt.Sprintf("%s has a meaning to %s that is not known to only read", it.arg.Text, r.name)
		}
	case kindName:
		if !it.arg.Literal || !HarmlessName(it.arg.Text) {
			return fmt.Sprintf("the variable %s may mean something to the shell or to programs", it.arg.Text)
		}
	}
	return ""
}

// usualNames are names in capitals that scripts give to variables of their own.
var usualNames = strings.Fields("FILE FILES DIR DIRS SRC NAME PATTERN WORD LINE")

// HarmlessName reports whether a shell variable may hold anything: no program
// heeds names without a capital, but for those of proxies, and no subscript is
// evaluated. Where [Environment] has a function of that name, unset would take it away.
func HarmlessName(name string) bool {
	switch {
	case slices.Contains(usualNames, name):
		return true
	case strings.HasSuffix(name, "_proxy") || name == "histchars" || name == "auto_resume" || HasFunction(name):
		return false
	}
	for i, c := range []byte(name) {
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// open reports whether any number of operands mean the same, so that it does not
// matter how many a word becomes.
func (r *row) open() bool {
	if len(r.takes) == 0 {
		return false
	}
	last := r.takes[len(r.takes)-1]
	for _, o := range r.takes {
		if o.kind != kindText && o.kind != kindRead && o.kind != kindTree {
			return false
		}
	}
	return last.repeat
}

// unseen says which paths and hosts a word may name that is only known when it runs.
func (l *line) unseen() permissions.Unknown {
	var out permissions.Unknown
	if l.lists() {
		out = permissions.UnknownRead
	}
	switch {
	case l.loose == "":
	case l.loose != l.glob: // "-f FILE", for all that is known
		out |= l.row.touches()
	case !l.row.plain: // a file may be named "-oFILE"
		out |= l.row.touches() & permissions.UnknownWrite
	}
	if l.several != "" && l.several != l.glob && len(l.row.takes) > 1 { // more than one operand
		out |= l.row.touches()
	}
	deep := l.wide()
	for _, it := range l.items {
		if !it.arg.Literal && !it.arg.Glob {
			out |= it.kind.unknown(deep && it.flag == "")
		}
	}
	return out
}

// touches are the accesses that any word of the row may come to.
func (r *row) touches() permissions.Unknown {
	var out permissions.Unknown
	for _, o := range r.takes {
		out |= o.kind.unknown(false)
	}
	for _, f := range r.flags {
		out |= f.kind.unknown(false)
	}
	return out
}

// effects lists the paths and hosts of the line.
func (l *line) effects() []Effect {
	var out []Effect
	deep, links, files := l.wide(), l.links(), false
	for _, it := range l.items {
		files = files || it.flag == "" && (it.kind.path() || it.kind == "")
		opened := it.kind == kindWrite && !l.row.changes
		if opened && it.arg.Literal && Idle(permissions.AccessWrite, it.arg.Text) {
			continue // what is written there is gone
		}
		if e, ok := it.effect(deep); ok {
			e.Opened, e.Links = opened, links && e.Tree
			out = append(out, e)
		}
	}
	for _, it := range l.items {
		if words, ok := strings.CutPrefix(it.arg.Text, "@"); ok && l.row.atfiles && it.arg.Literal && words != "" {
			out = append(out, Effect{Kind: permissions.AccessRead, Name: words})
		}
	}
	out = append(out, l.matched()...)
	out = append(out, l.dialled()...)
	if l.row.cwd && !files || l.dirless() && !files {
		out = append(out, Effect{Kind: permissions.AccessRead, Name: ".", Tree: deep, Links: links && deep})
	}
	return out
}

// matched are the reads of names that a pattern for files puts where a flag's value, or a text,
// is due: all but the first are operands, and one may be a flag with which the program goes
// through directories.
func (l *line) matched() []Effect {
	var out []Effect
	for _, it := range l.items {
		value := it.flag != "" && l.spilled == "" // behind a "=", where each name has the flag
		if !it.arg.Glob || value || it.kind.path() || it.kind == kindHost || it.kind == kindURL || l.row.touches()&permissions.UnknownRead == 0 {
			continue
		}
		out = append(out, Effect{Kind: permissions.AccessRead, Name: it.arg.Text, Glob: true})
		if l.row.deepens() {
			out = append(out, Effect{Kind: permissions.AccessRead, Name: ".", Tree: true, Links: true})
		}
	}
	return out
}

// deepens reports whether a flag makes the program go through directories.
func (r *row) deepens() bool {
	for _, f := range r.flags {
		if f.deep {
			return true
		}
	}
	return false
}

// wide reports whether what is named is meant with all below it, or may be, as a word may
// turn out to be a flag that says so.
func (l *line) wide() bool {
	if l.deep() || !l.row.changes || l.loose == "" {
		return l.deep()
	}
	return l.row.deepens()
}

// dirless reports whether a flag makes the program look for files where none is
// named.
func (l *line) dirless() bool { return !l.row.deep && !l.row.changes && l.deep() }

// effect is what a word does by itself.
func (it item) effect(deep bool) (Effect, bool) {
	a := it.arg
	known := a.Literal || a.Glob
	switch {
	case it.kind == kindHost && a.Literal:
		return Effect{Kind: permissions.AccessNet, Name: hostOf(a.Text)}, hostOf(a.Text) != ""
	case it.kind == kindURL && known:
		return Effect{Kind: permissions.AccessNet, Name: urlOf(a.Text)}, a.Text != ""
	case !it.kind.path() || !known || a.Text == "", a.Text == "-" && it.kind == kindRead:
		return Effect{}, false
	}
	e := Effect{Kind: permissions.AccessRead, Name: a.Text, Glob: a.Glob}
	operand := it.flag == ""
	switch it.kind {
	case kindRead:
		e.Tree = deep && operand
	case kindTree:
		e.Tree = true
	case kindWrite:
		e.Kind, e.Tree = permissions.AccessWrite, deep && operand
	case kindRemove:
		e.Kind, e.Removal, e.Tree = permissions.AccessWrite, true, deep && operand
	}
	return e, true
}

// writes reports whether anything is written.
func writes(effects []Effect) bool {
	for _, e := range effects {
		if e.Kind == permissions.AccessWrite {
			return true
		}
	}
	return false
}
