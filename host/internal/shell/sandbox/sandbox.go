package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/touches"
)

// Mode is the setting that says when commands are run in a sandbox.
type Mode string

// The modes.
const (
	// Off runs commands without a sandbox.
	Off Mode = "off"
	// WhenAvailable runs them without one, with a warning, where there is none.
	WhenAvailable Mode = "when-available"
	// Required refuses them where there is none.
	Required Mode = "required"
)

// Network is what a command reaches.
type Network string

// The networks.
const (
	// NetworkOff is a loopback of the command's own. It is the zero value's meaning.
	NetworkOff Network = "off"
	// NetworkAll is the machine's network, its loopback included.
	NetworkAll Network = "all"
	// NetworkHosts is NetworkOff and the socket of a proxy that decides by host.
	NetworkHosts Network = "hosts"
)

// Spec is what a command may do. All paths are absolute. Where several say
// something about a path, the one that names more of it decides; for the same path
// Hidden decides before Protected, and that before Writable.
type Spec struct {
	// Writable are the folders, with all that is below, that can be written to.
	Writable []string
	// Visible are the only files and folders of the machine in sight, besides what the
	// other fields name; links on the way to them stay links. What is not there is left
	// out. Without any the whole machine is in sight.
	Visible []string
	// Hidden are files and folders that cannot be read. What is not there is left
	// out.
	Hidden []string
	// Protected are paths in Writable that cannot be written to. Those that do not exist are
	// watched: see [Wrapped.Watch].
	Protected []string
	// Copies are files in Writable that are shown as links to private copies. A sandbox that
	// cannot do that, as [Sandbox.Copies] reports, protects the files.
	Copies []Copy
	// Temp is a private folder that is /tmp and /var/tmp too. Without one they are
	// in memory, and gone after the command.
	Temp string
	// Cwd is the folder the command starts in. It must be in sight.
	Cwd     string
	Network Network
	// Proxy is the path of the socket of NetworkHosts, or ProxyPort that of the proxy on the
	// machine's loopback, where commands have none of their own: see [Sandbox.Listen].
	Proxy     string
	ProxyPort int
	// ReadOnly makes nothing writable, Temp included, and takes the network away,
	// whatever the other fields say.
	ReadOnly bool
	// UnixSockets lets the command make Unix sockets, and so connect to every one
	// whose path is in sight, and with NetworkAll to all abstract ones. Pairs of stream
	// or packet sockets are free in any case.
	UnixSockets bool
	// Bind puts further files and folders in sight.
	Bind []Bind
	// Staged says that Namespace must have overlays: otherwise no sandbox is made.
	Staged bool
	// Unstaged are directories in Writable that have no overlay, and that a command whose namespace
	// has overlays may change all the same, like Temp; see [Sandbox.Stage].
	Unstaged []string
	// Namespace is what the command shares with others of its session; nil is what all
	// without one share. It is used where sandboxes have one, see [Sandbox.NewNamespace].
	Namespace *Namespace
	// Limits bound the command: what waits for it has them already.
	Limits process.Limits
	// Touches are folders. Changes of files below them are reported before the command makes them:
	// [Wrapped.Tell] must be called then, if [Sandbox.Tells]. Nothing is reported for a command that is
	// ReadOnly. With Renames only renames are reported.
	Touches []string
	Renames bool
	// FirstFile is the descriptor that the first of [Wrapped.Files] is going to have; 0
	// stands for 3.
	FirstFile int
}

// Copy shows the file at Path as a symbolic link to Private, a file in a folder that the
// command can write in. The link cannot be moved or removed.
type Copy struct{ Path, Private string }

// Layer is an overlay over the directory Root: commands see their changes there, but Root itself
// stays as it is. The changes are stored in Upper, in the format of overlayfs. Work is a directory
// for overlayfs alone, in the same file system as Upper. All are absolute paths without symbolic
// links to directories.
type Layer struct {
	Root, Upper, Work string
	// Generation is a new one after something other than commands has changed Root or Upper: then all
	// overlays have to be mounted anew, while no command is running.
	Generation int
}

// Bind puts a file or folder of the machine at a place of the sandbox's.
type Bind struct {
	Source, Target string
	Writable       bool
	// FIFO is one to write to, which changes nothing on the disk, also with [Spec].ReadOnly.
	// Sandboxes in which it could be written to anyway take no notice.
	FIFO bool
}

