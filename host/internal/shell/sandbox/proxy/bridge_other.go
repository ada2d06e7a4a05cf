//go:build !linux

package proxy

import (
	"context"
	"errors"
	"fmt"
)

// Bridge runs a command for which the proxy behind a Unix socket is the way to the
// network. There are no network namespaces to run it in on this system.
func Bridge(context.Context, string, []string) (exit int, err error) {
	return 0, fmt.Errorf("commands cannot be bridged to a proxy: %w", errors.ErrUnsupported)
}
