package lang

import "strings"

// Sed judges a script for sed; several -e scripts are joined by newlines. It is
// read by GNU's grammar, of which only what other seds read alike, or refuse, is
// taken, whatever sed's flags are. With -i the files are written whatever the script says; the finding
// speaks of the script alone. Files that r and R name are in Reads; w may name
// /dev/stdout, /dev/stderr and /dev/null.
func Sed(script string) Finding {
	if fault := guard(script); fault != "" {
		return refused(fault)
	}
	p := &sedParser{script: script, rest: script}
	p.read()
	whole := p.fault == ""
	if len(p.writes) > 0 {
		p.fail("it writes files (w)")
	}
	if p.fault != "" {
		return Finding{Reason: p.fault, StartsNothing: whole, Reads: p.reads, Writes: p.writes}
	}
	return Finding{ReadOnly: true, Reads: p.reads}
}

// sedParser reads a script. After a fault there is nothing left to read.
type sedParser struct {
	script string
	rest   string
	fault  string
	// labelled is the place behind the last label, or branch to one.
	labelled int
	// open is how many { are not closed.
	open          int
	reads, writes []string
}

func (p *sedParser) fail(reason string) {
	if p.fault == "" {
		p.fault = reason
	}
	p.rest = ""
}

func (p *sedParser) peek() byte {
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *sedParser) skip(set string) { p.rest = strings.TrimLeft(p.rest, set) }

// take returns what stands before the first character that is not in the set.
func (p *sedParser) take(set string) string {
	before := p.rest
	p.skip(set)
	return before[:len(before)-len(p.rest)]
}

// line returns the rest of the line without its end.
func (p *sedParser) line() string {
	text, rest, _ := strings.Cut(p.rest, "\n")
	p.rest = rest
	return text
}

func (p *sedParser) read() {
	for {
		p.skip(" \t\n;")
		if p.rest == "" {
			break
		}
		p.command()
	}
	if p.open > 0 {
		p.fail("a { is not closed")
	}
}

func (p *sedParser) command() {
	addressed := p.addresses()
	if p.rest == "" {
		p.fail("it is not understood where a command is missing")
		return
	}
	name := p.rest[0]
	p.rest = p.rest[1:]
	behindLabel := p.labelled > 0 && !strings.Contains(p.script[p.labelled:p.place()], "\n")
	from := p.place()
	p.arguments(name, addressed)
	if behindLabel && strings.Contains(strings.TrimSuffix(p.script[from:p.place()], "\n"), "\n") {
		// Some seds take all of the line for the label, and the next one for
		// commands.
		p.fail("a command goes on in the next line behind a label")
	}
}

// arguments reads what belongs to a command, and its end. The cases are the
// positive list of commands.
func (p *sedParser) arguments(name byte, addressed bool) {
	switch name {
	case '{':
		p.open++
		if p.open > maxDepth {
			p.fail("it is nested too deep")
		}
	case '}':
		if p.open--; p.open < 0 || addressed {
			p.fail("a } is not understood")
		}
		p.endCommand()
	case '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'v':
		p.endCommand()
	case 'l', 'q', 'Q':
		p.skip(" \t")
		p.take(sedDigits)
		p.endCommand()
	case '#':
		if addressed {
			p.fail("a comment has an address")
		}
		p.line()
	case ':', 'b', 't', 'T':
		p.skip(" \t")
		if label := p.take(sedLabel); name == ':' && (label == "" || addressed) {
			p.fail("a label is not understood")
		}
		p.labelled = p.place()
		p.endCommand()
	case 'a', 'i', 'c':
		p.text()
	case 's':
		p.substitution()
	case 'y':
		p.transliteration()
	case 'r', 'R':
		p.reads = append(p.reads, p.file())
	case 'w', 'W':
		p.write()
	case 'e':
		p.fail("it runs a program (e)")
	default:
		p.fail("it has the command " + string(rune(name)) + ", which is not on the list")
	}
}

const (
	sedDigits = "0123456789"
	sedLabel  = sedDigits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
)

// endCommand wants the end of a command.
func (p *sedParser) endCommand() {
	p.skip(" \t")
	switch p.peek() {
	case 0, '\n', ';', '}', '#':
	default:
		p.fail("it is not understood behind a command")
	}
}

// text reads what a, i and c put out: up to the end of a line that does not end
// in a backslash.
func (p *sedParser) text() {
	p.skip(" \t")
	if strings.HasPrefix(p.rest, `\`) {
		p.rest = strings.TrimPrefix(p.rest[1:], "\n")
	}
	line := p.line()
	if strings.Trim(line, " \t") == "" {
		// To some seds the text is empty then, to others it is the next line.
		p.fail("it is not understood where a, i or c has no text")
		return
	}
	for oddBackslashes(line) && p.rest != "" {
		line = p.line()
	}
}

// place is how much of the script is read.
func (p *sedParser) place() int { return len(p.script) - len(p.rest) }

func oddBackslashes(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// file reads the name of a file: all there is up to the end of the line.
func (p *sedParser) file() string {
	p.skip(" \t")
	name := p.line()
	if name == "" {
		p.fail("it is not understood where the name of a file is missing")
	}
	return name
}

func (p *sedParser) write() {
	switch name := p.file(); name {
	case "", "/dev/stdout", "/dev/stderr", "/dev/null":
	default:
		p.writes = append(p.writes, name)
	}
}
