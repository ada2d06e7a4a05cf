package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

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
	BringsServer    = "MCP server"
	// BringsPlugin and BringsSkill are for the host: these stand in no settings.
	BringsPlugin = "plugin"
	BringsSkill  = "skill"
)

// Brought is one thing that a project brings and that takes effect once a person
// was shown it and trusts the project.
type Brought struct {
	// Kind is one of the constants above.
	Kind string
	// Text shows all of it, with all that does not print escaped.
	Text   string
	Source permissions.Source
	// Note says more, for people. It is not pinned.
	Note string
}

// String returns "hook PreToolUse ... (.toolquay/settings.toml:3)".
func (b Brought) String() string {
	place := b.Source.File
	if b.Source.Line > 0 {
		place += ":" + strconv.Itoa(b.Source.Line)
	}
	return fmt.Sprintf("%s %s (%s)%s", b.Kind, b.Text, place, b.Note)
}

// Pin names one thing that a project brings by all that was shown of it. Two things
// with the same pin have the same effect.
type Pin string

// Pin is the SHA-256, in hexadecimal, of the kind and the text, which are what a
// person is shown. It does not depend on the file and line.
func (b Brought) Pin() Pin {
	sum := sha256.Sum256([]byte(b.Kind + "\x00" + b.Text))
	return Pin(hex.EncodeToString(sum[:]))
}

// bringers are all kinds of things in a project's file that need trust. Each goes
// through the things of its kind, asks the sieve about each, and keeps in left those
// that pass. What no bringer keeps has no effect in a project's file, whether or not
// the project is trusted.
var bringers = []func(s *sieve, f, left *File){
	bringRules, bringMode, bringDirectories, bringHooks, bringJudge, bringTables, bringServers,
}

// sieve separates the things that a person was shown from those that are new.
type sieve struct {
	loader   *loader
	withheld []Brought
}

// admit returns what counts of a project's file: what can only tighten, and what
// the person was shown. It records what the file brings and what of it is withheld.
func admit(l *loader, f *File) *File {
	left := &File{Kind: f.Kind, Path: f.Path, Deny: f.Deny, Ask: f.Ask, Shell: f.Shell, Sandbox: f.Sandbox}
	if f.Isolation.Value == abi.IsolationProcess {
		left.Isolation = f.Isolation
	}
	s := &sieve{loader: l}
	for _, bring := range bringers {
		bring(s, f, left)
	}
	if len(s.withheld) > 0 {
		l.out.Withheld = append(l.out.Withheld, s.withheld...)
		reason := "the project is not trusted; toolquay trust shows and trusts what it brings"
		if l.shown != nil {
			reason = "new since the project was trusted; toolquay trust shows and trusts what is new"
		}
		l.warn(f.source(0), "%s left out: %s", counted(s.withheld), reason)
	}
	return left
}

// passes records one thing and reports whether the person was shown it.
func (s *sieve) passes(kind, text string, src permissions.Source) bool {
	l, b := s.loader, Brought{Kind: kind, Text: printable(text), Source: src}
	l.out.Brings = append(l.out.Brings, b)
	if l.shown[b.Pin()] {
		return true
	}
	s.withheld = append(s.withheld, b)
	return false
}

// counted returns "2 allow rules, 1 mode".
func counted(list []Brought) string {
	var kinds []string
	number := make(map[string]int)
	for _, b := range list {
		if number[b.Kind]++; number[b.Kind] == 1 {
			kinds = append(kinds, b.Kind)
		}
	}
	for i, kind := range kinds {
		n := number[kind]
		stem, ok := strings.CutSuffix(kind, "y")
		switch {
		case n > 1 && ok:
			kind = stem + "ies"
		case n > 1:
			kind += "s"
		}
		kinds[i] = fmt.Sprintf("%d %s", n, kind)
	}
	return strings.Join(kinds, ", ")
}

// BroughtRule is an allow rule as a project brings it, without its place.
func BroughtRule(r Rule) Brought { return Brought{Kind: BringsRule, Text: printable(r.brought())} }

