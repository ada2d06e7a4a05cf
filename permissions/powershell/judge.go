package powershell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// pipeline adds the parts of the commands of a pipeline. All its commands are looked
// up before the first runs, so that none changes what the name of another means; but
// it may change where paths lead.
func (a *analysis) pipeline(list []simple) {
	before := a.shaken
	for i := range list {
		a.simple(list, i, before)
	}
}

// simple adds the parts of one command; before is what had shaken names before its
// pipeline.
func (a *analysis) simple(list []simple, i int, before string) {
	s := &list[i]
	p := permissions.Part{Words: s.words(), Beside: len(list) > 1}
	why, accesses, unknown := a.judge(list, i)
	if why == "" && (before != "" || len(accesses) > 0) {
		why = a.shaken
	}
	p.Accesses, p.Unknown = accesses, unknown
	for j := range s.files {
		found, sure := a.accesses(s.files[j].text, false, permissions.Access{Kind: permissions.AccessWrite})
		if s.files[j].literal {
			p.Accesses = append(p.Accesses, found...)
			p.Redirected += len(found)
		}
		if !strings.EqualFold(s.files[j].text, "$null") || s.files[j].quoted {
			why = "it writes to `" + s.files[j].text + "`"
			if !sure || !s.files[j].literal {
				p.Unknown |= permissions.UnknownWrite | permissions.UnknownMustAsk
			}
		}
	}
	p.ReadOnly, p.Complete, p.Reason = why == "", why == "", "it only reads"
	if why != "" {
		p.Reason = "`" + p.Words[0].Text + "`: " + why
		a.shaken = "`" + p.Words[0].Text + "` may have changed what names mean"
	}
	a.parts = append(a.parts, p)
	if why != "" {
		a.further(s, len(a.parts)-1)
	}
}

// judge says why a command does not only read, or nothing, and what it touches.
func (a *analysis) judge(list []simple, i int) (why string, accesses []permissions.Access, unknown permissions.Unknown) {
	s := &list[i]
	name := cmdletOf(s.args[0][0].text, a.at.Windows)
	if name == "set-location" {
		why, accesses = a.move(s, len(list) == 1)
		return why, accesses, 0
	}
	c := readOnly()[name]
	if c == nil {
		accesses, unknown = a.effects(s)
		return "it is not known to only read", accesses, unknown
	}
	b := binding{analysis: a, cmdlet: c}
	if why = b.bind(s.args[1:]); why != "" {
		accesses, unknown = a.effects(s)
		return why, accesses, unknown
	}
	switch {
	case i == 0:
	case !c.piped:
		why = "what it is given by the pipe may name files"
	case name == "select-string" && slices.ContainsFunc(list[:i], a.namesFiles):
		why = "what it is given by the pipe may name files"
	}
	if a.searchedLater(list[i+1:]) {
		for j := range b.accesses { // what links lead to is opened, too
			b.accesses[j].Tree, b.accesses[j].Former = true, permissions.FormerUnknown
		}
	}
	return why, b.accesses, 0
}

// namesFiles reports whether Select-String behind a command may read files other than
// those below what the command named: a string is searched itself, a file's entry is
// opened.
func (a *analysis) namesFiles(s simple) bool {
	switch cmdletOf(s.args[0][0].text, a.at.Windows) {
	case "get-childitem", "get-item", "get-content", "sort-object", "where-object", "out-string", "get-unique":
		return false
	}
	return true
}

func (a *analysis) searchedLater(list []simple) bool {
	return slices.ContainsFunc(list, func(s simple) bool {
		return cmdletOf(s.args[0][0].text, a.at.Windows) == "select-string"
	})
}

// move follows Set-Location to a directory that is named. Like cd, it needs no
// permission inside the working directories.
func (a *analysis) move(s *simple, alone bool) (why string, accesses []permissions.Access) {
	const unknown = "where it leads is not known"
	args := s.args[1:]
	if len(args) > 1 {
		if first := args[0]; len(first) == 1 && !first[0].quoted && isOne(first[0].text, "-path", "-literalpath") {
			args = args[1:]
		}
	}
	if len(args) != 1 || len(args[0]) != 1 || !args[0][0].literal || !alone {
		return unknown, nil
	}
	name := args[0][0].text
	found, sure := a.accesses(name, true, permissions.Access{Kind: permissions.AccessRead})
	if !sure || found[0].Tree || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "+") || len(found)+len(a.dirs) > maxDirs {
		a.enter(found)
		return unknown, nil
	}
	for i := range found {
		if !a.working(found[i].Target) {
			why = "it leaves the working directories"
		}
	}
	a.enter(found)
	return why, nil
}

// The bounds on moving: how many directories it may be in before it counts as not
// known where, and how often it moves before that is too much to follow.
const (
	maxDirs  = 8
	maxMoves = 50
)

