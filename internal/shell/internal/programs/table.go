package programs

import (
	"bufio"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

//go:embed table/*.txt
var tableFiles embed.FS

// table returns the table of programs, read once. It is part of this package, so
// that a fault in it is a fault of the code: a test reads it, and the process
// must not run on without it.
func table() map[string]*row {
	tableOnce.Do(func() {
		rows, err := readTable(tableFiles)
		if err != nil {
			panic(err)
		}
		tableRows = rows
	})
	return tableRows
}

var (
	tableOnce sync.Once
	tableRows map[string]*row
)

// readTable reads every file of a table. A file holds rows such as
//
//	grep, egrep: it prints the lines of files that match a pattern
//	    is plain
//	    takes text read*
//	    -ivn -A: -e:^ -r% --include: --color?
//
// The first line names the programs, or sub-commands, and why they are
// read-only, or not. Then follow, each where needed: "is" with traits, "takes"
// with kinds of operands ("*" repeats), "needs" with flags of which one must be
// there, "judge" with the name of a function, and lines of flags. "-ivn" are
// three flags of one letter. What may follow a flag's name:
//
//	:  a value, attached or in the next word    ?  a value that is attached, or none
//	<  like :, a path that is read              >  like :, a path that is written
//	%  operands are read with all below them    ^  stands in for the first operand
//	!  known, but not read-only                 $  like :, text for a shell
//	~  like :, hosts for deny and ask rules     ?$ text for a shell that is attached
//	@  links that are found below operands are followed
//	&  files that are read name more files, which are read too
//	:: and :<  take two words, of which the last counts
//
// A line that begins with "# " is a comment.
// "-#" is a number behind a dash.
func readTable(files fs.FS) (map[string]*row, error) {
	names, err := fs.Glob(files, "table/*.txt")
	if err != nil {
		return nil, err
	}
	rows := map[string]*row{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		if err := readRows(rows, text); err != nil {
			return nil, fmt.Errorf("%s:%w", name, err)
		}
	}
	for name := range rows {
		if i := strings.LastIndexByte(name, ' '); i >= 0 {
			hub := rows[name[:i]]
			if hub == nil {
				return nil, fmt.Errorf("%q has no row of its own", name[:i])
			}
			hub.hub = true
		}
	}
	return rows, nil
}

// readRows adds the rows of one file.
func readRows(rows map[string]*row, text []byte) error {
	var current []*row
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		var err error
		if line[0] != ' ' {
			current, err = newRows(rows, line)
		} else {
			for _, r := range current {
				if err == nil {
					err = r.add(words)
				}
			}
		}
		if err != nil {
			return fmt.Errorf("%d: %w", n, err)
		}
	}
	return lines.Err()
}

// newRows adds the rows that a heading names.
func newRows(rows map[string]*row, line string) ([]*row, error) {
	names, why, ok := strings.Cut(line, ": ")
	if !ok {
		return nil, fmt.Errorf("%q gives no reason", line)
	}
	var added []*row
	for name := range strings.SplitSeq(names, ", ") {
		if rows[name] != nil {
			return nil, fmt.Errorf("%q has two rows", name)
		}
		r := &row{name: name, why: strings.TrimSpace(why), flags: map[string]flag{}}
		rows[name] = r
		added = append(added, r)
	}
	return added, nil
}

// add takes in one line of a row.
func (r *row) add(words []string) error {
	if strings.HasPrefix(words[0], "-") {
		for _, w := range words {
			if err := r.addFlag(w); err != nil {
				return err
			}
		}
		return nil
	}
	rest := words[1:]
	switch words[0] {
	case "is":
		for _, w := range rest {
			trait := r.named(w)
			if trait == nil {
				return fmt.Errorf("no trait is named %q", w)
			}
			*trait = true
		}
	case "takes":
		for _, w := range rest {
			name, repeat := strings.CutSuffix(w, "*")
			if !kind(name).known() {
				return fmt.Errorf("no kind of operand is named %q", name)
			}
			r.takes = append(r.takes, operand{kind(name), repeat})
		}
	case "needs":
		r.needs = append(r.needs, rest...)
	case "judge":
		if r.judge = judges(strings.Join(rest, " ")); r.judge == nil {
			return fmt.Errorf("no judge is named %q", strings.Join(rest, " "))
		}
	default:
		return fmt.Errorf("a line cannot begin with %q", words[0])
	}
	return nil
}

// addFlag takes in one word of a line of flags.
func (r *row) addFlag(word string) error {
	name := strings.TrimRight(word, ":?<>$~%^!@&")
	var f flag
	for _, mark := range word[len(name):] {
		switch mark {
		case ':':
			if f.value == valueRequired {
				f.lead++
			}
			f.value, f.kind = valueRequired, kindText
		case '?':
			f.value, f.kind = valueAttached, kindText
		case '<':
			if f.value == valueRequired {
				f.lead++
			}
			f.value, f.kind = valueRequired, kindRead
		case '>':
			f.value, f.kind = valueRequired, kindWrite
		case '$':
			f.value, f.kind = max(f.value, valueRequired), kindShell
		case '~':
			f.value, f.kind = valueRequired, kindDial
		case '%':
			f.deep = true
		case '^':
			f.first = true
		case '!':
			f.risky = true
		case '@':
			f.links = true
		case '&':
			f.lists = true
		}
	}
	names := []string{name}
	if !strings.HasPrefix(name, "--") && !r.onedash {
		names = names[:0]
		for _, letter := range name[1:] {
			names = append(names, "-"+string(letter))
		}
	}
	for _, name := range names {
		if _, twice := r.flags[name]; twice {
			return fmt.Errorf("%s has the flag %s twice", r.name, name)
		}
		r.flags[name] = f
	}
	return nil
}
