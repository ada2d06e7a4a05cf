package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/ownfiles"
	"github.com/toolquay/toolquay/permissions"
)

// Target is a file that rules can be written to.
type Target struct {
	// Kind is the user, the project or project-local; a policy is not ours to
	// change, and the other sources stand in no file.
	Kind permissions.SourceKind
	// Path is the file. One that ends in .json is taken for a settings.json in the
	// style of Claude Code, any other for a settings.toml.
	Path string
	// Root is the root of the project, for its two kinds: a link may not lead out
	// of it, as the person would then allow something elsewhere.
	Root string
}

// ManualError says that a file could not be changed, and what a person can write
// there instead.
type ManualError struct {
	File string
	// Text is what to add to the list, or to take out of it.
	Text string
	Err  error
}

// Error says why, and what to do by hand.
func (e *ManualError) Error() string {
	return fmt.Sprintf("%s was left as it is: %v; do it by hand: %s", e.File, e.Err, e.Text)
}

func (e *ManualError) Unwrap() error { return e.Err }

// AddRule adds a rule to the end of a file's deny, ask or allow list and reports
// whether it was not there yet. Everything else in the file stays as it is, byte
// for byte: comments, order, layout, line endings, mode and owner. A file that is
// missing is made, for its owner alone. Where the file is a link, its target is
// changed. Processes that write at once wait for each other.
//
// The outcome is parsed before it is written and must differ in this one rule;
// where that cannot be had, the error is a [*ManualError] and nothing is written.
func AddRule(t Target, list permissions.Verdict, rule Rule) (added bool, err error) {
	if err := checkRule(list, rule); err != nil {
		return false, err
	}
	return t.change(true, func(w *writable) (bool, error) { return w.add(list, rule) })
}

func (w *writable) add(list permissions.Verdict, rule Rule) (bool, error) {
	if slices.ContainsFunc(w.list(list), rule.same) {
		return false, nil
	}
	text, err := w.format.entry(rule)
	if err != nil {
		return false, err
	}
	return w.append(ruleList(list), text)
}

// append adds an entry to a list.
func (w *writable) append(list listPath, entry string) (bool, error) {
	after, err := w.format.add(w.body, list, entry)
	if err == nil {
		err = w.take(after, list, func(entries []any) ([]any, error) {
			value, err := w.format.value(entry)
			return append(slices.Clone(entries), value), err
		})
	}
	if err != nil {
		return false, &ManualError{w.path, fmt.Sprintf("add %s to the list %s of %s", entry, list.key, list.table), err}
	}
	return true, nil
}

// listPath is where a list stands in a file.
type listPath struct{ table, key string }

// ruleList is where the rules with a verdict stand.
func ruleList(v permissions.Verdict) listPath { return listPath{"permissions", v.String()} }

// outsideList is where the commands stand that may leave the sandbox.
var outsideList = listPath{"sandbox", "outside"}

// dotted is the list as keys are written.
func (l listPath) dotted() string { return l.table + "." + l.key }

// AddOutside adds a command that may leave the sandbox to a file of the user's, as carefully as
// [AddRule], and reports whether it was not there yet.
func AddOutside(t Target, entry string) (added bool, err error) {
	switch {
	case t.Kind != permissions.SourceUser || strings.HasSuffix(t.Path, ".json"):
		return false, errors.New("what may leave the sandbox stands in the user's settings.toml")
	case entry == "" || !utf8.ValidString(entry) || strings.ContainsRune(entry, 0):
		return false, fmt.Errorf("%q is not text that a file can hold", entry)
	}
	return t.change(true, func(w *writable) (bool, error) {
		if slices.Contains(w.file.Sandbox.Outside.Value, entry) {
			return false, nil
		}
		return w.append(outsideList, quoted(entry))
	})
}

// same reports whether two rules say the same, wherever they stand.
func (r Rule) same(s Rule) bool {
	return r.Text == s.Text && slices.Equal(r.Match, s.Match) && slices.Equal(r.NotMatch, s.NotMatch) &&
		r.Expires.Truncate(time.Second).Equal(s.Expires.Truncate(time.Second))
}

// RemoveRule takes a rule out of a list, as often as it stands there, and reports
// whether it did. A comment on the same line goes with it. Otherwise it is as
// careful as [AddRule].
func RemoveRule(t Target, list permissions.Verdict, text string) (removed bool, err error) {
	if !slices.Contains(lists, list) {
		return false, fmt.Errorf("there is no list of rules for %s", list)
	}
	return t.change(false, func(w *writable) (bool, error) { return w.remove(list, text) })
}

func (w *writable) remove(list permissions.Verdict, text string) (found bool, err error) {
	for ; ; found = true {
		i := slices.IndexFunc(w.list(list), func(r Rule) bool { return r.Text == text })
		if i < 0 {
			return found, nil
		}
		after, err := w.format.remove(w.body, ruleList(list), i)
		if err == nil {
			err = w.take(after, ruleList(list), func(rules []any) ([]any, error) {
				return slices.Delete(slices.Clone(rules), i, i+1), nil
			})
		}
		if err != nil {
			return false, &ManualError{w.path, fmt.Sprintf("take %s out of the list %s of permissions", quoted(text), list), err}
		}
	}
}

var lists = []permissions.Verdict{permissions.Deny, permissions.Ask, permissions.Allow}

