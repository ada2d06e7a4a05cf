//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/toolquay/toolquay/internal/privatedir"
)

// ProxySocket is where the proxy's socket lies in a sandbox of [NetworkHosts].
const ProxySocket = PrivateDir + "/proxy.sock"

// PrivateDir is a folder that sandboxes have for themselves, for what others put into
// their sight: no command can write there.
const PrivateDir = "/run/toolquay"

// firstFile is the descriptor of the first of [Wrapped.Files], where nothing else is
// said.
const firstFile = 3

// scratchSize bounds folders in memory, in bytes: what lies there counts as no
// process's memory.
const scratchSize = 256 << 20

// emptySize is as little as can be, for folders in memory that nothing is to be put into.
// Their permissions say so. Whoever opens them in spite of that has made room for nothing,
// and closing them for good takes bubblewrap six times as long as mounting them.
const emptySize = 1

// features are what not every bubblewrap, or not every machine, has.
type features struct {
	// users says that there is a user namespace. Root can do without.
	users bool
	// noUsers says that further ones can be forbidden (0.8.0), in addition to the
	// system call filter.
	noUsers bool
	// size says that folders in memory can be bounded (0.7.0).
	size bool
}

// Sandbox wraps commands into bubblewrap. It is safe for concurrent use.
type Sandbox struct {
	options      Options
	path         string
	features     features
	placeholders *placeholders
	// absent is what lies, in sandboxes, where no file is to be made, and standIn what
	// does for a stand-in.
	absent, standIn string

	mu sync.Mutex
	// tried is the program's file as it was when it was tried.
	tried fs.FileInfo
}

// open makes what the sandbox needs in its folder.
func (s *Sandbox) open(ctx context.Context) error {
	if !filepath.IsAbs(s.options.State) {
		return fmt.Errorf("%w: no folder for its state", ErrSpec)
	}
	if err := privatedir.Make(s.options.State); err != nil {
		return fmt.Errorf("the folder for the sandbox's state, %s: %w", s.options.State, err)
	}
	s.absent, s.standIn = filepath.Join(s.options.State, "absent"), filepath.Join(s.options.State, standInName)
	err := errors.Join(isThere(s.absent), hasContent(s.standIn, standInContent))
	if err != nil {
		return err
	}
	s.placeholders, err = openPlaceholders(ctx, s.options.State)
	return err
}

// isThere makes what is mounted on placeholders of files: the same as these are.
func isThere(path string) error {
	_, err := placeholder{path: path}.make()
	if errors.Is(err, fs.ErrExist) && isPlaceholder(path) {
		return nil
	}
	return err
}

