package programs

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// dialled are the hosts that the words of a line may name, for deny and ask rules:
// too many of them rather than too few.
func (l *line) dialled() []Effect {
	var out []Effect
	for _, it := range l.items {
		if it.mayDial(l.row) || l.row.partly && it.arg.Literal && it.kind == kindText {
			out = append(out, dial(it.arg)...)
		}
	}
	for _, text := range l.odd {
		if l.row.net {
			out = append(out, dial(Arg{Text: text, Literal: true})...)
		}
	}
	return out
}

// mayDial reports whether a word may name hosts that are no effects of its own.
func (it item) mayDial(r *row) bool {
	switch it.kind {
	case kindDial:
		return true
	case kindHost, kindURL:
		return !it.arg.Literal && !it.arg.Glob
	}
	return r.net && it.flag == ""
}

// anyHost reports whether a program that reaches hosts may reach others than those
// that its words name.
func (l *line) anyHost() bool {
	if l.unknown != "" && l.row.net && !l.row.partly {
		return true
	}
	for _, it := range l.items {
		switch {
		case it.flag != "" && l.row.flags[it.flag].lists && l.row.net:
			return true
		case it.arg.Literal || it.arg.Glob, it.flag == "" && l.row.isText(it.arg):
		case it.mayDial(l.row) && len(dial(it.arg)) == 0:
			return true
		case l.row.net && !it.arg.Single:
			return true // it may be more words than one
		}
	}
	return false
}

// isText reports whether a word that is expanded is a flag with its value in one word,
// as --header="X: $x", and the value names no host.
func (r *row) isText(a Arg) bool {
	word := strings.TrimLeft(a.Text, `"`)
	name, _, long := strings.Cut(word, "=")
	if !strings.HasPrefix(word, "--") && len(word) > 2 {
		name, long = word[:2], true
	}
	f, ok := r.flags[name]
	return ok && long && a.Single && f.value != valueNone && (f.kind == kindText || f.kind.path() && !f.lists)
}

// urlHead is the start of a URL that is known up to the end of its host, whatever
// is put in behind.
var urlHead = lazyregexp.New("^\"?([A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9.-]+(?::[0-9]+)?/)")

// dial returns the hosts that a word may name: a URL, a host with a port, user@host:path,
// PROTOCOL:host:port, host:port:address, name=host. Of a word that is expanded only a URL
// is known.
func dial(a Arg) []Effect {
	if !a.Literal && !a.Glob {
		if m := urlHead.FindStringSubmatch(a.Text); m != nil {
			return []Effect{heldHost(m[1])}
		}
		return nil
	}
	var out []Effect
	for chunk := range strings.FieldsFuncSeq(a.Text, func(r rune) bool { return strings.ContainsRune(" \t\n,;|='\"", r) }) {
		if strings.Contains(chunk, "://") {
			out = append(out, heldHost(chunk))
			continue
		}
		out = append(out, dialNames(chunk)...)
	}
	return out
}

// dialNames returns the hosts that a word without a scheme may name.
func dialNames(chunk string) []Effect {
	chunk, _, _ = strings.Cut(chunk, "/")
	chunk = chunk[strings.LastIndexByte(chunk, '@')+1:]
	var out []Effect
	if bracketed, _, ok := strings.Cut(chunk, "]"); ok {
		_, address, _ := strings.Cut(bracketed, "[")
		out = append(out, heldHost(address))
	}
	if strings.Count(chunk, ":") > 1 && strings.Trim(chunk, "0123456789abcdefABCDEF:.") == "" {
		out = append(out, heldHost(chunk))
	}
	for name := range strings.SplitSeq(chunk, ":") {
		if hostName.MatchString(name) {
			out = append(out, heldHost(name))
		}
	}
	return out
}

// hostName is a piece of a word that may be a host.
var hostName = lazyregexp.New(`^[\pL\pN_%][\pL\pN\pM_.%-]*$`)

func heldHost(name string) Effect {
	return Effect{Kind: permissions.AccessNet, Name: name, Held: true}
}

// judgeSSH judges ssh and what is built on it: settings name hosts and commands.
func judgeSSH(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	if r.starts() {
		f = judgeWrapper(r, args)
	}
	for _, it := range l.items {
		if it.flag != "-o" {
			continue
		}
		if f = f.with(sshSetting(it.arg)); strings.HasPrefix(strings.ToLower(strings.Trim(it.arg.Text, `"' `)), "include") {
			f.AnyHost = true
		}
	}
	return f
}

// sshSetting is what a setting of ssh does: "ProxyCommand=nc host 22", or with a
// blank in the place of the sign.
func sshSetting(setting Arg) (f Finding) {
	i := strings.IndexAny(setting.Text, "= \t")
	name := strings.ToLower(setting.Text[:max(i, 0)])
	value := Arg{Text: strings.TrimLeft(setting.Text[i+1:], "= \t"), Literal: setting.Literal}
	switch {
	case !setting.Literal:
		return Finding{AnyHost: true, Inner: []Inner{{Args: []Arg{setting}}}}
	case strings.HasSuffix(name, "command") || name == "proxyusefdpass" || name == "xauthlocation":
		f.Inner = textReadings(value)
	case name == "hostname" || strings.HasPrefix(name, "proxy") || strings.HasSuffix(name, "forward"):
		f.Effects = dial(value)
	}
	return f
}

