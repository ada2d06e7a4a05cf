package programs

import (
	"maps"
	"slices"
	"strings"
)

// line is a command line, read by its row.
type line struct {
	row *row
	// items are operands and the values of flags, in order.
	items []item
	// flags are the names of the flags that are there.
	flags []string
	// command is where the command that it starts begins, or -1.
	command int
	// unknown is the first flag that the row does not list, or lists as risky.
	unknown string
	// loose is the first word that might become a flag when it is expanded.
	loose string
	// several is the first word that may become several, or none.
	several string
	// spilled is a pattern for names where one value is meant.
	spilled string
	// glob is the first word that is a pattern for names.
	glob string
	// odd are what stands behind flags that the row does not list.
	odd []string
	// hungry says that the word before was a flag that may take a value of its own,
	// to another version of the program; eaten, that this was a "--".
	hungry, eaten bool
}

// item is an operand, or the value of a flag.
type item struct {
	arg  Arg
	flag string // empty for an operand
	kind kind   // of a flag's value; operands get theirs at the end
}

// read reads the words after a row's name.
func (r *row) read(args []Arg) *line {
	l := &line{row: r, command: -1, items: make([]item, 0, len(args))}
	l.unknown = r.moreWords(args)
	behind := r.free // or "--", or what ends flags here
	for i := 0; i < len(args); i++ {
		a := args[i]
		l.note(a, behind)
		switch {
		case !behind && a.Literal && a.Text == "--":
			behind, l.eaten = true, l.hungry
		case !behind && len(a.Text) > 1 && a.Text[0] == '-' && (a.Literal || namesFlag(a)):
			i += l.readFlag(a, args[i+1:])
		default:
			if r.kindOf(l.operandCount(), l.first()) == kindCommand {
				l.command = i
				l.assign()
				return l
			}
			if !behind && !a.Literal {
				l.expanded(a)
			}
			if l.eaten && l.disguised(flag{}, a) {
				l.suspect(a, "--")
			}
			l.items = append(l.items, item{arg: a})
			behind, l.hungry = behind || r.strict, false
		}
	}
	l.assign()
	return l
}

// moreWords returns the first word that may name a file of more words, wherever
// it stands; the empty string if there is none.
func (r *row) moreWords(args []Arg) string {
	for _, a := range args {
		if r.atfiles && !startsPlain(a) && (!a.Literal || strings.HasPrefix(a.Text, "@")) {
			return a.Text
		}
	}
	return ""
}

// note keeps what is remarkable about a word that is expanded.
func (l *line) note(a Arg, behind bool) {
	if a.Literal {
		return
	}
	if a.Glob && l.glob == "" {
		l.glob = a.Text
	}
	if l.loose == "" && !behind && !startsPlain(a) {
		l.loose = a.Text
	}
	if l.several == "" && !a.Single {
		l.several = a.Text
	}
}

