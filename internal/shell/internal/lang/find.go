package lang

import (
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// Arg is one word of a command.
type Arg struct {
	// Text is what the program is given where Literal is set, else the word as
	// written.
	Text string
	// Literal says that nothing in the word is expanded.
	Literal bool
	// Glob says that the word holds unquoted pattern characters and nothing
	// else that is expanded.
	Glob bool
}

// FindFinding is what is known of one find command. What is reported is there
// also where Complete is not set, as far as it was understood, so that deny
// rules can be tried on it.
type FindFinding struct {
	// ReadOnly says that it only reads the names and attributes below Starts,
	// and ends. It is never set where there is anything in Inner or Writes, or
	// where Deletes is set.
	ReadOnly bool
	// Complete says that all it does is known: it reads the trees at Starts
	// and the files in Reads, writes Writes, removes below Starts if Deletes is
	// set, and starts the commands in Inner. A command with Inner alone, each
	// of which is read-only on any file below Starts, is read-only as a whole.
	Complete bool
	// Reason says why it is not read-only; the empty string where it is.
	Reason string
	// Starts are the starting points, read as trees; "." where none is named.
	// A word that is not Literal is there as it was given, and Complete is not
	// set.
	Starts []Arg
	// Inner are the commands it starts.
	Inner []FindCommand
	// Print0 says that what it prints are names that end in NUL, and nothing else.
	Print0 bool
	// Deletes is set by -delete.
	Deletes bool
	// Reads and Writes are the files its tests and actions name, literally.
	Reads, Writes []string
}

// FindCommand is a command that find starts.
type FindCommand struct {
	// Args are its words. In a word that holds {} find puts the path of a file
	// below Starts; such a word has neither Literal nor Glob set.
	Args []Arg
	// InDir says that it runs in the directory of each file (-execdir,
	// -okdir), so that relative names in Args mean something else each time.
	InDir bool
}

// maxWords bounds how many words of a find command are looked at.
const maxWords = 2000

// Find judges the words after "find", by the grammar of GNU findutils. A word
// that is not Literal may be any word, or many, -delete among them.
func Find(args []Arg) FindFinding {
	p := findParser{rest: args}
	if len(args) > maxWords {
		p.unknown("it has more than 2000 words")
	}
	p.options()
	p.starts()
	for len(p.rest) > 0 {
		p.primary()
	}
	f := p.found
	f.Complete = p.fault == ""
	f.Reason = p.reason()
	f.ReadOnly = f.Reason == ""
	f.Print0 = f.ReadOnly && p.print0 && !p.prints
	return f
}

// findPrints are the actions that print something else than names that end in NUL.
var findPrints = []string{"-print", "-printf", "-ls", "-fprint", "-fprint0", "-fprintf", "-fls"}

type findParser struct {
	print0, prints bool // the actions that were met: -print0, and findPrints
	rest           []Arg
	found          FindFinding
	fault          string
}

// reason says why the command is not read-only.
func (p *findParser) reason() string {
	switch {
	case p.fault != "":
		return p.fault
	case p.found.Deletes:
		return "it deletes files (-delete)"
	case len(p.found.Writes) > 0:
		return "it writes a file (-fprint and its like)"
	case len(p.found.Inner) > 0:
		return "it starts a program (-exec and its like)"
	}
	return ""
}

// unknown notes what is not understood. Unlike elsewhere the rest is read all
// the same: what it may do is to be known to deny rules.
func (p *findParser) unknown(reason string) {
	if p.fault == "" {
		p.fault = reason
	}
}

// take returns the next word. One that is not literal is not understood.
func (p *findParser) take() (Arg, bool) {
	if len(p.rest) == 0 {
		p.unknown("it is not understood where a word is missing")
		return Arg{}, false
	}
	word := p.rest[0]
	p.rest = p.rest[1:]
	if !word.Literal {
		p.unknown("the word " + word.Text + " may expand to an action")
	} else if fault := guard(word.Text); fault != "" {
		p.unknown("of the word " + word.Text + ": " + fault)
	}
	return word, true
}

// options reads those that come before the starting points.
func (p *findParser) options() {
	for len(p.rest) > 0 && p.rest[0].Literal {
		switch text := p.rest[0].Text; {
		case text == "-H", text == "-L", text == "-P", findLevel.MatchString(text):
			p.rest = p.rest[1:]
		default:
			return
		}
	}
}

var findLevel = lazyregexp.New(`^-O[0-3]$`)

// starts reads the starting points: the words up to one that begins like an
// expression. Others may come behind it by mistake only.
func (p *findParser) starts() {
	for len(p.rest) > 0 && !findExpression(p.rest[0]) {
		word, _ := p.take()
		p.found.Starts = append(p.found.Starts, word)
	}
	if len(p.found.Starts) == 0 {
		p.found.Starts = []Arg{{Text: ".", Literal: true}}
	}
}

func findExpression(word Arg) bool {
	return word.Literal && (strings.HasPrefix(word.Text, "-") && word.Text != "-" ||
		word.Text == "(" || word.Text == ")" || word.Text == "!" || word.Text == ",")
}

// primary reads one operator, test, action or option with its arguments.
func (p *findParser) primary() {
	word, _ := p.take()
	name := word.Text
	p.print0 = p.print0 || name == "-print0"
	p.prints = p.prints || slices.Contains(findPrints, name)
	if count, ok := findPlain()[name]; ok {
		p.arguments(name, count)
		return
	}
	switch name {
	case "-delete":
		p.found.Deletes = true
	case "-exec", "-execdir", "-ok", "-okdir":
		p.command(name)
	case "-fprint", "-fprint0", "-fls":
		p.write()
	case "-fprintf":
		p.write()
		p.take()
	case "-newer", "-anewer", "-cnewer", "-samefile":
		p.read()
	case "-files0-from":
		p.read()
		p.unknown("it takes its starting points from a file (-files0-from)")
	case "-perm":
		p.permissions()
	default:
		p.other(name)
	}
}

// other reads -newerXY, or what is not on the list.
func (p *findParser) other(name string) {
	switch {
	case findNewerTime.MatchString(name):
		p.arguments(name, 1)
	case findNewer.MatchString(name):
		p.read()
	default:
		p.unknown("the word " + name + " is not on the list of what find knows")
	}
}

var (
	findNewer     = lazyregexp.New(`^-newer[aBcm][aBcm]$`)
	findNewerTime = lazyregexp.New(`^-newer[aBcm]t$`)
	findDashed    = lazyregexp.New(`^-[^0-9]`)
	findMode      = lazyregexp.New(`^[-/]?(?:[0-7]+|[ugoa]*[-+=][rwxXst]*(?:,[ugoa]*[-+=][rwxXst]*)*)$`)
)

// findTexts are the tests that take an argument in every find that has them.
var findTexts = []string{"-name", "-iname", "-path", "-ipath", "-regex", "-iregex"}

// arguments reads words that only compare or print. But behind findTexts none looks like
// an action: to another find that takes no argument there, it would be one.
func (p *findParser) arguments(name string, count int) {
	for range count {
		word, ok := p.take()
		if !ok {
			return
		}
		if findDashed.MatchString(word.Text) && !slices.Contains(findTexts, name) {
			p.unknown("the argument " + word.Text + " of " + name + " looks like an action")
		}
	}
}

func (p *findParser) permissions() {
	if word, ok := p.take(); ok && !findMode.MatchString(word.Text) {
		p.unknown("the mode " + word.Text + " is not understood")
	}
}

// read reads the name of a file that find looks at.
func (p *findParser) read() {
	if word, ok := p.take(); ok {
		p.found.Reads = append(p.found.Reads, word.Text)
		if strings.HasPrefix(word.Text, "-") {
			p.unknown("the file " + word.Text + " looks like an action")
		}
	}
}

// write reads the name of a file that find writes.
func (p *findParser) write() {
	word, ok := p.take()
	if !ok {
		return
	}
	switch word.Text {
	case "/dev/stdout", "/dev/stderr", "/dev/null":
	default:
		p.found.Writes = append(p.found.Writes, word.Text)
	}
}

// command reads a command up to ; or {} +.
func (p *findParser) command(action string) {
	c := FindCommand{InDir: strings.HasSuffix(action, "dir")}
	for {
		word, ok := p.take()
		if !ok {
			break
		}
		if word.Literal && word.Text == ";" {
			break
		}
		if word.Literal && word.Text == "+" {
			if endsAtPlus(action, c.Args) {
				break
			}
			p.unknown("a + does not end the command to every find")
		}
		if strings.Contains(word.Text, "{}") {
			word.Literal, word.Glob = false, false
		}
		c.Args = append(c.Args, word)
	}
	if len(c.Args) == 0 {
		p.unknown(action + " starts nothing")
		return
	}
	p.found.Inner = append(p.found.Inner, c)
}

// endsAtPlus reports whether a + behind these words ends the command.
func endsAtPlus(action string, words []Arg) bool {
	return strings.HasPrefix(action, "-exec") && len(words) > 1 && words[len(words)-1].Text == "{}"
}

// findPlain are the operators, tests, actions and options that change nothing,
// with the number of their arguments.
var findPlain = sync.OnceValue(func() map[string]int {
	plain := map[string]int{}
	for name := range strings.FieldsSeq(`
		( ) ! , -not -a -and -o -or
		-depth -d -daystart -follow -mount -xdev -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race
		-empty -executable -readable -writable -false -true -nogroup -nouser
		-print -print0 -ls -prune -quit`) {
		plain[name] = 0
	}
	for name := range strings.FieldsSeq(`
		-maxdepth -mindepth -regextype -name -iname -path -ipath -wholename -iwholename -lname -ilname
		-regex -iregex -type -xtype -size -links -inum -user -group -uid -gid -fstype -used
		-amin -atime -cmin -ctime -mmin -mtime -printf`) {
		plain[name] = 1
	}
	return plain
})
