package programs

import (
	"slices"
	"strings"
	"unicode"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/internal/shell/internal/lang"
	"github.com/toolquay/toolquay/permissions"
)

// script judges the script of a line and adds what it says to a finding. The
// files that it names stand before those of the line.
func (f *Finding) script(name string, scripts []Arg, judge func(text string) lang.Finding) {
	var text []string
	for _, s := range scripts {
		if !s.Literal {
			f.Unknown |= permissions.UnknownAll
			f.refuse("the script of %s, %s, is not known before it runs", name, s.Text)
			f.startedBy(name, s)
			return
		}
		text = append(text, s.Text)
	}
	if len(text) == 0 {
		f.refuse("%s has no script", name)
		return
	}
	found := judge(strings.Join(text, "\n"))
	f.add(permissions.AccessRead, found.Reads)
	f.add(permissions.AccessWrite, found.Writes)
	if !found.ReadOnly {
		f.Unknown |= permissions.UnknownRead // ARGV and modules name files, too
		f.refuse("%s: %s", name, found.Reason)
		if !found.StartsNothing {
			f.startedBy(name, Arg{Text: strings.Join(text, "\n"), Literal: true})
		}
	}
}

// add adds the effects of files.
func (f *Finding) add(kind permissions.AccessKind, files []string) {
	for _, name := range files {
		f.Effects = append(f.Effects, Effect{Kind: kind, Name: name})
	}
}

// scripts returns the scripts of a line: those of the flags, else the first
// operand; and the operands that are files.
func (l *line) scripts(flags ...string) (scripts, files []Arg) {
	files = l.operands()
	for _, it := range l.items {
		for _, name := range flags {
			if it.flag == name {
				scripts = append(scripts, it.arg)
			}
		}
	}
	if len(scripts) == 0 && len(files) > 0 {
		return files[:1], files[1:]
	}
	return scripts, files
}

// judgeSed judges sed by its script. With -i it changes the files, and no more
// if the script only reads.
func judgeSed(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	scripts, files := l.scripts("-e", "--expression")
	inPlace := l.has("-i", "--in-place")
	f.script("sed", scripts, lang.Sed)
	if l.has("-f", "--file") && len(files) == len(l.operands())-1 {
		f.Inner = nil // what was judged is the name of a file
	}
	if !inPlace {
		return f
	}
	if f.ReadOnly {
		f.ReadOnly, f.Reason = false, "sed -i changes the files"
	}
	if suffix, ok := l.value("-i", "--in-place"); ok {
		f.refuse("sed -i keeps a copy of each file under another name: %s", suffix.Text)
	}
	for _, a := range files {
		f.effect(a, kindWrite, false)
	}
	return f
}

