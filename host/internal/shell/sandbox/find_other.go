//go:build !darwin && !(linux && (amd64 || arm64))

package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// Sandbox is not to be had on this system.
type Sandbox struct{}

// ProxySocket is empty: there is no place for a proxy's socket.
const ProxySocket = ""

// Bounds says that [Spec].Visible counts on this system.
const Bounds = false

// PrivateDir is empty: files are reached at their own paths.
const PrivateDir = ""

// Installed reports why this machine has no program for a sandbox.
func Installed(Options) error { return errNone() }

func errNone() error {
	return fmt.Errorf("there is none for %s on %s: use Linux or macOS", runtime.GOOS, runtime.GOARCH)
}

// Find reports that there is no sandbox.
func Find(context.Context, Options) (*Sandbox, Report) {
	return nil, Report{Kind: "none", Reasons: []string{errNone().Error()}}
}

// Wrap fails with [ErrNone].
func (*Sandbox) Wrap(context.Context, Spec, []string) (*Wrapped, error) { return nil, ErrNone }

// Confines reports false: there is no sandbox.
func (*Sandbox) Confines() bool { return false }

// Copies reports false; see [Spec].Copies.
func (*Sandbox) Copies() bool { return false }

// Tells reports false; see [Wrapped.Tell].
func (*Sandbox) Tells() bool { return false }

// Exec fails with [ErrNone].
func Exec([]string, []string) error { return ErrNone }

// Namespace is of no use on this system: sandboxes share nothing.
type Namespace struct{}

// Close does nothing.
func (*Namespace) Close() error { return nil }

// NewNamespace returns nil: sandboxes share nothing on this system.
func (*Sandbox) NewNamespace(context.Context) (*Namespace, error) { return nil, nil } //nolint:nilnil // that is no error

// Listen fails: there are no namespaces.
func (*Sandbox) Listen(context.Context, *Namespace, int) ([]net.Listener, error) { return nil, ErrNone }

// Shares reports false: there are no namespaces.
func (*Sandbox) Shares() bool { return false }

// Dial fails: there are no namespaces.
func (*Sandbox) Dial(context.Context, *Namespace, int) (net.Conn, error) { return nil, ErrNone }

// Judge returns the error: there are no programs on this system.
func Judge(err error) error { return err }

// Close does nothing: a sandbox holds nothing on this system.
func (*Sandbox) Close() error { return nil }

// Stage fails with [ErrOverlay]: sandboxes have no overlays on this system.
func (*Sandbox) Stage(context.Context, *Namespace, []Layer) error { return ErrOverlay }

// Run fails with [ErrOverlay]: sandboxes have no overlays on this system.
func (*Sandbox) Run(context.Context, *Namespace, process.Command, []byte, int) ([]byte, error) {
	return nil, ErrOverlay
}

// TryOverlay fails with [ErrOverlay]: sandboxes have no overlays on this system.
func (*Sandbox) TryOverlay(context.Context, string) error { return ErrOverlay }

// Sought fails with [ErrOverlay]: sandboxes share no network on this system.
func (*Sandbox) Sought(context.Context, *Namespace) (beyond, refused bool, err error) {
	return false, false, ErrOverlay
}

// Beside fails with [ErrOverlay]: sandboxes have no overlays on this system.
func (*Sandbox) Beside(context.Context, *Namespace) (*Namespace, error) { return nil, ErrOverlay }

// At returns the path: nothing is shown by another one.
func (*Namespace) At(path string) string { return path }

// Overlaid fails with [ErrOverlay]: sandboxes have no overlays on this system.
func (*Namespace) Overlaid(string) (*os.File, error) { return nil, ErrOverlay }

// Resolve is [filepath.EvalSymlinks]: nothing is shown by another path.
func (*Namespace) Resolve(path string) (string, error) { return filepath.EvalSymlinks(path) }
