package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
	"github.com/toolquay/toolquay/permissions"
)

// part is a program with what is known of it, but for its redirections.
func (a *analysis) part(words []word, found programs.Finding, at site) permissions.Part {
	p := permissions.Part{
		Words: plainWords(words), Env: at.env, EnvTunes: len(at.env) > 0 && !at.odd,
		ReadOnly: found.ReadOnly, Complete: found.Complete, Reason: found.Reason, Ask: found.Ask,
	}
	p.ReadOnlyConfined = p.ReadOnly || !at.inner && !a.does && a.onlyReads(words, at.depth)
	if !p.ReadOnly {
		p.Reason = a.because(quoted(words[0].Text)+": "+found.Reason, at.node)
	}
	piped := slices.ContainsFunc(words, func(w word) bool { return w.pipe })
	if found.AnyHost {
		p.Unknown |= permissions.UnknownHost
	}
	for _, e := range found.Effects {
		if e.Held {
			p.Hosts = append(p.Hosts, e.Name)
			continue
		}
		if piped && e.Name == pipeName {
			continue
		}
		if isFed(&e) {
			e = programs.Effect{Kind: e.Kind, Name: at.feed.dir, Tree: true, Links: true}
		}
		e.AnyObject = e.AnyObject || !found.Complete || len(at.env) > 0 || at.state.shaken != ""
		list, sure := a.accesses(e, words, &at.state)
		p.Accesses = append(p.Accesses, list...)
		if !sure {
			p.Unknown |= permissions.UnknownOf(e.Kind)
			a.blur(&p, "where "+quoted(e.Name)+" leads is not known", at)
		}
		if paths, _ := a.paths(e.Name, &at.state); neverEnds(e.Kind, paths, words) {
			a.cloud(&p, quoted(e.Name)+" has no end", at)
		}
	}
	if p.Unknown |= found.Unknown; found.Unknown != 0 {
		a.blur(&p, "what "+quoted(words[0].Text)+" reads or writes is only known when it runs", at)
	}
	if at.veto != "" {
		if p.ReadOnly {
			p.Reason = a.because(at.veto, at.node)
		}
		p.ReadOnly, p.ReadOnlyConfined = false, false
	}
	p.Complete = p.Complete && at.gaps == ""
	if len(at.env) > 0 {
		a.cloud(&p, "it sets "+strings.Join(at.env, ", ")+" for "+quoted(words[0].Text), at)
	}
	if slices.ContainsFunc(words, func(w word) bool { return w.braced }) {
		a.cloud(&p, "the braces in its words are not plain", at)
	}
	if base(words) == "git" && (len(at.env) > 0 || at.state.shaken != "" || p.ReadOnlyConfined && !p.ReadOnly) {
		p.Unknown |= permissions.UnknownRead // GIT_DIR says which repository, a word which form
	}
	a.remove(&p, words, at)
	if base(words) == "git" && at.state.away != "" && p.Ask == "" {
		p.Ask = "git runs what the configuration of a directory says, and it may be any directory after " + at.state.away
	}
	return p
}

// cloud takes back that a part is read-only and completely known.
func (a *analysis) cloud(p *permissions.Part, why string, at site) {
	a.blur(p, why, at)
	p.ReadOnlyConfined = false
}

// blur is cloud for what does not matter where the part can write nothing and reach no host.
func (a *analysis) blur(p *permissions.Part, why string, at site) {
	if p.ReadOnly || p.Complete {
		p.Reason = a.because(why, at.node)
	}
	p.ReadOnly, p.Complete, p.Prints = false, false, false
}

// printers read and print, and heed no settings of a repository's or the user's that
// could have them do more: where they are not known to be all of a read-only command,
// they run with the environment as it is.
var printers = []string{
	"echo", "printf", "cat", "head", "tail", "ls", "wc", "sort", "uniq", "cut", "tr", "seq", "date", "pwd", "basename", "dirname", "true", ":",
}

// prints reports whether a read-only part is a printer, or a redirection alone.
func prints(words []permissions.Word) bool {
	return len(words) == 0 || words[0].Literal && slices.Contains(printers, path.Base(words[0].Text))
}

