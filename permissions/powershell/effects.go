package powershell

import (
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/shell"
)

// doing is what cmdlets that do more than read do with the words they are given, for
// rules on paths and hosts: by position r reads, w writes, x takes away, n reaches a
// host, - is no path.
var doing = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"remove-item": "x", "copy-item": "rw", "move-item": "xw", "rename-item": "x-", "new-item": "w", "set-item": "w-", "clear-item": "w",
		"set-content": "w-", "add-content": "w-", "clear-content": "w", "out-file": "w-", "tee-object": "w", "export-csv": "w-",
		"export-clixml": "w", "import-clixml": "r", "set-itemproperty": "w--", "remove-itemproperty": "w-", "set-acl": "w", "get-acl": "r",
		"expand-archive": "rw", "compress-archive": "rw", "start-transcript": "w", "invoke-item": "r", "import-module": "r", "select-xml": "-r",
		"invoke-webrequest": "n", "invoke-restmethod": "n", "push-location": "-", "unblock-file": "w", "new-temporaryfile": "",
	}
})

// valued are parameters whose value is no path, and firstParams, secondParams those
// that name what stands in the first and second position. These and the others may be
// cut short.
var (
	recurseParam = []string{"recurse"}
	writtenParam = []string{"outfile"}
	readParam    = []string{"infile"}
	valued       = strings.Fields("value encoding itemtype type filter include exclude newname erroraction ea delimiter inputobject method body headers width")
	firstParams  = strings.Fields("path literalpath pspath lp filepath name uri")
	secondParams = strings.Fields("destination destinationpath")
)

// runners run code that their words do not show, or change what names mean: no rule
// with a wildcard allows them.
var runners = sync.OnceValue(func() map[string]bool {
	return setOf(`invoke-expression invoke-command invoke-item invoke-history start-process start-job start-threadjob
	foreach-object add-type new-object import-module set-alias new-alias import-alias set-variable new-variable update-typedata
	update-formatdata register-objectevent register-engineevent register-argumentcompleter enter-pssession new-pssession
	invoke-cimmethod invoke-wmimethod new-module set-psbreakpoint set-psdebug pwsh powershell cmd using`)
})

// effects are what a command that may do more than read does with the paths and hosts
// it names, as far as can be told, and with those that are only known when it runs.
// Rather too much is taken for a path.
func (a *analysis) effects(s *simple) ([]permissions.Access, permissions.Unknown) {
	name := strings.ToLower(s.args[0][0].text)
	kinds, ok := doing()[name]
	for _, to := range meanings(name) {
		if found, known := doing()[to]; known && !ok {
			kinds, ok = found, true
		}
		_, reads := readOnly()[to]
		ok = ok || reads
	}
	if _, reads := readOnly()[name]; !ok && !reads {
		return nil, 0
	}
	e := effect{analysis: a, kinds: kinds}
	e.words(s.args[1:])
	return e.found, e.unknown
}

// effect collects what a cmdlet's words name.
type effect struct {
	*analysis
	kinds string
	tree  bool
	found []permissions.Access
	// unknown are the accesses whose targets are only known when it runs.
	unknown permissions.Unknown
}

func (e *effect) words(args [][]token) {
	var free [][]token
	unsure := false
	for i := 0; i < len(args); i++ {
		name, value, named := parameter(args[i])
		if !named {
			free = append(free, args[i])
			continue
		}
		name, glued, _ := strings.Cut(name, ".") // a dot ends a parameter's name too
		if glued != "" {
			value = "." + glued
		}
		of, takes := args[i][1:], i
		if value != "" {
			of = append([]token{{text: value, literal: true}}, of...)
		} else if i+1 < len(args) {
			of, takes = args[i+1], i+1
		}
		switch role := e.role(name); role {
		case 0:
			unsure = true
		case 't':
			e.tree = true
		default:
			e.touch(role, of)
			i = takes
		}
	}
	for i, list := range free {
		if e.touch(e.kind(i), list); unsure {
			e.touch(e.kind(0), list)
		}
	}
	for i := range e.found {
		e.found[i].Tree = e.found[i].Tree || e.tree && e.found[i].Kind != permissions.AccessNet
	}
}

// role is what is done with the value of a parameter, as in [doing], t for the flag
// that goes below, and 0 where it is not known.
func (e *effect) role(name string) byte {
	switch {
	case shortens(name, recurseParam):
		return 't'
	case isOne(name, valued...):
		return '-'
	case shortens(name, secondParams):
		return e.kind(1)
	case shortens(name, firstParams):
		return e.kind(0)
	case shortens(name, writtenParam):
		return 'w'
	case shortens(name, readParam):
		return 'r'
	}
	return 0
}

// kind is what is done with the word in a position; more words than are known are as
// the first one.
func (e *effect) kind(i int) byte {
	switch {
	case e.kinds == "":
		return 'r'
	case i < len(e.kinds):
		return e.kinds[i]
	}
	return e.kinds[0]
}

// shortens reports whether a name may be one of the names cut short.
func shortens(name string, names []string) bool {
	return name != "" && slices.ContainsFunc(names, func(full string) bool { return strings.HasPrefix(full, name) })
}

