package commands

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/permissions"
)

// stage mounts overlays that keep the changes of a command from the disk, completes its policy from the
// staged files, and has the changes recorded when the command has ended.
func (s *Shell) stage(ctx context.Context, staging Staging, p *capability.SandboxPolicy, writes bool, complete func() error) error {
	began := time.Now()
	overlays, end, err := s.mount(ctx, staging, p)
	if err != nil {
		return err
	}
	p.Staged = overlays
	trial, tries := staging.(Trial)
	if p.Tried = tries; !tries {
		staging.Shows(overlays)
		s.call.Memory.Through(overlays)
	}
	if err := complete(); err != nil {
		end()
		return err
	}
	made, discard := p.Made, p.Discard
	p.Made = func() string { //nolint:contextcheck // the call may be over by then
		var notes []string
		if made != nil {
			notes = append(notes, made())
		}
		if tries {
			tried(trial, overlays)
		}
		if writes {
			notes = append(notes, scanned(staging, began))
		}
		end()
		return strings.TrimSpace(strings.Join(notes, " "))
	}
	p.Discard = func() {
		if discard != nil {
			discard()
		}
		end()
	}
	return nil
}

// Show makes the rules see the staged files before the first command of a session is judged, because an
// earlier process may have staged something. working are the session's directories.
func (s *Shell) Show(ctx context.Context, working []string) error {
	staging := s.call.Session.Staging()
	// All directories of a command: an overlay cannot be mounted later if its directory contains others.
	p := &capability.SandboxPolicy{Working: slices.Concat(working, s.runner.writable(working)), Ended: s.call.Session.Ended()}
	p.Repositories = repositories(p, s.call.Memory.Lookups().Follow)
	overlays, end, err := s.mount(ctx, staging, p)
	if err != nil {
		return err
	}
	defer end()
	staging.Shows(overlays)
	s.call.Memory.Through(overlays)
	return nil
}

// longestScan bounds the search for what a command changed.
const longestScan = time.Minute

// scanned records what a command changed. If that fails, it returns a sentence that says so.
func scanned(staging Staging, began time.Time) string {
	ctx, cancel := context.WithTimeout(context.Background(), longestScan)
	defer cancel()
	if err := staging.Scan(ctx, began); err != nil {
		return "The command's changes are staged, but could not be recorded under its call: " + err.Error() + "."
	}
	return ""
}

// mount mounts overlays over all directories in which a command may write. Only in a trial, those for
// temporary files and caches get overlays too. The caller calls end when the command has ended.
func (s *Shell) mount(ctx context.Context, staging Staging, p *capability.SandboxPolicy) (_ *shell.Overlays, end func(), err error) {
	e, err := s.runner.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	roots := outermost(s.call.Memory.Lookups().All(slices.Concat(p.Working, p.Repositories)))
	layers, ended, err := layers(staging, roots, p)
	if err != nil {
		return nil, nil, unstaged(err)
	}
	overlays, err := e.shell.Stage(ctx, p.Ended, layers)
	if err != nil {
		ended()
		return nil, nil, unstaged(err)
	}
	end = func() {
		_ = overlays.Close() // the command has ended, and its result stands
		ended()
	}
	for _, l := range layers {
		if err := staging.Mounted(l, func() (*os.File, error) { return overlays.Open(l.Root) }); err != nil {
			end()
			return nil, nil, unstaged(err)
		}
	}
	return overlays, end, nil
}

// unstaged returns the error for a command whose changes cannot be staged.
func unstaged(err error) error {
	code := abi.CodeIO
	if errors.Is(err, sandbox.ErrOverlay) {
		code = abi.CodeUnsupported
	}
	return abi.Errorf(code, "the command was not run, because its changes cannot be staged: %w", err)
}

// outermost returns the directories that exist and are not in another one of dirs, each once.
func outermost(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		around := func(other string) bool { return other != dir && paths.Below(dir, other) }
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.ContainsFunc(dirs, around) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// Stages returns an error that says why changes of commands in working directories cannot be staged in
// a directory, or nil if they can. It makes the directory if it is missing.
func (r *Runner) Stages(ctx context.Context, dir string, working []permissions.Dir) error {
	e, err := r.open(ctx)
	if err != nil {
		return err
	}
	if !e.confines() {
		return abi.Errorf(abi.CodeUnsupported, "%w: commands run without a sandbox here", sandbox.ErrOverlay)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return abi.Errorf(abi.CodeIO, "%w", err)
	}
	dir = cmp.Or(paths.Real(dir), dir)
	for _, w := range working {
		if at := cmp.Or(w.Real, w.Path); paths.Below(dir, at) {
			return abi.Errorf(abi.CodeUnsupported, "%s holds the directory of sessions, in which the changes would lie; work in a directory below", at)
		}
	}
	if err := e.shell.TryOverlay(ctx, dir); err != nil {
		return abi.Errorf(abi.CodeUnsupported, "%w", err)
	}
	return nil
}