// add puts a part on the list, with its redirections and with what the syntax
// around it says.
func (a *analysis) add(p permissions.Part, at site) {
	p.Inner, p.Prints = p.Inner || at.inner, p.ReadOnly && p.Complete && prints(p.Words)
	p.ReadOnlyConfined = (p.ReadOnly || p.ReadOnlyConfined) && at.files.reads
	p.Accesses = append(p.Accesses, at.files.accesses...)
	p.Redirected = len(at.files.accesses)
	if !at.files.readOnly && p.ReadOnly {
		p.ReadOnly, p.Reason = false, at.files.reason
	}
	p.Complete = p.Complete && at.files.complete
	p.Unknown |= at.files.unknown | at.unknown
	p.Hosts = append(p.Hosts, at.hosts...)
	if p.Ask == "" {
		p.Ask = at.files.ask
	}
	if at.state.shaken != "" {
		a.cloud(&p, "the shell was changed before: "+at.state.shaken, at)
	}
	a.does = a.does || !p.Inner && !p.ReadOnlyConfined
	from := offset(at.node)
	for _, s := range a.spans {
		if from < s.from || from >= s.to {
			continue
		}
		if p.ReadOnly {
			p.ReadOnly, p.Reason = false, s.why
		}
		p.ReadOnlyConfined = p.ReadOnlyConfined && s.ends
		p.Prints = false
		p.Complete = p.Complete && !s.shifting
	}
	a.parts = append(a.parts, p)
}

// readings adds the other readings that rules may have of a part: the program
// without its folder or as a file system that folds case finds it, and words
// as they were written.
func (a *analysis) readings(words []word, mine int) {
	other := func(change func([]permissions.Word) bool) {
		p := a.parts[mine]
		p.Words = slices.Clone(p.Words)
		if change(p.Words) {
			p.Inner, p.Accesses, p.Redirected, p.Unknown, p.Hosts = true, nil, 0, 0, nil
			a.parts = append(a.parts, p)
		}
	}
	if name := base(words); name != "" && name != words[0].Text {
		other(func(w []permissions.Word) bool { w[0].Text = name; return true })
	}
	if name := strings.ToLower(base(words)); name != base(words) {
		other(func(w []permissions.Word) bool { w[0].Text = name; return true })
	}
	other(func(w []permissions.Word) bool {
		changed := false
		for i := range words {
			if words[i].also != "" {
				w[i].Text, changed = words[i].also, true
				w[i].Literal = w[i].Literal || words[i].translated
			}
		}
		return changed
	})
}

// base is the name of the program without its folder, empty if not known.
func base(words []word) string {
	if !words[0].Literal {
		return ""
	}
	return path.Base(words[0].Text)
}

// removers delete what their arguments name.
var removers = []string{"rm", "rmdir", "unlink", "shred", "srm", "find"}

// remove looks at what is removed under a name that is not known. With a
// variable unset, $X/ is the root and build/$X is all of build.
func (a *analysis) remove(p *permissions.Part, words []word, at site) {
	name := base(words)
	if !slices.Contains(removers, name) {
		return
	}
	if name == "find" && !slices.ContainsFunc(words, func(w word) bool {
		return w.is("-delete") || strings.HasPrefix(w.Text, "-exec") || strings.HasPrefix(w.Text, "-ok")
	}) {
		return
	}
	for _, w := range words[1:] {
		switch {
		case w.under:
			p.Ask, p.Critical = "it removes what is under "+quoted(w.Text)+", and that may be anything", true
		case w.prefix != "" && !strings.HasPrefix(w.prefix, "-"):
			e := programs.Effect{Kind: permissions.AccessWrite, Name: w.prefix, Removal: true, Tree: true}
			list, _ := a.accesses(e, nil, &at.state)
			p.Accesses = append(p.Accesses, list...)
		}
	}
}

func plainWords(words []word) []permissions.Word {
	out := make([]permissions.Word, len(words))
	for i := range words {
		out[i] = words[i].word()
	}
	return out
}

// quoted shows a word to people.
func quoted(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "..."
	}
	return "`" + strings.ReplaceAll(s, "\n", " ") + "`"
}
