//go:build amd64 || arm64

package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host/internal/process"
)

// probePatience is what a probe takes at most; it takes milliseconds.
const probePatience = 10 * time.Second

// oldest is the first bubblewrap with all that is needed.
var oldest = version{0, 5, 0}

// Sandbox wraps commands into bubblewrap. It is safe for concurrent use.
type Sandbox struct {
	*bubblewrap

	mu sync.Mutex
	// tried is the program's file as it was when it was tried.
	tried fs.FileInfo
}

// Find looks for a sandbox and tries it once. The sandbox is nil where the report
// says that there is none.
func Find(ctx context.Context, o Options) (*Sandbox, Report) {
	r := Report{Kind: "none"}
	path, err := findProgram(o.Program)
	if err != nil {
		r.Reasons = []string{errNotInstalled.Error()}
		return nil, r
	}
	r.Kind, r.Path = "bubblewrap", path
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	if o.Supervisors == nil {
		o.Supervisors = process.New(process.Options{})
		defer func() { _ = o.Supervisors.Close() }() // they have nothing left
	}
	b := &bubblewrap{options: o, path: path}
	s := &Sandbox{bubblewrap: b}
	s.tried, err = os.Stat(path)
	if err != nil {
		r.Reasons = []string{err.Error()}
		return nil, r
	}
	v, err := b.askVersion(ctx)
	if err != nil {
		r.Reasons = []string{fmt.Sprintf("%s does not tell its version: %v", path, err)}
		return nil, r
	}
	r.Version = v.String()
	if v.before(oldest) {
		r.Reasons = []string{fmt.Sprintf("%s is version %v: at least %v is needed", path, v, oldest)}
		return nil, r
	}
	if err := b.open(); err != nil {
		r.Reasons = []string{err.Error()}
		return nil, r
	}
	if err := b.probe(ctx, v); err != nil {
		r.Reasons = diagnose(err.Error(), readMachine())
		return nil, r
	}
	r.Available = true
	if !b.features.users {
		r.Reasons = append(r.Reasons, "without a user namespace, which this machine does not let root make: root's files are its own inside too")
	}
	return s, r
}

// Copies reports whether files can be shown as copies; see [Spec].Copies. Bubblewrap cannot
// mount a link.
func (*Sandbox) Copies() bool { return false }

// Wrap turns a command into one that runs it in a sandbox. What others change of the
// files that it looks at to do so, [Wrapped.Release] finds out.
func (s *Sandbox) Wrap(ctx context.Context, spec Spec, argv []string) (*Wrapped, error) {
	if err := spec.valid(); err != nil {
		return nil, err
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("%w: no command", ErrSpec)
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
