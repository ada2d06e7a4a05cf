package settings

import (
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// The kinds of what a project brings.
const (
	BringsRule      = "allow rule"
	BringsMode      = "mode"
	BringsDirectory = "additional directory"
	BringsHook      = "hook"
	BringsJudge     = "judge"
	BringsSetting   = "setting"
)

// Brought is one thing that a project brings and that takes effect once the
// project is trusted.
type Brought struct {
	// Kind is one of the constants above.
	Kind string
	// Text shows it, with all that does not print escaped.
	Text   string
	Source permissions.Source
}

// String returns "hook PreToolUse ... (.toolquay/settings.toml:3)".
func (b Brought) String() string {
	return fmt.Sprintf("%s %s (%s:%d)", b.Kind, b.Text, b.Source.File, b.Source.Line)
}

// brings lists what of a project's file needs trust.
func (f *File) brings() []Brought {
	var out []Brought
	add := func(kind, text string, src permissions.Source) {
		out = append(out, Brought{kind, printable(text), src})
	}
	for _, r := range f.Allow {
		add(BringsRule, r.Text, f.source(r.Line))
	}
	if f.Mode.Set {
		add(BringsMode, string(f.Mode.Value), f.Mode.Source)
	}
	for _, dir := range f.Directories {
		add(BringsDirectory, dir.Value, dir.Source)
	}
	for i := range f.Hooks {
		add(BringsHook, f.Hooks[i].String(), f.Hooks[i].Source)
	}
	if f.Judge != nil {
		add(BringsJudge, f.Judge.String(), f.Judge.Source)
	}
	for _, m := range made(&f.Results, &f.Scheduler, &f.Tools) {
		out = append(out, Brought{BringsSetting, m.Text, m.Source})
	}
	return out
}

// String returns the hook on one line, such as
// "PreToolUse for Bash: sh -c 'lint'".
func (h *Hook) String() string {
	matcher := h.Matcher
	if matcher == "" {
		matcher = "all tools"
	}
	args := make([]string, len(h.Command))
	for i, arg := range h.Command {
		args[i] = shellQuote(arg)
	}
	text := fmt.Sprintf("%s for %s: %s", h.Event, matcher, strings.Join(args, " "))
	if len(h.Env) > 0 {
		text += ", given " + strings.Join(h.Env, ", ")
	}
	return text
}

// String returns who the judge is and what it is sent.
func (j *Judge) String() string {
	text := j.Model + " of " + j.Provider
	if j.BaseURL != nil {
		text += " at " + j.BaseURL.String()
	}
	if j.APIKeyEnv != "" {
		text += ", sent the key in " + j.APIKeyEnv
	}
	return text
}

// shellQuote quotes an argument where a shell would not take it as it is.
func shellQuote(arg string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=@%+,", r)
	}
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !plain(r) }) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// printable shows text that a stranger wrote: what does not print, or changes how
// the rest is printed, is escaped.
func printable(text string) string {
	quoted := fmt.Sprintf("%q", text)
	if plain := quoted[1 : len(quoted)-1]; plain == text || strings.ReplaceAll(plain, `\"`, `"`) == text {
		return text
	}
	return quoted
}

// tightening is what counts of a project's file before the project is trusted.
func (l *loader) tightening(f *File) *File {
	leave := func(n int, what string, args ...any) {
		if n > 0 {
			l.warn(f.source(0), "%s left out: the project is not trusted", fmt.Sprintf(what, args...))
		}
	}
	leave(len(f.Allow), "%d allow rules", len(f.Allow))
	if f.Mode.Set {
		leave(1, "the mode %s", f.Mode.Value)
	}
	leave(len(f.Directories), "%d additional directories", len(f.Directories))
	leave(len(f.Hooks), "%d hooks", len(f.Hooks))
	if f.Judge != nil {
		leave(1, "the judge")
	}
	for _, m := range made(&f.Results, &f.Scheduler, &f.Tools) {
		l.warn(m.Source, "the setting %s left out: the project is not trusted", m.Text)
	}
	left := &File{Kind: f.Kind, Path: f.Path, Deny: f.Deny, Ask: f.Ask}
	if f.Isolation.Value == abi.IsolationProcess {
		left.Isolation = f.Isolation
	}
	return left
}