func (e *effect) touch(kind byte, list []token) {
	access := permissions.Access{Kind: permissions.AccessRead}
	switch kind {
	case '-':
		return
	case 'n':
		access.Kind = permissions.AccessNet
	case 'x':
		access.Kind, access.Removal = permissions.AccessWrite, true
	case 'w':
		access.Kind = permissions.AccessWrite
	}
	for i := range list {
		if !list[i].literal {
			e.unknown |= permissions.UnknownOf(access.Kind)
		}
		if !list[i].literal || list[i].text == "" {
			continue
		}
		if kind == 'n' {
			access.Target = list[i].text
			e.found = append(e.found, access)
			continue
		}
		found, sure := e.accesses(list[i].text, true, access)
		if !sure {
			e.unknown |= permissions.UnknownOf(access.Kind)
		}
		e.found = append(e.found, found...)
	}
}

// further adds what else is to be known of a command that may do more than read: by
// other names, as a program of the system, and what it runs.
func (a *analysis) further(s *simple, mine int) {
	words := s.words()
	add := func(words []permissions.Word) {
		a.parts = append(a.parts, permissions.Part{
			Words: words, Inner: true, Beside: a.parts[mine].Beside, Reason: "it is another reading of a command",
		})
	}
	spread := s.spread()
	if len(spread) != len(words) {
		add(spread)
	}
	runs := runners()[strings.ToLower(words[0].Text)]
	for _, name := range meanings(words[0].Text) {
		add(renamed(spread, name))
		runs = runs || runners()[name]
	}
	a.native(s, mine)
	if runs || slices.ContainsFunc(spread, changesNames) {
		a.parts = append(a.parts, permissions.Part{
			Words:  []permissions.Word{{Text: plain(words)}},
			Beside: a.parts[mine].Beside, Reason: "`" + words[0].Text + "`: what it runs is not known",
		})
		a.parts = append(a.parts, guesses(plain(spread[1:]), a.at)...)
	}
}

// renamed are the words of a command by another name.
func renamed(words []permissions.Word, name string) []permissions.Word {
	out := slices.Clone(words)
	out[0] = permissions.Word{Text: name, Literal: true}
	return out
}

func plain(words []permissions.Word) string {
	texts := make([]string, len(words))
	for i := range words {
		texts[i] = words[i].Text
	}
	return strings.Join(texts, " ")
}

// changesNames reports whether a word names something of the providers that hold
// aliases, functions and variables.
func changesNames(w permissions.Word) bool {
	drive, _, ok := strings.Cut(strings.ToLower(w.Text), ":")
	drive = drive[strings.LastIndexByte(drive, '\\')+1:]
	return ok && isOne(strings.TrimPrefix(drive, "-path"), "alias", "function", "variable", "env", "")
}

// native adds what the system's own program of that name does: bash's reading of the
// same words. What that starts needs an allow of its own.
func (a *analysis) native(s *simple, mine int) {
	if doing()[strings.ToLower(s.args[0][0].text)] != "" {
		return
	}
	spread := s.spread()
	seen := shell.Analyse(bashLine(s), shell.Place{Cwd: a.dirs[len(a.dirs)-1], Home: a.at.Home, Working: a.at.Working})
	for _, p := range seen.Parts {
		p.ReadOnly, p.Complete, p.Redirected, p.Beside = false, false, 0, a.parts[mine].Beside
		if len(p.Words) > 0 && !p.Words[0].Literal {
			p.Unknown = 0 // an expression to PowerShell, which starts no program
		}
		switch same := sameWords(p.Words, spread); {
		case same && !p.Inner:
			m := &a.parts[mine]
			own := len(m.Accesses) - m.Redirected
			m.Accesses = append(distinct(slices.Concat(p.Accesses, m.Accesses[:own])), m.Accesses[own:]...)
			m.Ask, m.Critical, m.Unknown = p.Ask, p.Critical, m.Unknown|p.Unknown
		case !same:
			a.parts = append(a.parts, p)
		}
	}
}

// sameWords reports whether bash found the words that it was given, or but for the
// case of their letters; what is expanded it was not given.
func sameWords(got, given []permissions.Word) bool {
	return slices.EqualFunc(got, given, func(a, b permissions.Word) bool {
		return !b.Literal || strings.EqualFold(a.Text, b.Text)
	})
}

// distinct are accesses without those that were there before.
func distinct(list []permissions.Access) []permissions.Access {
	seen := make(map[permissions.Access]bool, len(list))
	return slices.DeleteFunc(list, func(a permissions.Access) bool {
		before := seen[a]
		seen[a] = true
		return before
	})
}

// bashLine writes a command so that bash reads the words that a program is given.
func bashLine(s *simple) string {
	var b strings.Builder
	for _, list := range s.args {
		for i := range list {
			t := &list[i]
			globs := !t.quoted && t.literal && strings.ContainsAny(t.text, "*?") && !strings.Contains(t.text, `\`)
			switch {
			case !t.literal:
				b.WriteString("$unknown ")
			case globs:
				b.WriteString(t.text + " ")
			default:
				b.WriteString("'" + strings.ReplaceAll(t.text, "'", `'\''`) + "' ")
			}
		}
	}
	return b.String()
}
