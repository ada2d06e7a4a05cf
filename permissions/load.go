package permissions

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/pathrule"
)

// loader reads rule sets and collects what is wrong with them.
type loader struct {
	*reading
	folders  *folders
	rules    []*Rule
	warnings []Warning
	errs     []error
}

func (l *loader) load(set *RuleSet) {
	folder := l.folder(set)
	l.list(Deny, set.Deny, set, folder)
	l.list(Ask, set.Ask, set, folder)
	l.list(Allow, set.Allow, set, folder)
	l.outside(set)
	for _, dir := range set.Directories {
		if err := l.directory(dir, folder); err != nil {
			l.errs = append(l.errs, fmt.Errorf("%s: additional directory %q: %w",
				Source{Kind: set.Source, File: set.File}, dir, err))
		}
	}
}

func (l *loader) list(v Verdict, texts []RuleText, set *RuleSet, folder Dir) {
	for _, text := range texts {
		l.rule(v, text, Source{Kind: set.Source, File: set.File, Line: text.Line}, folder)
	}
}

// folder is what the patterns of a set with one leading slash are relative to.
func (l *loader) folder(set *RuleSet) Dir {
	switch {
	case set.Folder.Path != "":
		return set.Folder
	case set.Source == SourceProject || set.Source == SourceProjectLocal:
		return l.project
	case filepath.IsAbs(set.File):
		return l.dir(filepath.Dir(set.File))
	}
	return l.folders.places.start
}

// dir resolves a directory, as far as the policy can.
func (l *loader) dir(path string) Dir {
	d := Dir{Path: path}
	if l.folders.places.resolve != nil {
		d.Real = l.folders.places.resolve(path)
	}
	return d
}

func (l *loader) rule(v Verdict, text RuleText, src Source, folder Dir) {
	r, warning, err := parseRule(v, text.Text, src, l.aliases, l.tools)
	r.folder, r.expires = folder, text.Expires
	if err == nil {
		err = l.usable(&r)
	}
	if err == nil {
		err = (&examples{l.reading, &l.folders.places}).check(&r, text)
	}
	switch {
	case err != nil && v != Allow:
		l.errs = append(l.errs, fmt.Errorf("%s: %s rule %q: %w", src, v, text.Text, err))
		return
	case err != nil:
		l.warn(src, text.Text, fmt.Sprintf("it grants nothing: %v", err))
		return
	case v == Allow && l.only && src.Kind != SourcePolicy:
		l.warn(src, text.Text, "it grants nothing: policy lets only its own rules allow")
		return
	case v == Allow && !text.Expires.IsZero() && l.now.IsZero():
		l.warn(src, text.Text, "it grants nothing: it expires, and what time it is is not known here")
		return
	case r.expired(l.now):
		return
	case warning != "":
		l.warn(src, text.Text, warning)
	}
	if r.binds() {
		l.rules = append(l.rules, &r)
	}
}

func (l *loader) warn(src Source, rule, message string) {
	l.warnings = append(l.warnings, Warning{Source: src, Rule: rule, Message: message})
}

// usable refuses rules that cannot bind here.
func (l *loader) usable(r *Rule) error {
	switch {
	case r.path == nil || r.path == pathrule.Everything:
		return nil
	case runtime.GOOS == "windows":
		return errors.New("rules on paths are not available on Windows, whose drives, streams and short names they do not cover")
	case r.path.Anchor == pathrule.Home && l.folders.places.home.Path == "":
		return errors.New("~ is not known here")
	}
	return nil
}

// directory adds a working directory that settings name.
func (l *loader) directory(text string, folder Dir) error {
	path := text
	if rest, ok := strings.CutPrefix(text, "~"); ok && (rest == "" || rest[0] == '/') {
		if l.folders.places.home.Path == "" {
			return errors.New("~ is not known here")
		}
		path = l.folders.places.home.Path + rest
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return errors.New("not a path")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder.Path, path)
	}
	dir := Dir{Path: filepath.Clean(path)}
	if resolve := l.resolveDirectory; resolve != nil {
		dir.Real = resolve(dir.Path)
	}
	l.folders.work(dir)
	return nil
}

// compareRules puts the weightier source first; it orders what is shown, never
// what is decided.
func compareRules(a, b *Rule) int {
	return cmp.Or(
		cmp.Compare(a.Source.Kind, b.Source.Kind),
		cmp.Compare(a.Source.File, b.Source.File),
		cmp.Compare(a.Source.Line, b.Source.Line),
		cmp.Compare(a.text, b.text),
	)
}