func (r *Rule) brought() string {
	if r.Expires.IsZero() {
		return r.Text
	}
	return r.Text + " until " + r.Expires.UTC().Format(time.RFC3339Nano)
}

func bringRules(s *sieve, f, left *File) {
	for _, r := range f.Allow {
		if s.passes(BringsRule, r.brought(), f.source(r.Line)) {
			left.Allow = append(left.Allow, r)
		}
	}
}

func bringMode(s *sieve, f, left *File) {
	if f.Mode.Set && s.passes(BringsMode, string(f.Mode.Value), f.Mode.Source) {
		left.Mode = f.Mode
	}
}

func bringDirectories(s *sieve, f, left *File) {
	for _, dir := range f.Directories {
		if s.passes(BringsDirectory, directoryText(s.loader, dir.Value), dir.Source) {
			left.Directories = append(left.Directories, dir)
		}
	}
}

// directoryText is a directory as written, and where it leads if it is a link: a link
// that leads elsewhere than it did is another directory.
func directoryText(l *loader, text string) string {
	path := text
	if rest, ok := strings.CutPrefix(text, "~"); ok && (rest == "" || rest[0] == '/') && l.o.Home != "" {
		path = l.o.Home + rest
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.o.Project.Path, path)
	}
	path = filepath.Clean(path)
	switch target, err := realName(path); {
	case err != nil:
		return text + ", which cannot be followed"
	case target != path:
		return text + ", which leads to " + target
	}
	return text
}

func bringHooks(s *sieve, f, left *File) {
	for i := range f.Hooks {
		if s.passes(BringsHook, f.Hooks[i].String(), f.Hooks[i].Source) {
			left.Hooks = append(left.Hooks, f.Hooks[i])
		}
	}
}

func bringJudge(s *sieve, f, left *File) {
	if f.Judge != nil && s.passes(BringsJudge, f.Judge.String(), f.Judge.Source) {
		left.Judge = f.Judge
	}
}

func bringTables(s *sieve, f, left *File) {
	left.Results, left.Scheduler, left.Tools, left.Tasks = f.Results, f.Scheduler, f.Tools, f.Tasks
	left.Tools.Also = Key[[]string]{} // which a project has no say in
	left.Results.Tools = maps.Clone(f.Results.Tools)
	eachKey(&left.Results, &left.Scheduler, &left.Tools, &left.Tasks, func(name string, k anyKey) {
		if m, set := k.made(name); set && !s.passes(BringsSetting, m.Text, m.Source) {
			k.unset()
		}
	})
}

// String returns all of the hook on one line, such as
// "PreToolUse for Bash, given GOPATH: sh -c 'lint'".
func (h *Hook) String() string {
	matcher := h.Matcher
	switch {
	case matcher == "":
		matcher = "all tools"
	case toolNames().MatchString(matcher):
	default:
		matcher = shellQuote(matcher)
	}
	text := fmt.Sprintf("%s for %s", h.Event, matcher)
	if len(h.Env) > 0 {
		text += ", given " + strings.Join(h.Env, ", ")
	}
	if h.Timeout != DefaultHookTimeout {
		text += ", for at most " + h.Timeout.String()
	}
	args := make([]string, len(h.Command))
	for i, arg := range h.Command {
		args[i] = shellQuote(arg)
	}
	return text + ": " + strings.Join(args, " ")
}

// toolNames are the usual matchers: names, alternatives, wildcards.
var toolNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_|*-]+$`) })

// String returns all of the judge: its model, where it is, and what it is sent.
func (j *Judge) String() string {
	text := shellQuote(j.Model) + " of " + j.Provider
	if j.BaseURL != nil {
		text += " at " + j.BaseURL.String()
	}
	if j.APIKeyEnv != "" {
		text += ", sent the key in " + j.APIKeyEnv
	}
	if j.Timeout != DefaultJudgeTimeout {
		text += ", for at most " + j.Timeout.String()
	}
	if j.MaxTokens != DefaultJudgeMaxTokens {
		text += fmt.Sprintf(", answering with at most %d tokens", j.MaxTokens)
	}
	return text
}
