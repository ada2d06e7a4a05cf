package host

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/permissions"
)

// ErrStaged is that a session with staged files was started without
// [SessionOptions.Stage]: its tools would see files as they were before.
var ErrStaged = errors.New("the session has staged files")

// Stage is what the session's tools wrote, where its writes are staged: to list, to
// show as a patch, to apply to the disk and to discard. It is nil in other sessions.
// The session's next call sees what was applied or discarded.
func (s *Session) Stage() *Stage {
	if !s.options.Stage {
		return nil
	}
	return s.stored.stage
}

// stage is [Session.Stage] for capabilities; nil where there is none.
func (s *Session) stage() capability.Stage {
	if !s.options.Stage {
		return nil // not a nil pointer in an interface
	}
	return s.stored.stage
}

// openStage opens the stage in the session's folder, which makes itself when the first
// file is staged. A session must not go on without a stage that is in use.
func (s *Session) openStage() error {
	f, o := s.stored.folder, &s.host.options
	if f == nil {
		if s.options.Stage {
			return errors.New("starting the session: its writes cannot be staged, since it has no folder; set Options.Sessions, and not Ephemeral")
		}
		return nil
	}
	options := stage.Options{Logger: o.Logger, Make: func() error { return makeIn(f, stage.Dir) }}
	if s.stored.history != nil {
		options.History = s.stored.history
	}
	s.stored.stage = stage.Open(filepath.Join(f.Path(), stage.Dir), options)
	if s.options.Stage {
		s.files.Place = s.placeOf
		return nil
	}
	staged, err := s.stored.stage.List(stage.Selection{})
	if err == nil && len(staged) > 0 {
		err = fmt.Errorf("%w: %d, such as %s; go on with them (--stage), or apply or discard them first (toolquay stage)", ErrStaged, len(staged), staged[0].Path)
	}
	if err != nil {
		return fmt.Errorf("starting the session: %w", err)
	}
	return nil
}

// placeOf is where the content of a file lies, as the session sees it.
func (s *Session) placeOf(path string) string {
	staged, ok, err := s.stored.stage.Lookup(path)
	if err != nil || !ok {
		return path
	}
	return staged.Place
}

// overlay resolves a path as the session's tools see it.
func (s *Session) overlay(cwd, path string) (*workspace.Overlaid, error) {
	return workspace.Overlay(cwd, path, s.stage())
}

// overlaid are the capabilities that heed a stage.
var overlaid = []string{
	abi.CapFSRead, abi.CapFSStat, abi.CapFSList, abi.CapFSWrite, abi.CapFSReplace,
	abi.CapDocsRead, abi.CapSearchNames, abi.CapSearchContents,
}

// stageable refuses, in a session whose writes are staged, an access that could change
// something past the stage, or see files as they were before.
func (g *callGate) stageable(operation string, a permissions.Access) error {
	if g.call.session().stage() == nil || slices.Contains(overlaid, operation) {
		return nil
	}
	switch a.Kind {
	case permissions.AccessRead, permissions.AccessNet, permissions.AccessSession:
		return nil
	}
	return abi.Errorf(abi.CodeDenied, "%s asked for %s on %s with %s, which knows nothing of what this session has staged; apply or discard that (toolquay stage), and go on without --stage",
		g.call.tool.contract().Name, a.Kind, a.Target, operation)
}

// stages refuses, in a session whose writes are staged, a call that may change the disk
// past the stage, before anybody is asked about it: one of the embedder's own tool, or
// one whose input is a command. That is so of commands that only read, too: they would
// see files as they were before.
func (c *call) stages(readOnly bool) error {
	if c.session().stage() == nil {
		return nil
	}
	return barredByStage(c.tool, readOnly)
}

// barredByStage says why a tool can do nothing in a session whose writes are staged, or
// nil. ReadOnly says that it may be called without changing anything.
func barredByStage(t tool, readOnly bool) error {
	contract := t.contract()
	if _, native := t.(*nativeTool); native && !readOnly {
		return abi.Errorf(abi.CodeDenied, "%s may change files by itself, and this session stages what is written; apply or discard that (toolquay stage), and go on without --stage", contract.Name)
	}
	if slices.ContainsFunc(contract.Fields, func(f abi.Field) bool { return f.Kind == abi.FieldCommand }) {
		return abi.Errorf(abi.CodeDenied, "%s runs commands, which neither see nor respect what this session has staged; apply or discard that (toolquay stage), and go on without --stage", contract.Name)
	}
	return nil
}
