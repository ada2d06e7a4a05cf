package worktree

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/paths"
)

// hooked reports whether a hook made the worktree: then it has no branch and no record, nobody
// knows what would be lost with it, and a hook is to remove it.
func (t *Tree) hooked() bool { return t.file == nil }

// hooked has a hook make a worktree. Without one that does, the error is none.
func (s *Session) hooked(name, before string, ask func(Record) (string, error), none error) (*Tree, error) {
	r := Record{Name: cmp.Or(name, randomName()), State: Made, Main: before, From: before, Session: s.ID}
	dir, err := ask(r)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return nil, none
	}
	if r.Path, err = madeByHook(dir, before); err != nil {
		return nil, err
	}
	return &Tree{Record: r, store: s.Store}, nil
}

// madeByHook is where a directory really lies that a hook says it made. One that holds the
// session's directory would have the session work in more than before.
func madeByHook(dir, before string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", abi.Errorf(abi.CodeInvalidInput, "a WorktreeCreated hook answered with %.200q, which is no absolute path", dir)
	}
	lies := paths.Real(dir)
	info, err := os.Stat(lies)
	switch {
	case err != nil:
		return "", abi.Errorf(abi.CodeNotFound, "the worktree that a WorktreeCreated hook made is not there: %w", err)
	case !info.IsDir():
		return "", abi.Errorf(abi.CodeNotDirectory, "%s, which a WorktreeCreated hook made, is no directory", dir)
	case paths.Below(paths.Real(before), lies):
		return "", abi.Errorf(abi.CodeDenied, "%s, which a WorktreeCreated hook answered with, holds the directory of the session itself", dir)
	}
	return lies, nil
}

// standing is the worktree that a session was in.
func (s *Session) standing(was *at) (*Tree, error) {
	if s.Store == nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "there is no place for worktrees here")
	}
	if !was.Hooked {
		return s.Store.Open(was.Path)
	}
	if lies, err := madeByHook(was.Path, was.Before); err != nil {
		return nil, err
	} else if lies != was.Path {
		return nil, abi.Errorf(abi.CodeChanged, "it leads to %s now", lies)
	}
	return &Tree{Record: Record{Path: was.Path, State: Made, Main: was.Before, From: was.Before, Session: s.ID}, store: s.Store}, nil
}
