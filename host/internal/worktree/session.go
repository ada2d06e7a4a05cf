package worktree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// Rules are what a session is judged by, which moves.
type Rules interface {
	// Cwd is where the session is now, and Inside reports whether a path is in its directories.
	Cwd() string
	Inside(path string) bool
	// Move and MoveBack are as in package rules.
	Move(to, from string, own bool) error
	MoveBack(to string) error
}

// Session is the worktree that a session is in, if it is in one. It is safe for concurrent use.
type Session struct {
	// Store is where worktrees lie; nil has none. ID is the session's.
	Store *Store
	ID    string
	Rules Rules
	// Remember writes a record to the session's journal, for the next process.
	Remember func(kind string, data any) error
	// Running names what runs in the background since a time.
	Running func(since time.Time) []string

	mu      sync.Mutex
	tree    *Tree // nil where it is in none
	before  string
	entered time.Time
}

// RecordKind is the kind of the records in a session's journal.
const RecordKind = "worktree"

// at is where a session is, in its journal. An empty Path is where it began.
type at struct {
	Path string `json:"path,omitempty"`
	// Before is where it was before, and Hooked says that a hook made it.
	Before string `json:"before,omitempty"`
	Hooked bool   `json:"hooked,omitempty"`
}

// Hooks are asked while a session enters a worktree.
type Hooks struct {
	// Created is asked before the session moves: its error undoes the worktree.
	Created func(Record) error
	// Make has a hook make the worktree where there is no repository. It returns the directory;
	// empty where no hook made any.
	Make func(Record) (dir string, err error)
}

// Check tells a person in words what a session would do, or fails where it cannot whatever they
// say.
func (s *Session) Check(ctx context.Context, args abi.WorktreeArgs) (words string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if args.Do != abi.WorktreeEnter {
		lost, err := s.mayLeave(ctx, args)
		if err != nil || args.Do == abi.WorktreeKeep {
			return "", err
		}
		return s.told(lost), nil
	}
	if err := s.mayEnter(args.Name); err != nil {
		return "", err
	}
	return fmt.Sprintf("A git worktree is made in %s, on a new branch %s, and the session works there.", s.Store.Dir, branches+cmp.Or(args.Name, "with a name that is made up")), nil
}

// told says what would be lost with the worktree.
func (s *Session) told(lost *Changes) string {
	switch {
	case lost == nil:
		return "What would be lost with " + s.tree.Path + " is not known."
	case lost.None():
		return "Nothing is lost with " + s.tree.Path + " but files that git ignores, if there are any."
	}
	return "This is lost with " + s.tree.Path + ": " + lost.String()
}

func (s *Session) mayEnter(name string) error {
	switch {
	case s.Store == nil:
		return abi.Errorf(abi.CodeUnsupported, "there is no place for worktrees here")
	case s.tree != nil:
		return abi.Errorf(abi.CodeInvalidInput, "this session is in the worktree %s already; leave it with ExitWorktree before it enters another", s.tree.Path)
	case name != "":
		return CheckName(name)
	}
	return nil
}

// Enter makes a worktree and moves the session there.
func (s *Session) Enter(ctx context.Context, name string, hooks Hooks) (abi.WorktreeOK, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayEnter(name); err != nil {
		return abi.WorktreeOK{}, err
	}
	before := s.Rules.Cwd()
	tree, notes, err := s.Store.Make(ctx, before, name, s.ID)
	if errors.Is(err, ErrNoRepository) {
		tree, err = s.hooked(name, before, hooks.Make, err)
		hooks.Created = func(Record) error { return nil } // it was asked
	}
	if err != nil {
		return abi.WorktreeOK{}, err
	}
	if err := s.settle(tree, before, hooks.Created); err != nil {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), quickly)
		defer cancel()
		return abi.WorktreeOK{}, errors.Join(err, tree.Remove(undo, nil))
	}
	return abi.WorktreeOK{Path: tree.Path, Branch: tree.Branch, Original: before, Notes: notes}, nil
}

// settle moves the session into a worktree. With an error it is where it was.
func (s *Session) settle(tree *Tree, before string, created func(Record) error) error {
	if err := created(tree.Record); err != nil {
		return err
	}
	if err := s.Remember(RecordKind, at{tree.Path, before, tree.hooked()}); err != nil {
		return abi.Errorf(abi.CodeIO, "the session could not write down that it is in a worktree: %w", err)
	}
	if err := s.Rules.Move(tree.Path, tree.From, !tree.hooked()); err != nil {
		return errors.Join(err, s.Remember(RecordKind, at{}))
	}
	s.tree, s.before, s.entered = tree, before, time.Now()
	return nil
}