// Options are what a sandbox knows of its surroundings.
type Options struct {
	// State is a folder of the caller's own, made if need be, for what was undone; it is hidden
	// from every command. What was undone is kept there for 30 days. Required on Linux.
	State string
	// Home is the home that stays in sight; without one all of /home is hidden.
	Home string
	// Program is bubblewrap's path; empty looks for it.
	Program string
	// Supervisors have what is run to try bubblewrap, so that nothing of it outlives a host
	// that is killed. Nil is supervisors of [Find]'s own; then the program must have called
	// [process.Main]. Limits bound it.
	Supervisors *process.Supervisors
	Limits      process.Limits
	// Bridge begins the command that runs inside NetworkHosts, before the path of
	// the proxy's socket there and the command itself.
	Bridge []string
	// Confine begins a command that calls [Exec] with the rest of its arguments. It
	// is put between the bridge, which needs a Unix socket, and a command that may
	// have none. Without it commands of NetworkHosts can make Unix sockets.
	Confine []string

	// links says that links can be mounted.
	links bool
}

// Wrapped is a command to be run in a sandbox. The caller starts it, releases it, for it
// does nothing before, and closes it when nothing of the command runs any more.
type Wrapped struct {
	Path string
	// Args has the program's name first, and Dir is where it is to start; empty is anywhere.
	Args []string
	Dir  string
	// Files are the sandbox's own, to be open from [Spec].FirstFile on. The command does
	// not have them.
	Files []*os.File
	// Program is what the command's process does first, before it becomes the program at
	// Inside; nil where that is at Path. With it there is no Path: whoever does not know of it
	// starts nothing.
	Program *calls.Program
	Inside  string
	// In is a process that has carried the program out, and waits to become the command; nil is
	// none. See [process.Command].
	In *process.Process
	// LookEvery is how often [Wrapped.Watch] looks for what the kernel does not tell, which costs
	// a millisecond of processor time; 0 is four times a second.
	LookEvery time.Duration

	gate interface {
		release(ctx context.Context, pid int) error
		watch(ctx context.Context, every time.Duration, lost func(Loss)) error
		changed() (undone []Undone, replaced []string)
	}
	done []io.Closer
}

// movesTold is how often it is looked for what the kernel does not tell: a file that is
// moved takes its mount along.
const movesTold = 250 * time.Millisecond

// Release lets the command run, which has been started as the process pid: when its
// sandbox turns out to be what was asked. Otherwise it fails and the caller kills what it
// started: with [ErrChanged] where others changed paths meanwhile, and with [ErrUnmade]
// where no sandbox was made, for which the program's output gives the reason.
func (w *Wrapped) Release(ctx context.Context, pid int) error {
	if w.gate == nil {
		return nil
	}
	return w.gate.release(ctx, pid)
}

// Loss is why a command that runs must end.
type Loss struct {
	// Path is hidden, and something that can be read lies there now, as a program outside put
	// it there. Or it is a protected name that did not exist, and is made again and again, or
	// cannot be undone, as Err says.
	Path   string
	Hidden bool
	Err    error
}

// Undone is a protected name that did not exist when a command began, and was made while it
// ran. Kept is where what lay there is now.
type Undone struct{ Path, Kept string }

// Watch undoes, from the release on until the context ends or w is closed, what is made at
// protected names that did not exist. Where something is lost for good it says so, perhaps
// again and again: the caller ends the command then.
func (w *Wrapped) Watch(ctx context.Context, lost func(Loss)) error {
	if w.gate == nil {
		return nil
	}
	return w.gate.watch(ctx, cmp.Or(w.LookEvery, movesTold), lost)
}

// Tell reports to a handler what the command is about to change below [Spec].Touches, until all its processes have
// ended or w is closed. It must be called right after the release: the command's first change waits for it.
func (w *Wrapped) Tell(h touches.Handler) error {
	if t, ok := w.gate.(interface{ tell(h touches.Handler) error }); ok {
		return t.tell(h)
	}
	return nil
}

// Changed returns what was undone, complete when w is closed, and which hidden and protected paths
// programs outside replaced, moved or removed, so that the command could have opened what lies
// there now: for a moment, or, with bubblewrap and protected ones, since.
func (w *Wrapped) Changed() (undone []Undone, replaced []string) {
	if w.gate == nil {
		return nil, nil
	}
	return w.gate.changed()
}

// Close undoes what is left at protected names that did not exist, and gives up what the
// command had for itself. It is safe to repeat.
func (w *Wrapped) Close() error {
	var faults []error
	for _, c := range w.done {
		faults = append(faults, c.Close())
	}
	w.done = nil
	return errors.Join(faults...)
}

// Report says what this machine offers.
type Report struct {
	// Kind is "namespaces", which this program makes itself, "bubblewrap" or "sandbox-exec".
	// Where there is no sandbox it is "landlock" or "seccomp", if the kernel holds commands
	// by that, or "none". Version is that of the program, or of Landlock and the kernel.
	Kind          string
	Path, Version string
	Available     bool
	// Reasons say, for people, why there is no sandbox and what can be done, or what
	// is weaker than it could be where there is one.
	Reasons []string
	// Unstaged says why overlays cannot keep the changes of commands from the disk; empty if they
	// can, or if that was not tried.
	Unstaged string
	// Lost are sentences for people about what a sandbox would hold and the kernel alone, where
	// there is none, does not.
	Lost []string
}