// hasContent makes a file of the sandbox's own. It is not emptied first: other
// processes' commands may have it in sight.
func hasContent(path, content string) error {
	f, _, err := privatedir.OpenOwn(path, os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// Close ends the use of a sandbox. Commands that run still keep what they need.
func (s *Sandbox) Close() error { return s.placeholders.close() }

// Wrap turns a command into one that runs it in a sandbox. What others change of the
// files that it looks at to do so, [Wrapped.Release] finds out.
func (s *Sandbox) Wrap(ctx context.Context, spec Spec, argv []string) (*Wrapped, error) {
	if err := spec.valid(); err != nil {
		return nil, err
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("%w: no command", ErrSpec)
	}
	if err := s.tryAgain(ctx); err != nil {
		return nil, err
	}
	return s.wrap(ctx, spec, argv)
}

// wrap is [Sandbox.Wrap] by a program that was tried, or is about to be.
func (s *Sandbox) wrap(ctx context.Context, spec Spec, argv []string) (*Wrapped, error) {
	inside := s.inside(&spec, argv)
	l, err := s.newLayout(spec)
	if err != nil {
		return nil, err
	}
	if l.changeable(s.path) {
		return nil, fmt.Errorf("%w: %s is in a writable folder: a command could replace what holds it", ErrSpec, s.path)
	}
	filter, err := programFile(confinement(s.unixSockets(spec)))
	if err != nil {
		return nil, err
	}
	h, err := s.placeholders.hold(ctx, l.placeholders())
	if err != nil {
		return nil, closing(filter, err)
	}
	g, err := s.newGate(spec, l)
	if err != nil {
		return nil, errors.Join(err, h.Close(), filter.Close()) //nolint:contextcheck // it is given up whatever becomes of the call
	}
	return &Wrapped{
		Path:  s.path,
		Args:  append(s.arguments(spec, l), inside...),
		Files: []*os.File{filter, g.hold, g.tell},
		gate:  g,
		// Nobody is to watch any more when the placeholders go.
		done: []io.Closer{g, filter, h},
	}, nil
}

// unixSockets says whether the filter has to leave them: for the command, or for the
// bridge.
func (s *Sandbox) unixSockets(spec Spec) bool {
	return spec.UnixSockets || spec.network() == NetworkHosts
}

// inside is what runs in the sandbox, and puts what that needs into sight.
func (s *Sandbox) inside(spec *Spec, argv []string) []string {
	if spec.network() != NetworkHosts {
		return argv
	}
	binds := append([]Bind(nil), spec.Bind...)
	binds = append(binds, Bind{Source: spec.Proxy, Target: ProxySocket})
	inside := append([]string(nil), s.options.Bridge...)
	if len(inside) > 0 {
		binds = append(binds, Bind{Source: inside[0], Target: inside[0]})
		inside = append(inside, ProxySocket)
	}
	if confine := s.options.Confine; len(confine) > 0 && !spec.UnixSockets {
		binds = append(binds, Bind{Source: confine[0], Target: confine[0]})
		inside = append(inside, confine...)
	}
	spec.Bind = binds
	return append(inside, argv...)
}

// changeable says whether a command can write to a file.
func (l *layout) changeable(path string) bool {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	innermost := &entry{}
	for _, e := range l.entries {
		if within(path, e.target) {
			innermost = e
		}
	}
	return innermost.writable() && innermost.own()
}

// arguments are bubblewrap's, to the end of its own.
func (s *Sandbox) arguments(spec Spec, l *layout) []string {
	args := []string{filepath.Base(s.path)}
	first := cmp.Or(spec.FirstFile, firstFile)
	if s.features.users {
		args = append(args, "--unshare-user")
	}
	if s.features.noUsers {
		args = append(args, "--disable-userns")
	}
	args = append(args, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
	if spec.network() != NetworkAll {
		args = append(args, "--unshare-net")
	}
	args = append(args, "--die-with-parent", "--cap-drop", "ALL",
		"--seccomp", strconv.Itoa(first), "--block-fd", strconv.Itoa(first+1), "--info-fd", strconv.Itoa(first+2),
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	if !spec.ReadOnly {
		args = s.scratch(args, "/dev/shm")
	}
	var closed []string
	for _, e := range l.entries {
		args = s.mount(args, e)
		if e.inMemory() && !s.leftOpen(e) {
			closed = append(closed, e.target)
		}
	}
	if os.Geteuid() == 0 {
		// What configures the kernel there asks for no capability but for that user.
		closed = append(closed, "/proc")
	}
	// Closed to changes only now that mounts in them need no more folders made. That
	// /dev is closed tells that all is done.
	for _, path := range append(closed, "/dev") {
		args = append(args, "--remount-ro", path)
	}
	if spec.Cwd != "" {
		args = append(args, "--chdir", spec.Cwd)
	}
	return append(args, "--")
}

// leftOpen says that a folder in memory is closed by its permissions alone.
func (s *Sandbox) leftOpen(e *entry) bool { return e.inMemory() && !e.passage && s.features.size }

func (s *Sandbox) scratch(args []string, path string) []string {
	return s.memory(args, scratchSize, "1777", path)
}

func (s *Sandbox) memory(args []string, size int, perms, path string) []string {
	if s.features.size {
		args = append(args, "--size", strconv.Itoa(size))
	}
	return append(args, "--perms", perms, "--tmpfs", path)
}

// source is what is mounted for an entry, nothing for a folder in memory.
func (s *Sandbox) source(e *entry) string {
	switch {
	case e.kind == kindAbsentFile && isStandIn(e.target):
		return s.standIn
	case e.kind == kindAbsentFile:
		return s.absent
	case e.kind == kindHiddenFile:
		// A device on a mount that allows none: opening it is refused, to its owner
		// too.
		return os.DevNull
	}
	return e.source
}

// mount adds the arguments for an entry.
func (s *Sandbox) mount(args []string, e *entry) []string {
	switch e.kind {
	case kindScratch:
		return s.scratch(args, e.target)
	case kindEmpty, kindAbsentDir:
		return s.memory(args, emptySize, "0555", e.target)
	case kindReadOnly, kindProtected, kindAbsentFile, kindHiddenFile:
		return append(args, "--ro-bind", s.source(e), e.target)
	case kindWritable, kindPin:
		return append(args, "--bind", s.source(e), e.target)
	case kindHiddenDir:
		perms := "0000"
		if e.passage {
			perms = "0111"
		}
		return s.memory(args, emptySize, perms, e.target)
	}
	panic(errors.New("a kind without a mount"))
}
