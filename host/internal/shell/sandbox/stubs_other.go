//go:build !(linux && (amd64 || arm64))

package sandbox

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// Shares reports false: there are no namespaces.
func (*Sandbox) Shares() bool { return false }

// Dial fails: there are no namespaces.
func (*Sandbox) Dial(context.Context, *Namespace, int) (net.Conn, error) { return nil, ErrNone }

// Judge returns the error as it is: sandboxes are not made by programs on this system.
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

// At returns the path: there are no overlays on this system.
func (*Namespace) At(path string) string { return path }

// Overlaid fails with [ErrOverlay]: sandboxes have no overlays on this system.
func (*Namespace) Overlaid(string) (*os.File, error) { return nil, ErrOverlay }

// Resolve is [filepath.EvalSymlinks]: there are no overlays on this system.
func (*Namespace) Resolve(path string) (string, error) { return filepath.EvalSymlinks(path) }
