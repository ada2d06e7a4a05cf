//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// probePatience is what a probe takes at most; it takes milliseconds.
const probePatience = 10 * time.Second

// oldest is the first bubblewrap with all that is needed.
var oldest = version{0, 5, 0}

// Sandbox confines commands. It is safe for concurrent use.
type Sandbox struct {
	*bubblewrap
	// own makes the sandboxes, where this machine lets it. Then there is no bubblewrap.
	own *launcher
	// partial holds commands where there is no sandbox; else it is nil.
	partial     *partial
	supervisors *process.Supervisors // nil where they are the caller's

	mu sync.Mutex
	// tried is the program's file as it was when it was tried.
	tried fs.FileInfo
}

// Find looks for a sandbox and tries it once: of this program's own making, or, where the
// machine does not let it make one or the options name a bubblewrap, by that. Where the report
// says that there is none, what is returned does not confine: see [Sandbox.Confines]; or it is
// nil, where the kernel offers nothing.
func Find(ctx context.Context, o Options) (*Sandbox, Report) {
	s := &Sandbox{}
	if o.Supervisors == nil {
		s.supervisors = process.New(process.Options{})
		o.Supervisors = s.supervisors
	}
	trying, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	r := s.find(trying, o)
	if r.Available {
		return s, r
	}
	if s.partial = newPartial(ctx, o); s.partial == nil {
		_ = s.Close() // it holds nothing
		return nil, r
	}
	s.partial.describe(&r)
	return s, r
}

// Confines reports whether it is a sandbox. Otherwise it only keeps commands from some things,
// as [Report].Lost says.
func (s *Sandbox) Confines() bool { return s.partial == nil }

// find is [Find] for what is to become the sandbox.
func (s *Sandbox) find(ctx context.Context, o Options) Report {
	var why error
	var err error
	if o.State, err = openState(o.State); err != nil {
		return Report{Kind: "none", Reasons: []string{err.Error()}}
	}
	if o.Program == "" {
		if s.own, why = newLauncher(ctx, o); why == nil {
			return s.own.report()
		}
	}
	r := s.findBubblewrap(ctx, o)
	if why != nil {
		r.Reasons = append(r.Reasons, "this program cannot make sandboxes here itself: "+why.Error())
	}
	return r
}

// findBubblewrap looks for bubblewrap, and tries it.
func (s *Sandbox) findBubblewrap(ctx context.Context, o Options) Report {
	path, err := findProgram(o.Program)
	if err != nil {
		if m := readMachine(); m.proc == nil { // by itself it would not always help
			return Report{Kind: "none", Reasons: append(m.reasons(""), errNotInstalled.Error())}
		}
		return Report{Kind: "none", Reasons: []string{errNotInstalled.Error()}}
	}
	r := Report{Kind: "bubblewrap", Path: path}
	b := &bubblewrap{options: o, path: path}
	s.bubblewrap = b
	s.tried, err = os.Stat(path)
	if err != nil {
		r.Reasons = []string{err.Error()}
		return r
	}
	v, err := b.askVersion(ctx)
	if err != nil {
		r.Reasons = []string{fmt.Sprintf("%s does not tell its version: %v", path, err)}
		return r
	}
	r.Version = v.String()
	if v.before(oldest) {
		r.Reasons = []string{fmt.Sprintf("%s is version %v: at least %v is needed", path, v, oldest)}
		return r
	}
	if err := b.probe(ctx, v); err != nil {
		r.Reasons = diagnose(err.Error(), readMachine())
		return r
	}
	r.Available = true
	if !b.features.users {
		r.Reasons = append(r.Reasons, withoutUsers)
	}
	return r
}

// withoutUsers is what a sandbox of root's is weaker by.
const withoutUsers = "without a user namespace, which this machine does not let root make: root's files are its own inside too"

// Copies reports whether files can be shown as copies; see [Spec].Copies. Bubblewrap cannot
// mount a link.
func (s *Sandbox) Copies() bool { return s.own != nil }

// Close ends the use of a sandbox. Commands that run still keep what they need.
func (s *Sandbox) Close() error {
	var faults []error
	if s.own != nil {
		faults = append(faults, s.own.common.Close())
	}
	if s.supervisors != nil {
		faults = append(faults, s.supervisors.Close())
	}
	return errors.Join(faults...)
}

// Wrap turns a command into one that runs it in a sandbox. What others change of the
// files that it looks at to do so, [Wrapped.Release] finds out.
func (s *Sandbox) Wrap(ctx context.Context, spec Spec, argv []string) (*Wrapped, error) {
	if err := spec.valid(); err != nil {
		return nil, err
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("%w: no command", ErrSpec)
	}
	switch {
	case s.partial != nil:
		return s.partial.wrap(spec, argv)
	case s.own != nil:
		return s.own.wrap(ctx, spec, argv)
	}
	if err := s.tryAgain(ctx); err != nil {
		return nil, err
	}
	return s.wrap(spec, argv)
}

// tryAgain tries the program once more where its file is another than the one that was
// tried, for a package was updated or something else took its name. Until then no command
// is given to it.
func (s *Sandbox) tryAgain(ctx context.Context) error {
	now, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if os.SameFile(now, s.tried) && now.Size() == s.tried.Size() && now.ModTime().Equal(s.tried.ModTime()) {
		return nil
	}
	next := &bubblewrap{options: s.options, path: s.path}
	v, err := next.askVersion(ctx)
	if err == nil {
		err = next.probe(ctx, v)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s was replaced since the host started, and does not work: %w", ErrNone, s.path, err)
	case next.features != s.features:
		return fmt.Errorf("%w: %s was replaced by a program with other features; start the host again", ErrNone, s.path)
	}
	s.tried = now
	return nil
}