// mayLeave returns what would be lost. The error says why the session cannot leave the worktree.
func (s *Session) mayLeave(ctx context.Context, args abi.WorktreeArgs) (*Changes, error) {
	if s.tree == nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, "this session is in no worktree that it has entered")
	}
	if args.Do == abi.WorktreeKeep {
		return nil, nil //nolint:nilnil // nothing is lost
	}
	if running := s.Running(s.entered); len(running) > 0 {
		return nil, abi.Errorf(abi.CodeDenied, "background tasks run in the worktree: %s; wait for them or stop them, or keep the worktree", strings.Join(running, ", "))
	}
	lost, err := s.tree.Changes(ctx)
	switch {
	case args.Discard:
		return lost, nil // what is not known is lost too
	case err != nil:
		return nil, abi.Errorf(abi.CodeChanged, "%w; keep it, or remove it with discard_changes = true if the user wants that", err)
	case !lost.None():
		return nil, abi.Errorf(abi.CodeDenied, "this would be lost with the worktree: %s. Commit and merge what is of use, or keep the worktree. If the user wants it gone, call again with discard_changes = true", lost)
	}
	return lost, nil
}

// Leave takes the session back to where it was, and keeps the worktree or removes it. Words are
// those of Check. Removed is called where it was.
func (s *Session) Leave(ctx context.Context, args abi.WorktreeArgs, words string, removed func(Record)) (abi.WorktreeOK, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost, err := s.mayLeave(ctx, args)
	if err != nil {
		return abi.WorktreeOK{}, err
	}
	if now := s.told(lost); args.Do == abi.WorktreeRemove && now != words {
		return abi.WorktreeOK{}, abi.Errorf(abi.CodeChanged, "the worktree has changed since that was decided, and stays. %s", now)
	}
	tree, ok := s.tree, abi.WorktreeOK{Path: s.tree.Path, Branch: s.tree.Branch, Original: s.before}
	if err := s.Rules.MoveBack(s.before); err != nil {
		return abi.WorktreeOK{}, abi.Errorf(abi.CodeIO, "the session cannot go back to %s: %w", s.before, err)
	}
	if args.Do == abi.WorktreeKeep {
		if _, err := os.Lstat(tree.Path); err != nil {
			ok.Notes = append(ok.Notes, "Somebody has removed its directory: toolquay clean removes the rest.")
		}
		return ok, s.leave(tree.Leave)
	}
	if err := tree.Remove(ctx, lost); err != nil {
		if tree.State == Made { // nothing of it is gone
			return abi.WorktreeOK{}, errors.Join(err, s.Rules.Move(tree.Path, tree.From, !tree.hooked()))
		}
		return abi.WorktreeOK{}, errors.Join(err, s.leave(tree.Release))
	}
	if lost != nil {
		ok.Files, ok.Commits = len(lost.Files), lost.Commits
	} else {
		ok.Notes = append(ok.Notes, "What was lost with it could not be found out.")
	}
	err = s.leave(func() error { return nil })
	removed(tree.Record)
	if _, there := os.Lstat(tree.Path); there == nil && tree.hooked() {
		ok.Notes = append(ok.Notes, "No hook has removed "+tree.Path+", which a hook made: it is still there.")
	}
	return ok, err
}

// leave notes that the session is in no worktree.
func (s *Session) leave(release func() error) error {
	s.tree = nil
	return errors.Join(release(), s.Remember(RecordKind, at{}))
}

// Resume takes the session back into the worktree that it was in when its last process ended, by
// the records of its journal. Gone says why it is not there, for people.
func (s *Session) Resume(records []json.RawMessage) (gone string) {
	if len(records) == 0 {
		return ""
	}
	var was at
	if err := json.Unmarshal(records[len(records)-1], &was); err != nil || was.Path == "" {
		return ""
	}
	tree, err := s.standing(&was)
	if err == nil && tree.State != Made {
		err = errors.Join(errors.New("it was never finished, or is half gone"), tree.Release())
	}
	if err == nil {
		if err = s.enterAgain(tree, was.Before); err != nil {
			err = errors.Join(err, tree.Release())
		}
	}
	if err != nil {
		return fmt.Sprintf("The session is in %s, and not in the worktree %s as before: %v.", s.Rules.Cwd(), was.Path, err)
	}
	return ""
}

// enterAgain moves a session into its worktree, if it began where it did before.
func (s *Session) enterAgain(tree *Tree, before string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rel, err := filepath.Rel(tree.From, s.Rules.Cwd()); (err != nil || !filepath.IsLocal(rel)) && !s.Rules.Inside(before) {
		return fmt.Errorf("it is one of %s, and the session has to begin there to go on in it", tree.From)
	}
	if err := s.Rules.Move(tree.Path, tree.From, !tree.hooked()); err != nil {
		return err
	}
	s.tree, s.before, s.entered = tree, before, time.Time{}
	return nil
}

// Close lets others have the worktree, which stays.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		return nil
	}
	tree := s.tree
	s.tree = nil
	return tree.Leave()
}
