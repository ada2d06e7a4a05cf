package programs

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// escape is where a command begins in the words of editors, pagers, debuggers and
// clients: vim -c '!rm x', gdb -ex 'shell rm x', sqlite3 f '.system rm x'.
var escape = lazyregexp.New(`!+|(?:^|[^\pL\pN_])(?:shell|system|exec|spawn|sh)[ \t]+`)

// stringLiteral is a string in most languages.
var stringLiteral = lazyregexp.New(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`)

var unescape = strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`)

// starters are the functions that start programs in most languages.
var starters = lazyregexp.New(`system|shell|exec|popen|spawn|term|[|]|getline|@`)

// judgeEscapes judges programs whose commands can start others.
func judgeEscapes(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	if r.starts() {
		f = judgeWrapper(r, args)
	}
	for _, a := range args {
		if a.Literal {
			f.Inner = append(f.Inner, escaped(a.Text)...)
		}
	}
	for _, it := range l.items {
		commands := it.flag != "" && it.kind == kindText
		if !it.arg.Literal && (commands || strings.HasPrefix(strings.TrimLeft(it.arg.Text, `"`), "+")) {
			f.Inner = append(f.Inner, Inner{Args: []Arg{it.arg}})
		}
	}
	return f
}

// escaped are the commands behind what leads out of a program, and those in the
// strings of a script that starts programs.
func escaped(script string) []Inner {
	var out []Inner
	for _, at := range escape.FindAllStringIndex(script, mostGuesses) {
		if rest := strings.TrimSpace(script[at[1]:]); rest != "" {
			out = append(out, Inner{Shell: rest})
		}
	}
	if starters.MatchString(script) {
		for _, m := range stringLiteral.FindAllStringSubmatch(script, mostGuesses) {
			if text := m[1] + m[2]; text != "" {
				out = append(out, Inner{Shell: unescape.Replace(text)})
			}
		}
	}
	return out
}

// startedBy adds what a script that is not read-only may start: what its strings say,
// and what nobody knows before it runs.
func (f *Finding) startedBy(name string, script Arg) {
	if name == "jq" || name == "awk" && script.Literal && !starters.MatchString(script.Text) && !strings.Contains(script.Text, "/inet") {
		return
	}
	f.Inner = append(f.Inner, Inner{Args: []Arg{{Text: script.Text}}})
	if name == "awk" {
		if !script.Literal || strings.Contains(script.Text, "/inet") {
			f.Effects, f.AnyHost = append(f.Effects, dial(Arg{Text: script.Text, Literal: true})...), true
		}
		f.Inner = append(f.Inner, escaped(script.unquoted())...)
		return
	}
	for piece := range strings.FieldsFuncSeq(script.unquoted(), sedPiece) {
		_, behind, _ := strings.Cut(piece, "e ")
		for _, text := range []string{piece, behind} {
			if text = strings.TrimSpace(text); text != "" {
				f.Inner = append(f.Inner, Inner{Shell: text})
			}
		}
	}
}

// sedPiece reports whether a letter parts what may be a command in a script of sed from
// what is around it: "1e rm x", "s/x/rm x/e".
func sedPiece(r rune) bool { return strings.ContainsRune("\n/|#,;{}", r) }

// judgeMake judges make, whose operands set variables that name programs.
func judgeMake(r *row, args []Arg) Finding {
	f := judgeExport(r, args)
	for _, a := range args {
		if a.Literal {
			f.Inner = append(f.Inner, escaped(a.Text)...)
		}
	}
	return f
}

// fdExec is a flag of fd that starts a command: -x, among others or not, with the first
// word of the command attached or not.
var fdExec = lazyregexp.New(`^(?:-[A-Za-z]*?[xX]|--exec(?:-batch)?(?:=|$))`)

// fdPlace is what fd puts names in the place of.
var fdPlace = lazyregexp.New(`\{(?:|\.|//?|/\.)\}`)

// judgeFd judges fd, where a command may stand behind a flag, up to a ";".
func judgeFd(r *row, args []Arg) Finding {
	f := r.read(args).finding()
	for i, a := range args {
		at := fdExec.FindString(a.Text)
		if !a.Literal || at == "" {
			continue
		}
		command := args[i+1:]
		if rest := a.Text[len(at):]; rest != "" {
			command = append([]Arg{{Text: rest, Literal: true}}, command...)
		}
		if end := slices.IndexFunc(command, func(a Arg) bool { return a.Literal && a.Text == ";" }); end >= 0 {
			command = command[:end]
		}
		command = slices.Clone(command)
		for j := range command {
			command[j].Literal = command[j].Literal && !fdPlace.MatchString(command[j].Text)
		}
		if len(command) > 0 {
			f.Inner = append(f.Inner, Inner{Args: command})
		}
	}
	return f
}

// judgeAlias judges alias and hash, which give a command or a program another name.
func judgeAlias(r *row, args []Arg) Finding {
	f := r.read(args).finding()
	for _, a := range args {
		if _, value, ok := strings.Cut(a.unquoted(), "="); ok {
			a = Arg{Text: value, Literal: a.Literal}
		}
		f.Inner = append(f.Inner, textReadings(a)...)
	}
	return f
}

// judgeExport judges what sets variables for the programs that follow.
func judgeExport(r *row, args []Arg) Finding {
	f := r.read(args).finding()
	for _, a := range args {
		if name, value, ok := strings.Cut(a.Text, "="); ok {
			f = f.with(Variable(strings.TrimRight(name, ":+?!"), Arg{Text: value, Literal: a.Literal}))
		}
	}
	return f
}

// judgePython judges python, with -m the program that a module is.
func judgePython(r *row, args []Arg) Finding {
	f := r.read(args).finding()
	for i, a := range args {
		if a.Literal && a.Text == "-m" && i+1 < len(args) {
			return f.with(Judge(args[i+1:]))
		}
	}
	return f
}
