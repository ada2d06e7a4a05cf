//go:build !darwin && !(linux && (amd64 || arm64))

package sandbox

import (
	"context"
	"fmt"
	"net"
	"runtime"
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
