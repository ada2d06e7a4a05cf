//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// movesTold is how often it is looked for what the kernel does not tell: a file that is
// moved takes its mount along.
const movesTold = 250 * time.Millisecond

// watch waits for a mask or a protection to be lost. What is mounted on a file goes with
// the file: when a program outside puts another one in its place, as editors do when they
// save, or moves or removes it, the kernel takes the mount from every sandbox, and what
// comes to lie at the name is in sight. No mount keeps that from happening. But the kernel
// tells of most of it at once, whoever waits on the table of mounts.
func (g *gate) watch(ctx context.Context) (lost string, err error) {
	if g.table == nil {
		return "", nil // it was never released
	}
	raw, err := g.table.SyscallConn()
	for err == nil && ctx.Err() == nil && lost == "" {
		lost, err = g.look(ctx, raw)
	}
	if g.closed.Load() {
		return "", nil
	}
	return lost, err
}

// look waits until something is lost, or it is time for another look.
func (g *gate) look(ctx context.Context, raw syscall.RawConn) (lost string, err error) {
	if err := g.table.SetReadDeadline(time.Now().Add(movesTold)); err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { _ = g.table.SetReadDeadline(time.Now()) })()
	var fault error
	// The look is a part of the wait, so that nothing changes unnoticed between them.
	err = raw.Read(func(table uintptr) bool {
		lost, fault = g.lost(int(table))
		return lost != "" || fault != nil
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return lost, errors.Join(fault, err)
}

// lost is the first guarded place that is not as it was asked for.
func (g *gate) lost(table int) (string, error) {
	host, err := hostMounts()
	if err != nil {
		return "", err
	}
	// The descriptor is read as it is: its file is in use by the wait.
	content, err := io.ReadAll(io.NewSectionReader(descriptor(table), 0, maxTable))
	if err != nil {
		return "", fmt.Errorf("the mounts of a sandbox: %w", err)
	}
	inside, err := parseMounts(content)
	if err != nil {
		return "", err
	}
	for _, want := range g.wanted {
		if want.guard && want.fault(inside, host) != "" {
			return want.target, nil
		}
	}
	return "", nil
}

// maxTable bounds a table of mounts. The kernel allows a hundred thousand.
const maxTable = 64 << 20

// descriptor is a file that somebody else waits on.
type descriptor int

// ReadAt reads as [io.ReaderAt] has it.
func (d descriptor) ReadAt(p []byte, offset int64) (int, error) {
	for {
		n, err := unix.Pread(int(d), p, offset)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil // the table is read a part at a time
	}
}
