package storage

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/permissions"
)

// planName is the file that a session's plan lies in.
const planName = "plan.md"

// PlanFile names the file that the session's plan lies in: in its directory, or where it has
// none, in the one for temporary files, which is made.
func (s *Session) PlanFile() (string, error) {
	if s.dir != nil {
		return filepath.Join(s.dir.Path(), planName), nil
	}
	dir, err := s.Temp()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, planName), nil
}

// MakeFor makes the directory that a file of the session's lies in.
func (s *Session) MakeFor(path string) error {
	dir := filepath.Dir(path)
	if s.dir != nil && dir == s.dir.Path() {
		return s.dir.Make()
	}
	return os.MkdirAll(dir, 0o700)
}

// findPlan resolves the plan file, which is to lie where the rules let it be written.
func (s *Session) findPlan(file permissions.Dir) (*workspace.Overlaid, error) {
	if file.Path == "" {
		return nil, abi.Errorf(abi.CodeNotFound, "there is no plan file")
	}
	node, err := s.Overlay(filepath.Dir(file.Path), file.Path)
	if err != nil {
		return nil, err
	}
	if node.Real != file.Real {
		_ = node.Close()
		return nil, abi.Errorf(abi.CodeNotRegular, "%s leads elsewhere: replace it by a regular file", file.Path)
	}
	return node, nil
}

// ReadPlan returns the plan as the session's tools see it. It never waits for a writer; errors
// are as in [capability.PlanFile].
func (s *Session) ReadPlan(file permissions.Dir) (string, error) {
	node, err := s.findPlan(file)
	if err != nil {
		return "", err
	}
	defer node.Close()
	f, info, err := node.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info.Size > capability.MaxPlan {
		return "", abi.Errorf(abi.CodeTooLarge, "%s has %d bytes; a plan has %d at most", file.Path, info.Size, capability.MaxPlan)
	}
	text, err := io.ReadAll(io.LimitReader(f, capability.MaxPlan))
	if err != nil {
		return "", abi.Errorf(abi.CodeIO, "reading %s: %w", file.Path, err)
	}
	if !utf8.Valid(text) {
		return "", abi.Errorf(abi.CodeNotText, "%s is not UTF-8 text", file.Path)
	}
	return string(text), nil
}

// WritePlan replaces the plan: what is staged, where it is, or else the file. A crash leaves the
// former content or the new.
func (s *Session) WritePlan(ctx context.Context, file permissions.Dir, by capability.Call, plan string) error {
	node, err := s.findPlan(file)
	if err != nil {
		return err
	}
	defer node.Close()
	if node.Staged == nil {
		return atomicfile.Write(file.Path, []byte(plan), 0o600)
	}
	place, err := s.stage.Place()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(place, []byte(plan), 0o600); err != nil {
		return err
	}
	return s.stage.Put(ctx, capability.StagedWrite{
		Call: by, Path: node.Real, Place: place, Hash: sha256.Sum256([]byte(plan)), Size: int64(len(plan)), Was: node.Staged.Version,
	})
}