// String is the report as one line.
func (r Report) String() string {
	var b strings.Builder
	switch {
	case r.Available:
		b.WriteString(r.Kind)
		if r.Version != "" {
			b.WriteString(" " + r.Version)
		}
		if r.Path != "" {
			b.WriteString(" (" + r.Path + ")")
		}
	default:
		b.WriteString("not available")
	}
	if len(r.Reasons) > 0 {
		b.WriteString(": " + strings.Join(r.Reasons, "; "))
	}
	if len(r.Lost) > 0 {
		b.WriteString("; the kernel alone holds commands, by " + r.Kind + " " + r.Version)
	}
	return b.String()
}

var (
	// ErrNone is that this machine offers no sandbox.
	ErrNone = errors.New("there is no sandbox")
	// ErrLink is a protected path that a symbolic link leads to: the link could be
	// replaced.
	ErrLink = errors.New("a symbolic link cannot be protected")
	// ErrChanged is a sandbox that became another than what was asked: what paths lead
	// to was changed while it was made.
	ErrChanged = errors.New("paths were changed while a sandbox was made of them")
	// ErrUnmade is that no sandbox was made as it was asked for: bubblewrap ended, or ran the
	// command, without one that could be compared with that, or a launcher of ours did not tell
	// of its mounts.
	ErrUnmade = errors.New("no sandbox was made")
	// ErrOverlay means that no overlay can be mounted.
	ErrOverlay = errors.New("this system cannot mount overlays")
	// ErrSpec is a specification that cannot be carried out.
	ErrSpec = errors.New("unusable sandbox")
)

// Choose says whether commands are run in a sandbox. The error, which wraps
// [ErrNone], refuses them all; the warning is for people.
func Choose(mode Mode, r Report) (use bool, warning string, err error) {
	why := strings.Join(r.Reasons, "; ")
	switch mode {
	case Off:
		return false, "", nil
	case WhenAvailable:
		switch {
		case r.Available:
		case len(r.Lost) > 0:
			return false, fmt.Sprintf("commands run without a sandbox; the kernel alone holds them, by %s %s, which is less: %s", r.Kind, r.Version, why), nil
		default:
			return false, "commands run without a sandbox, with all that this user may do: " + why, nil
		}
	case Required:
		if !r.Available {
			return false, "", fmt.Errorf("%w, and the settings require one ([sandbox] mode = %q): %s", ErrNone, mode, why)
		}
	default:
		return false, "", fmt.Errorf("mode = %q of [sandbox] is none of %q, %q and %q", mode, Off, WhenAvailable, Required)
	}
	return true, "", nil
}

// valid tells faults that need no look at the machine.
func (s Spec) valid() error {
	lists := [][]string{s.Writable, s.Visible, s.Hidden, s.Protected, s.Touches, s.Unstaged, {s.Cwd}}
	if s.Temp != "" {
		lists = append(lists, []string{s.Temp})
	}
	for _, c := range s.Copies {
		lists = append(lists, []string{c.Path, c.Private})
	}
	for _, b := range s.Bind {
		lists = append(lists, []string{b.Source, b.Target})
	}
	for _, list := range lists {
		for _, path := range list {
			if !strings.HasPrefix(path, "/") || strings.ContainsRune(path, 0) {
				return fmt.Errorf("%w: %q is no absolute path", ErrSpec, path)
			}
		}
	}
	if s.FirstFile != 0 && s.FirstFile < 3 {
		return fmt.Errorf("%w: its files cannot be standard input and output", ErrSpec)
	}
	switch s.Network {
	case "", NetworkOff, NetworkAll:
	case NetworkHosts:
		if s.Proxy == "" && s.ProxyPort == 0 && s.Namespace == nil && !s.ReadOnly {
			return fmt.Errorf("%w: network %q without a proxy", ErrSpec, s.Network)
		}
	default:
		return fmt.Errorf("%w: unknown network %q", ErrSpec, s.Network)
	}
	return nil
}

// protected are the paths that cannot be written to where no file is shown as a copy.
func (s Spec) protected() []string {
	paths := slices.Clone(s.Protected)
	for _, c := range s.Copies {
		paths = append(paths, c.Path)
	}
	return paths
}

// network is what the command reaches when all is said.
func (s Spec) network() Network {
	if s.ReadOnly || s.Network == "" {
		return NetworkOff
	}
	return s.Network
}
