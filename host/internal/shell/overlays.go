package shell

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// Overlays are the overlays over the directories of a staged session. They last at least until Close.
type Overlays struct {
	sandbox   *sandbox.Sandbox
	namespace *sandbox.Namespace
	giveBack  func() error
}

var _ capability.StagedTree = (*Overlays)(nil)

// Stage mounts overlays for the commands of a session, which is identified by the channel that is
// closed when it ends. Overlays that are mounted already stay. It fails with [sandbox.ErrOverlay] if
// this system cannot mount them.
func (c *Capability) Stage(ctx context.Context, ended <-chan struct{}, layers []sandbox.Layer) (*Overlays, error) {
	if !c.setup.confines() {
		return nil, sandbox.ErrOverlay
	}
	namespace, giveBack, err := c.setup.networks.use(ctx, c.setup.Sandbox, ended)
	if err != nil {
		return nil, err
	}
	o := &Overlays{c.setup.Sandbox, namespace, func() error { return nil }}
	if giveBack != nil {
		o.giveBack = sync.OnceValue(giveBack)
	}
	if err := c.setup.Sandbox.Stage(ctx, namespace, layers); err != nil {
		_ = o.Close() // the failure counts
		return nil, err
	}
	return o, nil
}

// TryOverlay returns why changes of commands cannot be staged in a directory, or nil.
func (c *Capability) TryOverlay(ctx context.Context, dir string) error {
	if !c.setup.confines() {
		return sandbox.ErrOverlay
	}
	return c.setup.Sandbox.TryOverlay(ctx, dir)
}

// At is as [capability.StagedTree] has it.
func (o *Overlays) At(path string) string { return o.namespace.At(path) }

// Resolve is as [capability.StagedTree] has it.
func (o *Overlays) Resolve(path string) (string, error) { return o.namespace.Resolve(path) }

// Run runs a program for this process that sees the same files as commands; see [sandbox.Sandbox.Run].
func (o *Overlays) Run(ctx context.Context, dir string, argv, env []string, input []byte, most int) ([]byte, error) {
	return o.sandbox.Run(ctx, o.namespace, process.Command{Path: argv[0], Args: argv, Env: env, Dir: dir}, input, most)
}

// Open opens a directory with an overlay over it. The file is the caller's.
func (o *Overlays) Open(root string) (*os.File, error) { return o.namespace.Overlaid(root) }

// Sought reports whether commands over these overlays tried to reach something beyond their
// loopback, or something on it where nothing listened.
func (o *Overlays) Sought(ctx context.Context) (beyond, refused bool, err error) {
	return o.sandbox.Sought(ctx, o.namespace)
}

// Close ends the use of the overlays. It is safe to repeat.
func (o *Overlays) Close() error { return o.giveBack() }

// at is the path under which this process finds what the command finds at path.
func (h *confinement) at(path string) string {
	if h.Staged == nil {
		return path
	}
	return h.Staged.At(path)
}

// resolve is [filepath.EvalSymlinks] as the command sees files.
func (h *confinement) resolve(path string) (string, error) {
	if h.Staged == nil {
		return filepath.EvalSymlinks(path)
	}
	return h.Staged.Resolve(path)
}