// startsPlain reports whether every argument that a word becomes begins with a
// letter, a digit, ".", "/" or "+", so that none can be a flag.
func startsPlain(a Arg) bool {
	if a.Text == "" || !a.Literal && !a.Glob && !a.Single {
		return false
	}
	c := a.Text[0]
	if c == '"' && a.Single && len(a.Text) > 1 && a.Text[1] != '+' { // which tail takes for a flag
		c = a.Text[1]
	}
	return c == '.' || c == '/' || c == '+' || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// namesFlag reports whether a word is the same flag whatever it becomes, as
// --include=*.go is.
func namesFlag(a Arg) bool {
	name, _, ok := strings.Cut(a.Text, "=")
	return a.Glob && ok && strings.HasPrefix(name, "--") && !strings.ContainsAny(name, "*?[\\'\"")
}

// readFlag reads a word that begins with a dash, and returns how many of the
// words that follow belong to it.
func (l *line) readFlag(a Arg, rest []Arg) int {
	word := a.Text
	if strings.HasPrefix(word, "--") || l.row.onedash {
		name, attached, hasValue := strings.Cut(word, "=")
		f, ok := l.row.flags[name]
		if !ok && l.row.onedash {
			f, ok = l.row.flags[strings.TrimPrefix(name, "-")]
		}
		if !ok {
			l.strange(name, attached, rest)
			return 0
		}
		value := Arg{Text: attached, Literal: a.Literal, Glob: a.Glob}
		return l.take(name, f, value, hasValue, rest)
	}
	if _, ok := l.row.flags["-#"]; ok && isNumber(word[1:]) {
		return 0
	}
	for i := 1; i < len(word); i++ {
		name := "-" + word[i:i+1]
		f, ok := l.row.flags[name]
		if !ok {
			l.strange(name, word[i+1:], nil)
			return 0
		}
		if f.value != valueNone {
			attached := word[i+1:]
			if l.row.apart && attached != "" && !isNumber(attached) {
				l.strange(word, "", nil)
				return 0
			}
			return l.take(name, f, Arg{Text: attached, Literal: true}, attached != "", rest)
		}
		l.take(name, f, Arg{}, false, nil)
	}
	return 0
}

// expanded takes what is known of a word that is expanded and begins with a flag, as
// --rsh="$x": where the flag names a command or a host, so does what is not known.
func (l *line) expanded(a Arg) {
	word := strings.TrimLeft(a.Text, `"`)
	if len(word) < 3 || word[0] != '-' {
		return
	}
	name, value, ok := strings.Cut(word, "=")
	if !strings.HasPrefix(word, "--") {
		name, value, ok = word[:2], word[2:], true
	}
	for _, long := range slices.Sorted(maps.Keys(l.row.flags)) {
		f := l.row.flags[long]
		if ok && strings.HasPrefix(long, name) && (f.kind == kindShell || f.kind == kindDial) {
			l.items = append(l.items, item{arg: Arg{Text: value, Single: true}, flag: long, kind: f.kind})
		}
	}
}

// take takes a known flag, and returns how many of the words that follow are
// its value.
func (l *line) take(name string, f flag, attached Arg, hasValue bool, rest []Arg) int {
	l.flags = append(l.flags, name)
	l.hungry = f.value == valueAttached && !hasValue
	if f.risky && l.unknown == "" {
		l.unknown = name
	}
	switch {
	case hasValue && f.value == valueNone:
		l.strange(name+"=", attached.Text, nil)
	case hasValue:
		l.items = append(l.items, item{arg: attached, flag: name, kind: f.kind})
	case f.value == valueRequired && len(rest) > f.lead:
		return l.takeNext(name, f, rest[:f.lead+1])
	}
	return 0
}

// takeNext takes the words behind a flag that are its value.
func (l *line) takeNext(name string, f flag, words []Arg) int {
	for _, a := range words {
		l.note(a, a.Single) // a word in its place is no flag
		if a.Glob {
			l.spilled = a.Text
		}
	}
	last := words[f.lead]
	l.items = append(l.items, item{arg: last, flag: name, kind: f.kind})
	if l.disguised(f, last) {
		l.suspect(last, name)
	}
	return len(words)
}

// suspect takes a word that may be a flag to another version of the program. Its
// effects are for deny rules.
func (l *line) suspect(a Arg, before string) {
	if l.unknown == "" {
		l.unknown = a.Text + " behind " + before
	}
	l.readFlag(a, nil)
}

// disguised reports whether a value looks like a flag. To another version of the
// program, or another one of its name, the flag before it may take no value, and
// this is what it looks like.
func (l *line) disguised(f flag, value Arg) bool {
	switch {
	case l.row.plain && !l.row.changes, f.first && f.kind == kindText, f.lead > 0, !value.Literal:
		return false
	}
	return len(value.Text) > 1 && value.Text[0] == '-' && !isDigit(value.Text[1])
}

// strange takes a flag that is not listed. Where it abbreviates one that names a
// path, a command or a host, its value is kept for deny rules: the next word, too,
// which is read as any other besides.
func (l *line) strange(name, attached string, rest []Arg) {
	if l.unknown == "" {
		l.unknown = name
	}
	if attached != "" {
		l.odd = append(l.odd, attached)
	}
	if !strings.HasPrefix(name, "--") {
		return
	}
	for _, long := range slices.Sorted(maps.Keys(l.row.flags)) {
		f, value := l.row.flags[long], Arg{Text: attached, Literal: true}
		if attached == "" && f.value == valueRequired && len(rest) > 0 && !f.kind.path() {
			value = rest[0]
		}
		if strings.HasPrefix(long, name) && f.kind.counts() && value.Text != "" {
			l.items = append(l.items, item{arg: value, flag: long, kind: f.kind})
		}
	}
}

// has reports whether one of the flags is there.
func (l *line) has(names ...string) bool {
	return slices.ContainsFunc(l.flags, func(f string) bool { return slices.Contains(names, f) })
}

// value returns the value of a flag, the last one given.
func (l *line) value(names ...string) (Arg, bool) {
	for _, it := range slices.Backward(l.items) {
		if it.flag != "" && slices.Contains(names, it.flag) {
			return it.arg, true
		}
	}
	return Arg{}, false
}

// operands returns the words that are no flags and no values of flags.
func (l *line) operands() []Arg {
	var out []Arg
	for _, it := range l.items {
		if it.flag == "" {
			out = append(out, it.arg)
		}
	}
	return out
}

func (l *line) operandCount() int {
	n := 0
	for _, it := range l.items {
		if it.flag == "" {
			n++
		}
	}
	return n
}

// first reports whether a flag stands in for the first operand.
func (l *line) first() bool {
	return slices.ContainsFunc(l.flags, func(f string) bool { return l.row.flags[f].first })
}

// deep reports whether what is read is read with all that is below it.
func (l *line) deep() bool {
	return l.row.deep || slices.ContainsFunc(l.flags, func(f string) bool { return l.row.flags[f].deep })
}

// lists reports whether files that are read name more files.
func (l *line) lists() bool {
	return slices.ContainsFunc(l.flags, func(name string) bool { return l.row.flags[name].lists })
}

// links reports whether links that are found below what is read are followed.
func (l *line) links() bool {
	return l.deep() && slices.ContainsFunc(l.flags, func(name string) bool { return l.row.flags[name].links })
}

// assign gives the operands their kinds; one too many has none.
func (l *line) assign() {
	first, n := l.first(), 0
	for i := range l.items {
		if l.items[i].flag == "" {
			l.items[i].kind = l.row.kindOf(n, first)
			n++
		}
	}
}

// kindOf returns what the nth operand is; the empty kind if there is none.
func (r *row) kindOf(n int, first bool) kind {
	if first {
		n++
	}
	switch last := len(r.takes) - 1; {
	case n <= last:
		return r.takes[n].kind
	case last >= 0 && r.takes[last].repeat:
		return r.takes[last].kind
	}
	return ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
