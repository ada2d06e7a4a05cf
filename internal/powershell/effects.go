package powershell

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// doing is what cmdlets that do more than read do with what they are given, for rules on
// paths and hosts: r reads, w writes, x takes away, n reaches a host. Any of their words
// may be meant: rather too much is taken for a path.
var doing = map[string]string{
	"remove-item": "x", "copy-item": "rw", "move-item": "x", "rename-item": "x", "new-item": "w", "set-item": "w", "clear-item": "w",
	"set-content": "w", "add-content": "w", "clear-content": "w", "out-file": "w", "tee-object": "w", "export-csv": "w",
	"export-clixml": "w", "import-clixml": "r", "import-csv": "r", "format-hex": "r", "get-itemproperty": "r", "convert-path": "r",
	"set-itemproperty": "w", "remove-itemproperty": "w", "set-acl": "w", "get-acl": "r", "expand-archive": "rw", "compress-archive": "rw",
	"start-transcript": "w", "invoke-item": "r", "import-module": "r", "select-xml": "r", "unblock-file": "w",
	"invoke-webrequest": "nw", "invoke-restmethod": "nw",
}

var accessKinds = map[byte]permissions.AccessKind{
	'r': permissions.AccessRead, 'w': permissions.AccessWrite, 'x': permissions.AccessWrite, 'n': permissions.AccessNet,
}

// runners run code that their words do not show, or change what names mean: no rule
// with a wildcard allows them.
var runners = strings.Fields(`invoke-expression invoke-command invoke-item invoke-history start-process start-job start-threadjob
	foreach-object add-type new-object import-module set-alias new-alias import-alias set-variable new-variable update-typedata
	update-formatdata register-objectevent register-engineevent register-argumentcompleter enter-pssession new-pssession
	invoke-cimmethod invoke-wmimethod new-module set-psbreakpoint set-psdebug pwsh powershell cmd using`)

// effects are what a cmdlet that may do more than read does with the paths and hosts
// it names, as far as can be told, and with those that are only known when it runs: what
// it is piped may name files, too.
func (a *analysis) effects(s *simple, piped bool) (found []permissions.Access, unknown permissions.Unknown) {
	var kinds []byte
	tree := false
	for _, name := range append(meanings(s.args[0][0].text), strings.ToLower(s.args[0][0].text)) {
		if readOnly()[name] != nil {
			kinds = append(kinds, 'r')
		}
		kinds = append(kinds, doing[name]...)
	}
	for _, kind := range kinds {
		if piped && (kind != 'w' || len(s.args) == 1) {
			unknown |= permissions.UnknownOf(accessKinds[kind])
		}
	}
	for _, list := range s.args[1:] {
		if _, _, named := parameter(list); named { // a dot ends its name, too
			name, value, _ := strings.Cut(strings.Replace(strings.ToLower(list[0].text[1:]), ".", ":.", 1), ":")
			tree = tree || name != "" && name == "recurse"[:min(len(name), len("recurse"))]
			list = append([]word{{text: value, literal: true}}, list[1:]...)
		}
		for _, w := range list {
			for _, kind := range kinds {
				access := permissions.Access{Kind: accessKinds[kind], Target: w.text, Removal: kind == 'x'}
				switch {
				case w.literal && w.text == "" || kind == 'w' && strings.Contains(w.text, "://"):
				case !w.literal:
					unknown |= permissions.UnknownOf(access.Kind)
				case kind == 'n':
					found = append(found, access)
				default:
					more, sure := a.accesses(w.text, access)
					if found = append(found, more...); !sure {
						unknown |= permissions.UnknownOf(access.Kind)
					}
				}
			}
		}
	}
	for i := range found {
		found[i].Tree = found[i].Tree || tree && found[i].Kind != permissions.AccessNet
	}
	return found, unknown
}

// further adds what else is to be known of a command that may do more than read: by
// other names, as a program of the system, and what it runs.
func (a *analysis) further(s *simple, mine int) {
	words, beside := s.words(), a.parts[mine].Beside
	add := func(words []permissions.Word) {
		a.parts = append(a.parts, permissions.Part{Words: words, Inner: true, Beside: beside, Reason: "it is another reading of a command"})
	}
	var spread []permissions.Word // lists taken apart, as a program is given them
	for _, list := range s.args {
		for _, w := range list {
			spread = append(spread, permissions.Word{Text: w.text, Literal: w.literal})
		}
	}
	if len(spread) != len(words) {
		add(spread)
	}
	names := meanings(words[0].Text)
	for _, name := range names {
		add(renamed(spread, name))
	}
	a.native(s, spread, mine)
	isRunner := func(name string) bool { return slices.Contains(runners, name) }
	if isRunner(strings.ToLower(words[0].Text)) || slices.ContainsFunc(names, isRunner) || slices.ContainsFunc(spread, changesNames) {
		a.parts = append(a.parts, permissions.Part{
			Words: []permissions.Word{{Text: plain(words)}}, Beside: beside,
			Reason: "`" + words[0].Text + "`: what it runs is not known",
		})
		a.parts = append(a.parts, guesses(plain(spread[1:]), a.at)...)
	}
}

