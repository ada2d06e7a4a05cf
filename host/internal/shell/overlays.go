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

// Overlays are the overlays over the directories of a staged session. They stay mounted at least until Close.
type Overlays struct {
	sandbox   *sandbox.Sandbox
	namespace *sandbox.Namespace
	giveBack  func() error
}

var _ capability.StagedTree = (*Overlays)(nil)

// Stage mounts overlays for the commands of a session. ended identifies the session; it is closed when
// the session ends. Overlays that are mounted already stay. The error wraps [sandbox.ErrOverlay] if
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
		_ = o.Close() // the first error counts
		return nil, err
	}
	return o, nil
}

// TryOverlay returns an error that says why changes of commands cannot be staged in a directory, or nil
// if they can.
func (c *Capability) TryOverlay(ctx context.Context, dir string) error {
	if !c.setup.confines() {
		return sandbox.ErrOverlay
	}
	return c.setup.Sandbox.TryOverlay(ctx, dir)
}

// At implements [capability.StagedTree].
func (o *Overlays) At(path string) string { return o.namespace.At(path) }

// Resolve implements [capability.StagedTree].
func (o *Overlays) Resolve(path string) (string, error) { return o.namespace.Resolve(path) }

// Run runs a program of this process so that it sees the same files as commands; see [sandbox.Sandbox.Run].
func (o *Overlays) Run(ctx context.Context, dir string, argv, env []string, input []byte, most int) ([]byte, error) {
	return o.sandbox.Run(ctx, o.namespace, process.Command{Path: argv[0], Args: argv, Env: env, Dir: dir}, input, most)
}

// Open opens a directory with an overlay over it. The caller closes the file.
func (o *Overlays) Open(root string) (*os.File, error) { return o.namespace.Overlaid(root) }

// Sought reports whether commands that use these overlays tried to reach something beyond their
// loopback, and whether they tried to connect to a port of it where nothing listened.
func (o *Overlays) Sought(ctx context.Context) (beyond, refused bool, err error) {
	return o.sandbox.Sought(ctx, o.namespace)
}

// Close ends the use of the overlays. It may be called more than once.
func (o *Overlays) Close() error { return o.giveBack() }

// tree returns the file tree that the command sees.
func (h *confinement) tree() capability.StagedTree {
	if h.Staged == nil {
		return disk{}
	}
	return h.Staged
}

func (h *confinement) at(path string) string { return h.tree().At(path) }

func (h *confinement) resolve(path string) (string, error) { return h.tree().Resolve(path) }

// disk is the tree of commands whose changes are not staged.
type disk struct{}

// At returns the path.
func (disk) At(path string) string { return path }

// Resolve is [filepath.EvalSymlinks].
func (disk) Resolve(path string) (string, error) { return filepath.EvalSymlinks(path) }