// awkAssignment is an operand of awk, or a value of -v, that sets a variable.
var awkAssignment = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)=`)

// awkOwnName is an assignment to a variable that means nothing to any awk: those
// that do are written in capitals. Its value may be anything, as no awk runs one.
var awkOwnName = lazyregexp.New(`^[a-z_][a-z0-9_]*=`)

// safeAssignment reports whether it is known what a value of -v sets. Of a word
// that is expanded the name must be written out.
func safeAssignment(a Arg) bool {
	if a.Literal {
		return awkAssignment.MatchString(a.Text)
	}
	return a.Single && awkOwnName.MatchString(a.Text)
}

// judgeAwk judges awk by its program, and the variables that are set for it.
func judgeAwk(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	scripts, files := l.scripts()
	var assigned, values []string
	for _, it := range l.items {
		if it.flag != "-v" {
			continue
		}
		values = append(values, it.arg.Text)
		if !safeAssignment(it.arg) {
			f.refuse("which variable of awk %s sets, or to what, is not known", it.arg.Text)
		}
	}
	for _, a := range files {
		switch {
		case !a.Literal:
			f.refuse("%s may assign to a variable of awk", a.Text)
		case strings.HasPrefix(a.Text, "/inet"):
			f.refuse("%s is no file to every awk, but a connection", a.Text)
		}
		values = append(values, a.Text)
	}
	for _, v := range values {
		if m := awkAssignment.FindStringSubmatch(v); m != nil {
			assigned = append(assigned, m[1])
		}
	}
	f.script("awk", scripts, func(text string) lang.Finding { return lang.Awk(text, assigned...) })
	return f
}

// judgeJq judges jq by its filter.
func judgeJq(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	filter, _ := l.scripts()
	if len(filter) == 0 || l.first() {
		filter = []Arg{{Text: ".", Literal: true}}
	}
	f.script("jq", filter, lang.Jq)
	return f
}

// yqPieces are what an expression for yq is made of that only computes, to the yq that is
// written in Go and to the one that hands it to jq: paths, literals, operators and words.
var (
	yqPieces = lazyregexp.New(`^(?:\s+|"[^"\\]*"|\.[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*|[A-Za-z_]+|[0-9]+|[][.,|:;?(){}*+/<>=!-])*$`)
	// yqFile is an expression that may be the name of a file, which the first takes it for.
	yqFile   = lazyregexp.New(`^[A-Za-z0-9_./-]*[A-Za-z0-9_][A-Za-z0-9_./-]*$`)
	yqText   = lazyregexp.New(`"[^"]*"`)
	yqPaths  = lazyregexp.New(`\.[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*`)
	yqMinus  = lazyregexp.New(`\.[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)+`)
	yqCalled = lazyregexp.New(`-(?:env|modulemeta)\b|\.[A-Za-z0-9_]+-[A-Za-z0-9_-]+\s*\(`)
)

// yqKnown are the functions that both have, or that one refuses.
var yqKnown = strings.Fields(`
	keys length select has map map_values sort sort_by to_entries from_entries with_entries type tag first last flatten unique
	unique_by group_by join split test contains not and or true false null min max any all add reverse empty ascii_downcase
	ascii_upcase downcase upcase tostring to_string tonumber to_number path paths del trim startswith endswith line kind`)

// yqFormats are values of -o and -p. They hold no letters that are flags which write.
var yqFormats = strings.Fields("json j yaml y xml props csv tsv toml")

// judgeYq judges yq by its expression, which may read other files, or the environment.
func judgeYq(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	for _, it := range l.items {
		value := strings.TrimPrefix(it.arg.Text, "=")
		if it.flag != "" && (!it.arg.Literal || !slices.Contains(yqFormats, value) && (it.flag != "-I" || !isNumber(value))) {
			f.refuse("%s is no format that is known of yq", it.arg.Text)
		}
	}
	script, files := l.scripts()
	if len(script) > 0 && len(files) > 0 && script[0].Literal && (script[0].Text == "e" || script[0].Text == "eval") {
		script = files[:1] // to jq the word is no filter at all
	}
	if len(script) > 0 && script[0].Literal && yqFile.MatchString(script[0].Text) && !slices.ContainsFunc(f.Effects, func(e Effect) bool { return e.Name == script[0].Text }) {
		f.Effects = append(f.Effects, Effect{Kind: permissions.AccessRead, Name: script[0].Text})
	}
	f.script("yq", script, yqExpression)
	return f
}

// yqExpression judges an expression of yq. A name with a dash, .runs-on, is a path to one
// and a subtraction to the other.
func yqExpression(text string) lang.Finding {
	bare := yqText.ReplaceAllString(text, `""`)
	why := ""
	notWord := func(c rune) bool { return c != '_' && !unicode.IsLetter(c) }
	for word := range strings.FieldsFuncSeq(yqPaths.ReplaceAllString(bare, "."), notWord) {
		if !slices.Contains(yqKnown, word) {
			why = "what " + word + " reads is not known"
		}
	}
	switch {
	case !yqPieces.MatchString(text):
		why = "not every sign of the expression is known"
	case yqCalled.MatchString(bare):
		why = "what stands behind a minus may be a function"
	}
	if why != "" {
		return lang.Finding{Reason: why, StartsNothing: true}
	}
	return lang.Jq(yqMinus.ReplaceAllString(bare, ".x"))
}