// wgetSetting is what wget -e NAME=VALUE does.
func wgetSetting(setting Arg) (f Finding) {
	name, value, _ := strings.Cut(setting.Text, "=")
	f.AnyHost = !setting.Literal || strings.TrimSpace(strings.ToLower(name)) == "input"
	f.Effects = dial(Arg{Text: value, Literal: setting.Literal})
	if strings.Contains(strings.ToLower(name), "askpass") {
		f.Inner = textReadings(Arg{Text: strings.TrimSpace(value), Literal: setting.Literal})
	}
	return f
}

// socatStarts are the addresses of socat that start a program.
var socatStarts = lazyregexp.New(`(?i)^(?:exec|system|shell):(.*)`)

// judgeSocat judges socat, whose operands are addresses.
func judgeSocat(r *row, args []Arg) Finding {
	f := r.read(args).finding()
	for _, a := range args {
		if m := socatStarts.FindStringSubmatch(a.unquoted()); m != nil {
			command, _, _ := strings.Cut(m[1], ",")
			for _, text := range []string{m[1], command} {
				f.Inner = append(f.Inner, shellText([]Arg{{Text: text, Literal: a.Literal}})...)
			}
		}
	}
	return f
}

// judgeRemote judges the forms of git that reach another repository: one of a URL,
// or of a name that stands for one in the settings.
func judgeRemote(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	named := false
	for i, o := range l.operands() {
		command, ok := strings.CutPrefix(o.unquoted(), "ext::")
		if ok {
			f.Inner = append(f.Inner, shellText([]Arg{{Text: command, Literal: o.Literal}})...)
		}
		if i == 0 && o.Literal {
			named = r.name == "git clone" || strings.ContainsAny(o.Text, ":/")
		}
	}
	for _, it := range l.items {
		if it.flag == "-c" || it.flag == "--config" {
			name, value, _ := strings.Cut(it.arg.Text, "=")
			f = f.with(gitSetting(name, Arg{Text: value, Literal: it.arg.Literal}))
		}
	}
	f.AnyHost = f.AnyHost || !named
	return f
}

// judgeGitItself judges git with flags before its sub-command: settings name programs and
// hosts, and others name a repository, whose content counts as read whatever the
// sub-command is.
func judgeGitItself(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	dir, tops, alias := "", []string{}, false
	for _, it := range l.items {
		switch it.flag {
		case "-c":
			name, value, _ := strings.Cut(it.arg.Text, "=")
			f = f.with(gitSetting(name, Arg{Text: value, Literal: it.arg.Literal}))
			alias = alias || !it.arg.Literal || gitAliases.MatchString(name)
		case "--config-env":
			f.Inner, f.AnyHost = append(f.Inner, Inner{Args: []Arg{{Text: it.arg.Text}}}), true
			alias = alias || !it.arg.Literal || gitAliases.MatchString(it.arg.Text)
		case "-C":
			dir = beneath(dir, it.arg.Text)
		case "--work-tree":
			tops = append(tops, it.arg.Text)
		}
		if it.kind == kindRead && it.arg.Literal {
			f.Effects = append(f.Effects, Effect{Kind: permissions.AccessRead, Name: it.arg.Text, Git: true, Tree: printsElsewhere(r, args)})
		}
	}
	if alias || len(l.operands()) > 0 && !r.knows(args) { // it may be any sub-command
		f.Unknown, f.Complete = f.Unknown|permissions.UnknownRead, false
	}
	f.Effects = append(f.Effects, r.behind(args, dir)...)
	for _, top := range tops {
		f.Effects = append(f.Effects, r.behind(args, beneath(dir, top))...)
	}
	return f
}

// gitAliases are settings that say what words mean as sub-commands, or may.
var gitAliases = lazyregexp.New(`(?i)^(alias\.|include)`)

// beneath is a path as it is meant in a directory.
func beneath(dir, name string) string {
	if dir == "" || strings.HasPrefix(name, "/") {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// behind are the files that a sub-command reads in a directory, whichever word it is.
func (r *row) behind(args []Arg, dir string) (out []Effect) {
	for i, a := range args[:min(len(args), mostGuesses)] {
		sub := table()[r.name+" "+a.Text]
		if i == 0 || sub == nil || !a.Literal {
			continue
		}
		for _, e := range sub.find(args[i+1:]).Effects {
			if e.Kind == permissions.AccessRead && !e.Git && e.Name != "." {
				e.Name, e.AnyObject = beneath(dir, e.Name), true
				out = append(out, e)
			}
		}
	}
	return out
}

// knows reports whether a word is a sub-command.
func (r *row) knows(args []Arg) bool {
	return slices.ContainsFunc(args, func(a Arg) bool { return a.Literal && table()[r.name+" "+a.Text] != nil })
}

// printsElsewhere reports whether a sub-command behind flags of git's own prints content, or
// is not known.
func printsElsewhere(r *row, args []Arg) bool {
	return !r.knows(args) || slices.ContainsFunc(r.hidden(args).Effects, func(e Effect) bool { return e.Git && e.Tree })
}

// gitSetting is what a setting of git may have it do: most name no program, and the
// values of those that do are text for a shell, or a program.
func gitSetting(name string, value Arg) (f Finding) {
	if strings.ContainsAny(name, "$`") || gitProxies.MatchString(strings.ToLower(name)) {
		f.Effects = append(dial(value), dial(Arg{Text: name, Literal: true})...)
		f.AnyHost = !value.Literal
	}
	if !strings.HasPrefix(name, "user.") {
		f.Inner = textReadings(value)
	}
	return f
}

// gitProxies are settings of git that say where it connects to.
var gitProxies = lazyregexp.New(`^(?:http|https|url|remote|submodule|core\.gitproxy|socks|sendemail|credential|lfs)\b`)
