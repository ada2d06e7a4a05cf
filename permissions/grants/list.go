package grants

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/privatedir"
	"github.com/toolquay/toolquay/internal/record"
	"github.com/toolquay/toolquay/permissions"
)

// List is the grants of one user. It is safe for concurrent use.
type List struct {
	file record.File[Grant]

	mu sync.Mutex
	// session are the grants for sessions, by id.
	session map[string]Grant
	// kept is what the file held when it was read.
	kept content
	// version counts the changes of both.
	version uint64
}

// content is what a file held at one moment.
type content struct {
	grants map[string]Grant
	err    error
	stamp  stamp
}

// stamp is what the system says of a file without reading it.
type stamp struct {
	info fs.FileInfo // nil where there is no file
	// settled says that the file had rested for so long when it was looked at
	// that a later change shows in its time.
	settled bool
}

// rest is how long a file must have been left alone for its times to tell of the
// next change: twice the tick of the coarsest file system.
const rest = 4 * time.Second

// same reports whether a file has certainly not changed between two looks.
func (s stamp) same(later stamp) bool {
	if s.info == nil || later.info == nil {
		return s.info == nil && later.info == nil
	}
	return s.settled && os.SameFile(s.info, later.info) &&
		s.info.Size() == later.info.Size() && s.info.ModTime().Equal(later.info.ModTime())
}