// judgeFind judges find, whose words are an expression.
func judgeFind(r *row, args []Arg) Finding {
	words := make([]lang.Arg, len(args))
	for i, a := range args {
		words[i] = lang.Arg{Text: a.Text, Literal: a.Literal, Glob: a.Glob}
	}
	found := lang.Find(words)
	f := Finding{
		ReadOnly: found.ReadOnly,
		Complete: found.Complete && len(found.Inner) == 0 && !found.Deletes,
		Reason:   r.why,
	}
	if !found.ReadOnly {
		f.Reason = "find: " + found.Reason
	}
	links := followsLinks(args)
	for _, s := range found.Starts {
		if !s.Literal && !s.Glob {
			f.Unknown |= permissions.UnknownRead
			if found.Deletes {
				f.Unknown |= permissions.UnknownWrite
			}
			continue
		}
		f.Effects = append(f.Effects, Effect{Kind: permissions.AccessRead, Name: s.Text, Glob: s.Glob, Tree: true, Links: links})
		if found.Deletes {
			f.Effects = append(f.Effects, Effect{
				Kind: permissions.AccessWrite, Name: s.Text, Glob: s.Glob, Tree: true, Removal: true,
			})
		}
	}
	f.add(permissions.AccessRead, found.Reads)
	f.add(permissions.AccessWrite, found.Writes)
	for _, c := range found.Inner {
		inner := Inner{Args: make([]Arg, len(c.Args))}
		for i, a := range c.Args {
			inner.Args[i] = Arg{Text: a.Text, Literal: a.Literal, Glob: a.Glob}
		}
		f.Inner = append(f.Inner, inner)
	}
	if !found.Complete && mayAct(args) {
		f.Unknown |= permissions.UnknownAll
	}
	f.Complete = f.Complete && f.Unknown == 0
	return f
}

// FindStarts reports whether find does no more than to read names and to start programs that are
// known, with names of files.
func FindStarts(args []Arg) bool {
	words := make([]lang.Arg, len(args))
	for i, a := range args {
		words[i] = lang.Arg{Text: a.Text, Literal: a.Literal, Glob: a.Glob}
	}
	found := lang.Find(words)
	return found.Complete && !found.Deletes && len(found.Writes) == 0
}

// Scripted reports whether a program reads a script of its own language out of words that are
// not all known.
func Scripted(program string, args []Arg) bool {
	if !slices.Contains(scripted, program) {
		return false
	}
	l := table()[program].read(args)
	operands := l.operands()
	return !l.first() && (len(operands) == 0 || !operands[0].Literal) ||
		slices.ContainsFunc(l.items, func(it item) bool { return it.flag != "" && !it.arg.Literal })
}

// scripted are those programs.
var scripted = []string{"awk", "gawk", "mawk", "nawk", "sed", "gsed", "jq", "yq"}

// FindNames is where all names lie that find prints, if they end in NUL and it prints
// nothing else.
func FindNames(args []Arg) (dir string, ok bool) {
	words := make([]lang.Arg, len(args))
	for i, a := range args {
		words[i] = lang.Arg{Text: a.Text, Literal: a.Literal, Glob: a.Glob}
	}
	found := lang.Find(words)
	if !found.Print0 || len(found.Starts) != 1 || !found.Starts[0].Literal {
		return "", false
	}
	return found.Starts[0].Text, true
}

// followsLinks reports whether find goes through the links that it finds.
func followsLinks(args []Arg) bool {
	return slices.ContainsFunc(args, func(a Arg) bool { return a.Literal && (a.Text == "-L" || a.Text == "-follow") })
}

// findValues are tests of find whose value names neither an action nor a file that is read.
var findValues = []string{
	"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-type", "-xtype", "-maxdepth", "-mindepth",
	"-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-user", "-group", "-perm",
}

// mayAct reports whether a word of find may turn out to be an action. Starting points are
// no actions.
func mayAct(args []Arg) bool {
	expression := false
	for i, a := range args {
		switch {
		case a.Literal:
			expression = expression || strings.HasPrefix(a.Text, "-") && i > 0
		case a.Single && expression && slices.Contains(findValues, args[i-1].Text):
		case expression, !a.Single && !a.Glob:
			return true
		}
	}
	return false
}
