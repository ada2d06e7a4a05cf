//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// gate holds a command back until its sandbox turned out to be what was asked.
//
// Bubblewrap is told paths, and follows what links there are when it mounts them. What
// runs in another sandbox may exchange a folder for a link in that moment, and would
// have any folder of the machine opened to it, or a mask put elsewhere. So bubblewrap
// waits when it is done, and what it made is read from the kernel: mounts, which no
// renaming of paths moves any more.
type gate struct {
	// told is where bubblewrap tells the process it made the mounts for, and tell its
	// own end; hold is what it reads before it runs the command. Bubblewrap has both
	// ends of that pipe: nobody's death opens it.
	told, tell, hold *os.File
	// apart are the namespaces, by their names in /proc, that must not be this process's.
	apart []string
	*guard
}

const (
	// settling bounds how long the making of a sandbox may take: milliseconds, but on
	// a machine with no time to spare.
	settling = 20 * time.Second
	// shortestPause and longestPause are how often it is looked whether that is done.
	shortestPause, longestPause = 200 * time.Microsecond, 5 * time.Millisecond
)

func newGate(spec Spec, l *layout, b *bubblewrap) (*gate, error) {
	g := &gate{apart: []string{"mnt", "pid", "ipc", "uts"}, guard: newGuard(l, b.options.State, &b.live, b.features.leftOpen)}
	if spec.network() != NetworkAll {
		g.apart = append(g.apart, "net")
	}
	var err error
	if g.hold, err = endlessPipe(); err != nil {
		return nil, err
	}
	if g.told, g.tell, err = os.Pipe(); err != nil {
		return nil, closing(g.hold, err)
	}
	return g, nil
}

// endlessPipe is a pipe in one descriptor. It blocks, which [os.OpenFile]'s would not.
func endlessPipe() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _, _ = r.Close(), w.Close() }() // what is opened anew stays
	fd, err := unix.Open("/proc/self/fd/"+strconv.Itoa(int(r.Fd())), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("a pipe that holds a command back: %w", err)
	}
	return os.NewFile(uintptr(fd), "hold"), nil
}

// Close leaves the command held, if it is.
func (g *gate) Close() error {
	err := errors.Join(g.told.Close(), g.hold.Close(), g.guard.close())
	if closed := g.tell.Close(); !errors.Is(closed, os.ErrClosed) {
		err = errors.Join(err, closed)
	}
	return err
}

// release looks at the sandbox and opens the gate. Bubblewrap was started as the process
// made; what it says counts for its own descendants only.
func (g *gate) release(ctx context.Context, made int) error {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	_ = g.tell.Close() // bubblewrap has its own, and where that is gone there is an end
	pid, err := g.first(ctx)
	if err != nil {
		return err
	}
	host, err := hostMounts()
	if err != nil {
		return err
	}
	if g.table, err = settled(ctx, strconv.Itoa(pid), host); err != nil {
		return err
	}
	if !descends(pid, made) {
		return fmt.Errorf("%w: it named process %d, which it did not start", ErrUnmade, pid)
	}
	// Before it is compared: what is watched then is what the sandbox has.
	if err := g.missing.begin(); err != nil {
		return err
	}
	inside, err := mountsOf(g.table)
	if err != nil {
		return err
	}
	if fault := g.fault(inside, host); fault != "" {
		return fmt.Errorf("%w: %s", ErrChanged, fault)
	}
	if err := g.separate(strconv.Itoa(pid)); err != nil {
		return err
	}
	g.missing.release()
	_, err = g.hold.Write([]byte{1})
	return err
}

// separate compares the namespaces of the sandbox's first process with this one's.
func (g *gate) separate(pid string) error {
	for _, name := range g.apart {
		inside, err := os.Readlink("/proc/" + pid + "/ns/" + name)
		if gone(err) {
			return errGone
		}
		own, ownErr := os.Readlink("/proc/self/ns/" + name)
		if err := errors.Join(err, ownErr); err != nil {
			return err
		}
		if inside == own {
			return fmt.Errorf("%w: it shares the %s namespace of this machine", ErrUnmade, name)
		}
	}
	return nil
}

// first is the sandbox's first process, as the host counts processes.
func (g *gate) first(ctx context.Context) (int, error) {
	defer context.AfterFunc(ctx, func() { _ = g.told.SetReadDeadline(time.Now()) })()
	var info struct {
		PID int `json:"child-pid"`
	}
	err := json.NewDecoder(g.told).Decode(&info)
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil || info.PID <= 1:
		return 0, fmt.Errorf("%w: it did not name the sandbox's first process", ErrUnmade)
	}
	return info.PID, nil
}

// descends reports whether a process was started by another one or by what that started.
func descends(pid, from int) bool {
	for depth := 0; pid > 1 && depth < maxDepth; depth++ {
		if pid == from {
			return true
		}
		pid = parentOfProcess(pid)
	}
	return false
}

// maxDepth is how many processes may lie between bubblewrap's start and its sandbox, such
// as those of a script around it.
const maxDepth = 16

// parentOfProcess is a process's parent; 0 where there is none.
func parentOfProcess(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// Behind the name, which may hold anything, come the state and the parent.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1])) // the kernel writes a number
	return parent
}

// errGone is that a sandbox's first process ended before its mounts could be compared.
var errGone = fmt.Errorf("%w: its first process ended before the command could run", ErrUnmade)

// settled waits until a sandbox has all its mounts, and returns where they are listed.
func settled(ctx context.Context, pid string, host *mounts) (*os.File, error) {
	for began := time.Now(); ; {
		done, err := complete(pid, host)
		switch {
		case gone(err):
			return nil, errGone
		case err != nil:
			return nil, err
		case done:
			// Opened only now: what is listed is seen from the root there was then.
			table, err := openTable(pid)
			if gone(err) {
				return nil, errGone
			}
			return table, err
		}
		select {
		case <-time.After(min(max(shortestPause, time.Since(began)/10), longestPause)):
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a sandbox to be made: %w", context.Cause(ctx))
		}
	}
}

// gone says that a process that was asked about is no more.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EINVAL)
}

// complete says that bubblewrap has mounted all: it closes its own /dev to changes as
// the last thing (see [features.arguments]), and makes the new root the only one.
func complete(pid string, host *mounts) (bool, error) {
	table, err := openTable(pid)
	if err != nil {
		return false, err
	}
	defer func() { _ = table.Close() }() // it is only read
	content, err := io.ReadAll(table)
	if err != nil || !bytes.Contains(content, []byte(" /dev ro,")) { // then it need not be taken apart
		return false, err
	}
	inside, err := parseMounts(content)
	if err != nil {
		return false, err
	}
	dev := inside.at("/dev")
	return dev.point == "/dev" && dev.has("ro") && dev.device != host.at("/dev").device, nil
}
