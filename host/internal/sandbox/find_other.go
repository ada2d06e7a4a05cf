//go:build !darwin && !(linux && (amd64 || arm64))

package sandbox

import (
	"context"
	"fmt"
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

// Copies reports false; see [Spec].Copies.
func (*Sandbox) Copies() bool { return false }

// Exec fails with [ErrNone].
func Exec([]string, []string) error { return ErrNone }