func (a *analysis) enter(found []permissions.Access) {
	if a.moves++; a.moves > maxMoves {
		return
	}
	for i := range found {
		dir := found[i].Target
		a.dirs = append(slices.DeleteFunc(slices.Clone(a.dirs), func(d string) bool { return d == dir }), dir)
	}
	a.dirs = a.dirs[max(0, len(a.dirs)-maxDirs):]
}

func isOne(text string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, text) })
}

// binding binds the arguments of a cmdlet to its parameters, as about_Parameters has
// it, but for names that are cut short: which of several they mean changes with
// versions.
type binding struct {
	*analysis
	cmdlet   *cmdlet
	bound    []string
	accesses []permissions.Access
}

// bind returns why it is not known that the cmdlet only reads.
func (b *binding) bind(args [][]token) string {
	var free [][]token
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, value, named := parameter(arg)
		if !named {
			free = append(free, arg)
			continue
		}
		k, ok := b.known(name)
		switch {
		case !ok:
			return "its parameter `-" + name + "` is not known to only read"
		case k == flagParam:
			if value != "" {
				return "the value of the switch `-" + name + "` is not understood"
			}
			b.bound = append(b.bound, name)
			continue
		case value == "" && len(args) == 0:
			return "its parameter `-" + name + "` has no value"
		case value == "":
			arg, args = args[0], args[1:]
			if _, _, again := parameter(arg); again {
				return "its parameter `-" + name + "` has no value"
			}
		default:
			arg = append([]token{{text: value, literal: true}}, arg[1:]...)
		}
		if why := b.value(name, k, arg); why != "" {
			return why
		}
	}
	return b.place(free)
}

// parameter reads -name or -name:value. A quoted word is a value (about_Parsing).
func parameter(arg []token) (name, value string, ok bool) {
	text := arg[0].text
	if arg[0].quoted || !arg[0].literal || len(text) < 2 || text[0] != '-' || strings.Trim(text[1:2], "0123456789.") == "" {
		return "", "", false
	}
	name, value, colon := strings.Cut(text[1:], ":")
	if value == "" && (colon || len(arg) > 1) {
		name += "..." // something that is no name follows
	}
	return strings.ToLower(name), value, true
}

func (b *binding) known(name string) (paramKind, bool) {
	if k, ok := b.cmdlet.params[name]; ok {
		return k, true
	}
	k, ok := commonParams[name]
	return k, ok
}

// value takes a parameter's value.
func (b *binding) value(name string, k paramKind, list []token) string {
	if slices.Contains(b.bound, name) {
		return "its parameter `-" + name + "` is given twice"
	}
	b.bound = append(b.bound, name)
	for i := range list {
		t := &list[i]
		switch {
		case !t.literal:
			return "what `" + t.text + "` is, is only known when it runs"
		case !t.quoted && t.text[0] == '-' && k != textParam:
			return "`" + t.text + "` may be a parameter"
		case k == nameParam && (strings.ContainsAny(t.text, `/\:`) || strings.Contains(t.text, "..")):
			return "`" + t.text + "` may name what is in another directory"
		case k == actionParam && !actions[strings.ToLower(t.text)]:
			return "the value of `-" + name + "` is not understood"
		case k == pathParam || k == literalParam:
			found, sure := b.analysis.accesses(t.text, k == pathParam, permissions.Access{Kind: permissions.AccessRead})
			if !sure {
				return fmt.Sprintf("where `%s` leads is not known", t.text)
			}
			b.accesses = append(b.accesses, found...)
		}
	}
	return ""
}

// place binds the words without a name to the positions that are left.
func (b *binding) place(free [][]token) string {
	for _, name := range b.cmdlet.positions {
		if len(free) == 0 {
			break
		}
		if slices.Contains(b.bound, name) || name == "path" && b.hasPath() {
			continue
		}
		k, _ := b.known(name)
		if why := b.value(name, k, free[0]); why != "" {
			return why
		}
		free = free[1:]
	}
	if len(free) > 0 {
		return "what `" + free[0][0].text + "` is to it, is not known"
	}
	if b.cmdlet.here && !b.hasPath() {
		found, _ := b.analysis.accesses(".", false, permissions.Access{Kind: permissions.AccessRead})
		b.accesses = append(b.accesses, found...)
	}
	if slices.ContainsFunc(b.cmdlet.deep, func(name string) bool { return slices.Contains(b.bound, name) }) {
		for i := range b.accesses {
			b.accesses[i].Tree = true
		}
	}
	return ""
}

// hasPath reports whether a path was given under any name.
func (b *binding) hasPath() bool {
	return slices.ContainsFunc(b.bound, func(name string) bool { return isOne(name, "path", "literalpath", "pspath", "lp") })
}