// checkRule refuses what would be written in vain or break the file.
func checkRule(list permissions.Verdict, rule Rule) error {
	if !slices.Contains(lists, list) {
		return fmt.Errorf("there is no list of rules for %s", list)
	}
	for _, text := range append([]string{rule.Text}, append(slices.Clone(rule.Match), rule.NotMatch...)...) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fmt.Errorf("the rule %q is not text that a file can hold", text)
		}
	}
	if _, _, err := permissions.ParseRule(list, rule.Text, permissions.Source{}, nil); err != nil {
		return fmt.Errorf("the rule %q: %w", rule.Text, err)
	}
	return nil
}

// language is how rules are written in a kind of file. Bodies have no byte order
// mark.
type language interface {
	parse(kind permissions.SourceKind, path string, body []byte) (*File, error)
	// entry is a rule as it stands in a list.
	entry(rule Rule) (string, error)
	// value is what an entry is once parsed.
	value(entry string) (any, error)
	// add and remove return a changed body.
	add(body []byte, list listPath, entry string) ([]byte, error)
	remove(body []byte, list listPath, i int) ([]byte, error)
	// verify fails unless two bodies differ just by what change does to a list.
	verify(before, after []byte, list listPath, change func([]any) ([]any, error)) error
}

// writable is a file that is being changed.
type writable struct {
	kind   permissions.SourceKind
	path   string
	format language
	body   []byte
	file   *File
}

// take makes a changed body the file's, if it differs just by what change does to a
// list and is still one that can be loaded.
func (w *writable) take(after []byte, list listPath, change func([]any) ([]any, error)) error {
	if err := w.format.verify(w.body, after, list, change); err != nil {
		return err
	}
	file, err := w.format.parse(w.kind, w.path, after)
	if err != nil {
		return err
	}
	w.body, w.file = after, file
	return nil
}

func (w *writable) list(v permissions.Verdict) []Rule {
	switch v {
	case permissions.Deny:
		return w.file.Deny
	case permissions.Ask:
		return w.file.Ask
	}
	return w.file.Allow
}

// lockWait is how long one process waits for another that writes, which takes
// milliseconds.
const lockWait = 10 * time.Second

// change has a file changed under its lock. create says that it may be made.
func (t Target) change(create bool, change func(*writable) (bool, error)) (bool, error) {
	path, err := t.resolve()
	if err != nil {
		return false, err
	}
	if create {
		ownfiles.Making(path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return false, fmt.Errorf("making a place for settings: %w", err)
		}
	} else if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	// Again, as what was made meanwhile may be a link.
	if path, err = t.resolve(); err != nil {
		return false, err
	}
	unlock, err := filelock.Path(path+".lock", lockWait)
	if err != nil {
		return false, fmt.Errorf("changing %s: %w", path, err)
	}
	defer unlock()
	for range readTries {
		changed, done, err := t.attempt(path, change)
		if done {
			return changed, err
		}
	}
	return false, fmt.Errorf("%s kept changing; try again", path)
}

// attempt is one try; it is not done if an editor changed the file meanwhile.
func (t Target) attempt(path string, change func(*writable) (bool, error)) (changed, done bool, err error) {
	before, there, err := readFile(path)
	if err != nil {
		return false, true, fmt.Errorf("%s: %w", path, err)
	}
	mark, body := cutMark(before)
	w := writable{kind: t.Kind, path: path, format: tomlText{}, body: body}
	if strings.HasSuffix(t.Path, ".json") {
		w.format = jsonText{}
		if !there {
			w.body = []byte("{}\n")
		}
	}
	if w.file, err = w.format.parse(t.Kind, path, w.body); err != nil {
		return false, true, fmt.Errorf("it is left as it is, mend it first: %w", err)
	}
	if changed, err = change(&w); err != nil || !changed {
		return false, true, err
	}
	if now, _, err := readFile(path); err == nil && !bytes.Equal(now, before) {
		return false, false, nil
	}
	err = replace(path, there, slices.Concat(mark, w.body))
	return err == nil, true, err
}

// replace writes a file whose mode and owner stay.
func replace(path string, there bool, content []byte) error {
	mode := fs.FileMode(0o600)
	var info fs.FileInfo
	if there {
		var err error
		if info, err = os.Stat(path); err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	if err := atomicfile.Write(path, content, mode); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if info == nil {
		return nil
	}
	if err := keepOwner(path, info); err != nil {
		return fmt.Errorf("the rule was written, but %s has another owner now: %w", path, err)
	}
	return nil
}

// resolve follows links to the file that is to be changed.
func (t Target) resolve() (string, error) {
	switch {
	case t.Kind == permissions.SourcePolicy:
		return "", errors.New("a policy is changed by its administrator, not from here")
	case t.Kind != permissions.SourceUser && !projects(t.Kind):
		return "", fmt.Errorf("rules of the %s stand in no file", t.Kind)
	case !filepath.IsAbs(t.Path):
		return "", fmt.Errorf("%q is not an absolute path", t.Path)
	case projects(t.Kind) && !filepath.IsAbs(t.Root):
		return "", fmt.Errorf("the project's root %q is not an absolute path", t.Root)
	}
	file, err := realName(filepath.Clean(t.Path))
	if err != nil {
		return "", err
	}
	if projects(t.Kind) {
		root, err := filepath.EvalSymlinks(t.Root)
		if err != nil {
			return "", fmt.Errorf("the project's root: %w", err)
		}
		if !strings.HasPrefix(file, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			return "", fmt.Errorf("%s leads to %s, outside of the project", t.Path, file)
		}
	}
	return file, nil
}