// renamed are the words of a command by another name.
func renamed(words []permissions.Word, name string) []permissions.Word {
	return append([]permissions.Word{{Text: name, Literal: true}}, words[1:]...)
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
	drive = strings.TrimPrefix(drive[strings.LastIndexByte(drive, '\\')+1:], "-path")
	return ok && slices.Contains([]string{"alias", "function", "variable", "env", ""}, drive)
}

// native adds what the system's own program of that name does: bash's reading of the
// same words. What that starts needs an allow of its own.
func (a *analysis) native(s *simple, spread []permissions.Word, mine int) {
	if doing[strings.ToLower(s.args[0][0].text)] != "" {
		return
	}
	var line strings.Builder // that bash reads as the words a program is given
	for _, list := range s.args {
		for _, w := range list {
			switch {
			case !w.literal:
				line.WriteString("$unknown ")
			case !w.quoted && strings.ContainsAny(w.text, "*?") && !strings.Contains(w.text, `\`):
				line.WriteString(w.text + " ")
			default:
				line.WriteString("'" + strings.ReplaceAll(w.text, "'", `'\''`) + "' ")
			}
		}
	}
	seen := shell.Analyse(line.String(), shell.Place{Cwd: a.dirs[len(a.dirs)-1], Home: a.at.Home, Working: a.at.Working})
	for _, p := range seen.Parts {
		p.ReadOnly, p.Complete, p.Redirected, p.Beside = false, false, 0, a.parts[mine].Beside
		if len(p.Words) > 0 && !p.Words[0].Literal {
			p.Unknown = 0 // an expression to PowerShell, which starts no program
		}
		same := slices.EqualFunc(p.Words, spread, func(a, b permissions.Word) bool { return !b.Literal || strings.EqualFold(a.Text, b.Text) })
		if m := &a.parts[mine]; same && !p.Inner {
			own := m.Accesses[:len(m.Accesses)-m.Redirected]
			more := slices.DeleteFunc(p.Accesses, func(x permissions.Access) bool { return slices.Contains(own, x) })
			m.Accesses = append(more, m.Accesses...)
			m.Ask, m.Critical, m.Unknown = p.Ask, p.Critical, m.Unknown|p.Unknown
		} else if !same {
			a.parts = append(a.parts, p)
		}
	}
}

// The bounds of guessing.
const (
	// maxGuesses is how many parts are made. Past them a person is asked, as a deny rule
	// might have spoken of what was not looked at.
	maxGuesses = 10_000
	// maxJudged is how many of them have their accesses found out, and maxNamed how many
	// words are taken for paths.
	maxJudged = 200
	maxNamed  = 2_000
	// longGuess is how many words a part has at most that does not start where a command
	// may start.
	longGuess = 8
)

const guessed = "it is a guess at a command that is not understood"

// guesses take a text for what it may be, on behalf of deny and ask rules: words between
// blanks, operators and brackets, quotes and backticks taken off, from every word on a
// command, and every word a file. There are too many of them, not too few.
func guesses(text string, at Place) []permissions.Part {
	a := analysis{at: at, dirs: []string{at.Cwd}}
	files := permissions.Part{Inner: true, Reason: guessed}
	text = strings.Map(func(r rune) rune {
		switch {
		case disguised(r) && r < 0x2018:
			return '-'
		case disguised(r) || strings.ContainsRune("'\"`", r) || r != '\r' && shell.Hides(r):
			return -1
		}
		return r
	}, text)
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("\n;&|(){}=<>[]@#!", r) }) {
		var words []permissions.Word
		for w := range strings.FieldsFuncSeq(run, func(r rune) bool { return strings.ContainsRune(" \t\r,", r) }) {
			words = append(words, permissions.Word{Text: w, Literal: !strings.Contains(w, "$")})
			if len(files.Accesses) < maxNamed {
				found, _ := a.accesses(w, permissions.Access{Kind: permissions.AccessRead})
				for _, f := range found {
					f.Tree = false
					files.Accesses = append(files.Accesses, f)
				}
			}
		}
		for i := 0; i < len(words) && len(a.parts) < maxGuesses; i++ {
			end := len(words)
			if i > 0 {
				end = min(end, i+longGuess)
			}
			a.guess(slices.Clip(words[i:end]))
		}
	}
	if len(a.parts) >= maxGuesses || len(files.Accesses) >= maxNamed {
		files.Ask, files.Critical = "there is more of it than can be looked through", true
	}
	return append(a.parts, files)
}

// guess adds the part of a command, and those of its further names.
func (a *analysis) guess(words []permissions.Word) {
	mine := len(a.parts)
	a.parts = append(a.parts, permissions.Part{Words: words, Inner: true, Reason: guessed})
	if mine < maxJudged {
		var s simple
		for _, w := range words {
			s.args = append(s.args, []word{{text: w.Text, literal: w.Literal}})
		}
		a.parts[mine].Accesses, a.parts[mine].Unknown = a.effects(&s, false)
		a.native(&s, words, mine)
		for i := mine; i < len(a.parts); i++ {
			a.parts[i].Inner = true
		}
	}
	for _, name := range meanings(words[0].Text) {
		a.parts = append(a.parts, permissions.Part{Words: renamed(words, name), Inner: true, Reason: guessed})
	}
}
