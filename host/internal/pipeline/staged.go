package pipeline

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/internal/tool"
)

// BarredByStage returns why a tool can do nothing in a session whose writes are staged, or
// nil. readOnly says that it can be called without changing anything. unstaged returns why the
// changes of commands cannot be staged, or nil.
func BarredByStage(t tool.Tool, readOnly bool, unstaged func() error) error {
	contract := t.Contract()
	if _, native := t.(*tool.Native); native && !readOnly {
		return abi.Errorf(abi.CodeDenied, "%s may change files by itself, and this session stages what is written; apply or discard that (toolquay stage), and go on without --stage", contract.Name)
	}
	if runsCommands(t) {
		if err := unstaged(); err != nil {
			return abi.Errorf(abi.CodeDenied, "%s runs commands, whose changes this session cannot stage (%w); apply or discard what is staged (toolquay stage) and go on without --stage", contract.Name, err)
		}
	}
	return nil
}

// runsCommands reports whether a tool's input names commands.
func runsCommands(t tool.Tool) bool {
	return slices.ContainsFunc(t.Contract().Fields, func(f abi.Field) bool { return f.Kind == abi.FieldCommand })
}

// staysInside refuses, in a session whose writes are staged, a command that leaves the sandbox: it
// would change the disk itself.
func (r *request) staysInside() error {
	if !r.leavesSandbox() {
		return nil
	}
	return abi.Errorf(abi.CodeDenied, "this session stages its changes, and a command outside the sandbox would change the disk itself; run it without %s, or apply or discard what is staged (toolquay stage) and go on without --stage", leave)
}

// showStaged mounts the stage before the first command of a session is judged, so that the rules see
// the staged files.
func (g *judging) showStaged() {
	s := g.session()
	if !s.Stage || s.Unstaged() != nil {
		return
	}
	s.staged.Do(func() {
		if err := newShell(g).Show(s.Life.Context, g.Policy().WorkingDirs()); err != nil {
			s.Host.Logger.Info("the first command is judged by the disk, because the stage could not be mounted", "session", s.ID, "error", err)
		}
	})
}

// staging keeps the changes of a call's command off the disk.
type staging struct {
	*storage.Staging
	rules *rules.State
	call  capability.Call
}

var _ commands.Staging = staging{}

// Begin implements [commands.Staging].
func (s staging) Begin(roots []string) ([]commands.Layer, func(), error) {
	all, end, err := s.Staging.Begin(roots)
	layers := make([]commands.Layer, len(all))
	for i, l := range all {
		layers[i] = commands.Layer(l)
	}
	return layers, end, err
}

// Shows implements [commands.Staging].
func (s staging) Shows(tree paths.View) { s.rules.Through(tree) }

// Mounted implements [commands.Staging].
func (s staging) Mounted(l commands.Layer, open func() (*os.File, error)) error {
	return s.Staging.Mounted(storage.Layer(l), open)
}

// Scan implements [commands.Staging].
func (s staging) Scan(ctx context.Context, began time.Time) error {
	return s.Staging.Scan(ctx, began, s.call)
}
