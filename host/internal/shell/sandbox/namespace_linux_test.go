//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// Where this process may have no more descriptors, fewer come than were sent.
func TestFewerFilesThanSent(t *testing.T) {
	t.Parallel()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	defer func() { _, _ = unix.Close(ends[0]), unix.Close(ends[1]) }()
	must(t, unix.Sendmsg(ends[1], []byte{1}, unix.UnixRights(0), nil, 0))
	if files, err := sandbox.Receive(ends[0], 2); !errors.Is(err, unix.EMFILE) {
		t.Errorf("it took %d for 2: %v", len(files), err)
	}
}
