package powershell

import (
	"path"
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
		s := &list[i]
		p := permissions.Part{Words: s.words(), Beside: len(list) > 1}
		why, accesses := a.judge(list, i)
		if why == "" && (before != "" || len(accesses) > 0) {
			why = a.shaken
		}
		if p.Accesses = accesses; why != "" {
			p.Accesses, p.Unknown = a.effects(s, i > 0)
		}
		for _, file := range s.files {
			found, sure := a.accesses(file.text, permissions.Access{Kind: permissions.AccessWrite})
			if file.literal {
				p.Accesses = append(p.Accesses, found...)
				p.Redirected += len(found)
			}
			if !strings.EqualFold(file.text, "$null") || file.quoted {
				why = "it writes to `" + file.text + "`"
				if !sure || !file.literal {
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
}

// judge says why a command does not only read, or nothing, and what it reads.
func (a *analysis) judge(list []simple, i int) (why string, accesses []permissions.Access) {
	args := list[i].args
	name := cmdletOf(args[0][0].text)
	if name == "set-location" {
		return a.move(args[1:], len(list) == 1), nil
	}
	c := readOnly()[name]
	switch {
	case c == nil:
		return "it is not known to only read", nil
	case i > 0 && (!c.piped || name == "select-string" && cmdletOf(list[i-1].args[0][0].text) != "get-content"):
		return "what it is given by the pipe may name files", nil
	}
	b := binding{analysis: a, cmdlet: c, bound: map[string]bool{}}
	if why = b.bind(args[1:]); why != "" {
		return why, nil
	}
	if name == "get-childitem" {
		if len(b.accesses) == 0 {
			b.accesses, _ = a.accesses(".", permissions.Access{Kind: permissions.AccessRead})
		}
		for j := range b.accesses {
			b.accesses[j].Tree = b.accesses[j].Tree || b.bound["recurse"] || b.bound["depth"]
		}
	}
	return "", b.accesses
}

// maxDirs is how many directories a command may be in before that is too much to follow.
const maxDirs = 16

// move follows Set-Location to a directory that is named. Like cd, it needs no
// permission inside the working directories.
func (a *analysis) move(args [][]word, alone bool) (why string) {
	if len(args) > 1 && !args[0][0].quoted && (strings.EqualFold(args[0][0].text, "-path") || strings.EqualFold(args[0][0].text, "-literalpath")) {
		args = args[1:]
	}
	if len(args) != 1 || len(args[0]) != 1 || !args[0][0].literal || !alone {
		return "where it leads is not known"
	}
	name := args[0][0].text
	found, sure := a.accesses(name, permissions.Access{})
	if !sure || found[0].Tree || strings.ContainsAny(name[:1], "-+") {
		why = "where it leads is not known"
	}
	for _, f := range found {
		if why == "" && !slices.ContainsFunc(append(a.at.Working, a.at.Cwd), func(dir string) bool { return within(f.Target, dir) }) {
			why = "it leaves the working directories"
		}
		a.dirs = append(slices.DeleteFunc(slices.Clone(a.dirs), func(d string) bool { return d == f.Target }), f.Target)
	}
	a.lost = a.lost || len(a.dirs) > maxDirs
	a.dirs = a.dirs[max(0, len(a.dirs)-maxDirs):]
	return why
}

// within reports whether a clean path is a directory or lies below it.
func within(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && dir != "" && (rest == "" || rest[0] == '/' || dir == "/")
}

// binding binds the arguments of a cmdlet to its parameters, but for names that are cut
// short: which of several they mean changes with versions (about_Parameters).
type binding struct {
	*analysis
	cmdlet   *cmdlet
	bound    map[string]bool
	accesses []permissions.Access
}

// bind returns why it is not known that the cmdlet only reads.
func (b *binding) bind(args [][]word) (why string) {
	words := 0
	for len(args) > 0 && why == "" {
		arg := args[0]
		args = args[1:]
		name, value, named := parameter(arg)
		kind, known := b.cmdlet.params[name]
		switch {
		case !named && b.cmdlet.paths:
			words++
			why = b.value('*', arg)
		case !named:
			words++
			why = b.value(0, arg)
		case !known || b.bound[name]:
			why = "its parameter `-" + name + "` is not known to only read"
		case kind == '!' && value != "":
			why = "the value of the switch `-" + name + "` is not understood"
		case kind == '!':
		case value != "":
			why = b.value(kind, append([]word{{text: value, literal: true}}, arg[1:]...))
		case len(args) == 0:
			why = "its parameter `-" + name + "` has no value"
		default:
			why = b.value(kind, args[0])
			args = args[1:]
		}
		b.bound[name] = named
	}
	// Of several paths at most one is given by position.
	if words > b.cmdlet.words || words > 0 && (b.bound["path"] || b.bound["literalpath"]) && !b.cmdlet.piped {
		return "what one of its words is to it, is not known"
	}
	return why
}

// parameter reads -name or -name:value. A quoted word is a value (about_Parsing).
func parameter(arg []word) (name, value string, ok bool) {
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

// value takes a value, or a list of them.
func (b *binding) value(kind byte, list []word) string {
	for _, w := range list {
		switch {
		case !w.literal:
			return "what `" + w.text + "` is, is only known when it runs"
		case !w.quoted && w.text[0] == '-':
			return "`" + w.text + "` may be a parameter"
		case kind == '%' && (strings.ContainsAny(w.text, `/\:`) || strings.Contains(w.text, "..")):
			// .NET joins a filter to the directory before it parts the two again.
			return "`" + w.text + "` may name what is in another directory"
		case kind == 'e' && !slices.Contains(actions, strings.ToLower(w.text)):
			return "the value of -ErrorAction is not understood"
		case kind == '*':
			found, sure := b.analysis.accesses(w.text, permissions.Access{Kind: permissions.AccessRead})
			if !sure {
				return "where `" + w.text + "` leads is not known"
			}
			b.accesses = append(b.accesses, found...)
		}
	}
	return ""
}

// accesses are what naming a path may touch, for each directory the command may be in.
// It reports false where that is not all: a name that is empty, steps back, names a
// drive, provider (about_Providers) or share, or has a backslash, which parts names to
// PowerShell everywhere, but not to programs. What a name with wildcards matches is in
// the last directory that is written out, links among it.
func (a *analysis) accesses(name string, access permissions.Access) (out []permissions.Access, sure bool) {
	sure = name != "" && !strings.ContainsAny(name, ":\n\\`") && !strings.HasPrefix(name, "//") && !strings.Contains("/"+name+"/", "/../")
	name = strings.ReplaceAll(name, `\`, "/")
	name = name[strings.LastIndexByte(name, ':')+1:] // what is behind the drive or provider, for deny rules
	if i := strings.IndexAny(name, "*?["); i >= 0 {
		sure = sure && !strings.Contains(name[i:], "..")
		name = name[:strings.LastIndexByte(name[:i], '/')+1]
		access.Tree, access.Former = true, permissions.FormerUnknown
	}
	dirs := a.dirs
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') {
		dirs, name = []string{a.at.Home}, "."+rest
	} else if strings.HasPrefix(name, "/") {
		dirs = []string{"/"}
	}
	for _, dir := range dirs {
		access.Target = path.Join(dir, name)
		if dir != "" && !slices.Contains(out, access) {
			out = append(out, access)
		}
	}
	return out, sure && len(out) > 0
}

// words are a command's words as rules see them, a list being one word.
func (s *simple) words() []permissions.Word {
	out := make([]permissions.Word, len(s.args))
	for i, list := range s.args {
		out[i] = permissions.Word{Text: list[0].text, Literal: list[0].literal}
		for _, w := range list[1:] {
			out[i].Text += "," + w.text
			out[i].Literal = out[i].Literal && w.literal
		}
	}
	return out
}