// Open opens the list in a file; a missing one holds no grants. It is an error
// if the file is not one that only the user can have written, or cannot be
// understood; the list can be used all the same, and grants for sessions held in
// it.
func Open(path string) (*List, error) {
	l := &List{file: record.File[Grant]{Path: path, Key: "grants"}, session: make(map[string]Grant)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh(time.Now())
	return l, l.kept.err
}

// refresh reads the file if it may have changed. Where that is certain not to be
// so, it costs one stat.
func (l *List) refresh(now time.Time) {
	looked, err := l.look()
	if err == nil && l.kept.grants != nil && l.kept.stamp.same(looked) {
		return
	}
	before := l.kept
	l.kept = content{stamp: looked}
	switch {
	case err == nil && looked.info == nil:
		l.kept.grants = make(map[string]Grant)
	case err == nil:
		l.kept.grants, err = l.read(now)
	}
	if err != nil {
		l.kept.err = fmt.Errorf("the live grants, none of which counts now: %w", err)
	}
	if !maps.Equal(before.grants, l.kept.grants) || (before.err == nil) != (err == nil) {
		l.version++
	}
}

func (l *List) read(now time.Time) (map[string]Grant, error) {
	// The directory tells whose the file is.
	if err := privatedir.Make(filepath.Dir(l.file.Path)); err != nil {
		return nil, err
	}
	grants, err := l.file.Read()
	if err == nil {
		err = check(grants, now)
	}
	if err != nil {
		return nil, err
	}
	return grants, nil
}

// look is the stamp of the file, which must be the user's own.
func (l *List) look() (stamp, error) {
	info, err := os.Lstat(l.file.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, err
	}
	s := stamp{info: info, settled: time.Since(info.ModTime()) > rest}
	if !info.Mode().IsRegular() {
		return s, fmt.Errorf("%s is not a regular file", l.file.Path)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return s, fmt.Errorf("%s: its mode is %v: others may write to it", l.file.Path, info.Mode().Perm())
	}
	return s, nil
}

// check holds a file to what Add writes.
func check(grants map[string]Grant, now time.Time) error {
	if len(grants) > MaxGrants {
		return fmt.Errorf("there are %d grants; at most %d are kept", len(grants), MaxGrants)
	}
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(grants)) {
		g := grants[id]
		err := g.check(now)
		if g.ID != id || g.Scope == ScopeSession {
			err = errors.Join(err, errors.New("it has another id, or is a session's"))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("grant %.40q: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// Add keeps a grant and returns it with its id. One for a session is kept in
// memory; others are written before Add returns. Expired ones are dropped from
// the file on the way.
func (l *List) Add(g Grant, now time.Time) (Grant, error) {
	g.ID, g.Granted, g.Expires = rand.Text(), now.UTC().Truncate(time.Second), g.Expires.UTC()
	if err := g.check(now); err != nil {
		return Grant{}, fmt.Errorf("a grant that cannot be given: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.Scope != ScopeSession {
		return g, l.update(now, func(kept map[string]Grant) error { return put(kept, g, now) })
	}
	l.version++
	return g, put(l.session, g, now)
}

func put(grants map[string]Grant, g Grant, now time.Time) error {
	maps.DeleteFunc(grants, func(_ string, g Grant) bool { return g.Expired(now) })
	if len(grants) >= MaxGrants {
		return fmt.Errorf("there are %d grants; revoke some first", len(grants))
	}
	grants[g.ID] = g
	return nil
}

// update changes the file. A file that is not understood is left alone.
func (l *List) update(now time.Time, change func(map[string]Grant) error) error {
	if l.refresh(now); l.kept.err != nil {
		return l.kept.err
	}
	if err := privatedir.Make(filepath.Dir(l.file.Path)); err != nil {
		return fmt.Errorf("the live grants: %w", err)
	}
	var refused error
	_, err := l.file.Update(func(kept map[string]Grant) {
		before := maps.Clone(kept)
		if refused = check(kept, now); refused == nil {
			refused = change(kept)
		}
		if refused != nil {
			clear(kept)
			maps.Copy(kept, before)
		}
	})
	l.kept.stamp = stamp{info: l.kept.stamp.info} // it may have changed since a moment ago
	l.refresh(now)
	if err = errors.Join(err, refused); err != nil {
		return fmt.Errorf("the live grants: %w", err)
	}
	return nil
}

// ErrNoGrant is that of an id that no grant has.
var ErrNoGrant = errors.New("there is no such grant")

// Revoke takes a grant back. Every process sees it before its next decision.
func (l *List) Revoke(id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.session[id]; ok {
		delete(l.session, id)
		l.version++
		return nil
	}
	return l.update(time.Now(), func(kept map[string]Grant) error {
		if _, ok := kept[id]; !ok {
			return fmt.Errorf("%.40q: %w", id, ErrNoGrant)
		}
		delete(kept, id)
		return nil
	})
}

// EndSession drops the grants of a session.
func (l *List) EndSession(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.session, func(_ string, g Grant) bool { return g.Session == session })
	l.version++
}

// List returns the grants in force, the oldest first, and with expired also
// those that have ended and were not dropped yet. Of sessions it knows those of
// this process. An error says why the file's are not among them.
func (l *List) List(now time.Time, expired bool) ([]Grant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh(now)
	out := slices.AppendSeq(slices.Collect(maps.Values(l.session)), maps.Values(l.kept.grants))
	out = slices.DeleteFunc(out, func(g Grant) bool { return !expired && g.Expired(now) })
	slices.SortFunc(out, compare)
	return out, l.kept.err
}

// View is the grants that count for one session at one moment.
type View struct {
	// Rules are allow rules of the source session.
	Rules  permissions.RuleSet
	Grants []Grant
	// Err says why the file's grants are not among them.
	Err error

	version uint64
	// until is when the first of them ends; zero is never.
	until time.Time
}

// View returns the grants that count for a session in a project at a time. The
// project's root is what patterns with one leading slash are relative to.
func (l *List) View(session string, project permissions.Dir, now time.Time) View {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh(now)
	v := View{Err: l.kept.err, version: l.version}
	for _, grants := range []map[string]Grant{l.session, l.kept.grants} {
		for _, g := range grants {
			if g.holds(session, project.Path) && !g.Expired(now) {
				v.Grants = append(v.Grants, g)
			}
		}
	}
	slices.SortFunc(v.Grants, compare)
	v.Rules = permissions.RuleSet{Source: permissions.SourceSession, File: l.file.Path, Folder: project}
	for i := range v.Grants {
		g := &v.Grants[i]
		v.Rules.Allow = append(v.Rules.Allow, permissions.RuleText{Text: g.Rule})
		if !g.Expires.IsZero() && (v.until.IsZero() || g.Expires.Before(v.until)) {
			v.until = g.Expires
		}
	}
	return v
}

// Stale reports whether the view is no longer what [List.View] would return: a
// grant was added or revoked, by whichever process, or has ended. It costs one
// stat; in the seconds after a change, when the file's times cannot tell, reading
// the file.
func (l *List) Stale(v View, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh(now)
	return v.version != l.version || !v.until.IsZero() && !now.Before(v.until)
}

// Granted is the grant that a rule of a view came from.
func (v *View) Granted(rule *permissions.Rule) (Grant, bool) {
	if rule == nil || rule.Source.Kind != permissions.SourceSession || rule.Source.File != v.Rules.File {
		return Grant{}, false
	}
	at := slices.IndexFunc(v.Grants, func(g Grant) bool { return g.Rule == rule.String() })
	if at < 0 {
		return Grant{}, false
	}
	return v.Grants[at], true
}
