package shell

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/tempdir"
)

// AtLimit says what becomes of a command at its time limit.
type AtLimit string

// What may become of it.
const (
	// LimitBackground moves it to the background if there are tasks, and else ends it. A
	// command that only sleeps is always ended.
	LimitBackground AtLimit = "background"
	// LimitKill ends it.
	LimitKill AtLimit = "kill"
)

// Options say how commands run: by the settings, on what this machine offers.
type Options struct {
	Settings
	// Supervisors start the commands. They are the caller's to close.
	Supervisors *process.Supervisors
	// Mode says when commands are confined, and Sandbox confines them; it is partial or nil if
	// there is none, and Missing says why.
	Mode    sandbox.Mode
	Sandbox *sandbox.Sandbox
	Missing string
	// Logger takes what goes wrong beside the calls; nil discards it.
	Logger *slog.Logger
}

// Settings are what a user may choose about commands.
type Settings struct {
	// Network is what confined commands reach of the network, and UnixSockets lets them make
	// Unix sockets.
	Network     sandbox.Network
	UnixSockets bool
	// SettingsFile is the file in which a user can open more to commands; empty is not known.
	SettingsFile string
	// Bash and PowerShell are the absolute paths of the shells' programs. Empty ones are
	// looked for in the directories that a system keeps its programs in.
	Bash, PowerShell string
	// Time says how long a command may run, unless Times do.
	Time Time
	// Times, if not nil, say it for a command that begins now.
	Times *Times
	// Limits bound what a command uses.
	Limits process.Limits
	// Resolve and Dial are how hosts are reached that commands may reach; nil is the
	// system's way.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// MaxOutput is how many bytes of one command's output are kept; a command that writes
	// more is ended. 0 is 16 GiB.
	MaxOutput int64
}

// Time says how long a command may run.
type Time struct {
	// Default is the usual time limit, and Max, at least Default, the longest that a call
	// may ask for; 0 is 2 and 10 minutes.
	Default, Max time.Duration
	// Budget is how long a command may hold the conversation up before it moves to the
	// background, if there are tasks; 0 is as long as its limit.
	Budget time.Duration
	// AtLimit is what becomes of it at its time limit; empty is LimitBackground.
	AtLimit AtLimit
}

// Times are the [Time] of the commands to come. They are safe for concurrent use.
type Times struct{ current atomic.Pointer[Time] }

// NewTimes returns times that begin with t.
func NewTimes(t Time) *Times {
	times := new(Times)
	times.Set(t)
	return times
}

// Set sets them. Commands that run keep theirs.
func (s *Times) Set(t Time) { s.current.Store(&t) }

// now are those of a command that begins now, with the defaults.
func (s *Times) now() Time {
	t := *s.current.Load()
	t.Default = cmp.Or(t.Default, 2*time.Minute)
	t.Max = max(cmp.Or(t.Max, 10*time.Minute), t.Default)
	t.AtLimit = cmp.Or(t.AtLimit, LimitBackground)
	return t
}

// setup is what all commands run by.
type setup struct {
	Options // with the defaults; Sandbox is nil if nothing is to be confined
	// programs look for the program of each shell, once.
	programs map[string]func() (string, error)
	// networks are what the commands of a session share of the network.
	networks networks
	// private makes, once, a directory of the capability alone, by which commands reach the
	// network by host. It is nil if none do.
	private func() (*tempdir.Dir, error)
}

// newSetup completes the options, and makes what commands share.
func newSetup(o Options) *setup {
	if o.Times == nil {
		o.Times = NewTimes(o.Time)
	}
	o.MaxOutput = cmp.Or(o.MaxOutput, 16<<30)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Mode == sandbox.Off {
		o.Sandbox = nil
	}
	s := &setup{Options: o, programs: map[string]func() (string, error){
		abi.ShellBash:       sync.OnceValues(func() (string, error) { return Look(abi.ShellBash, o.Bash) }),
		abi.ShellPowerShell: sync.OnceValues(func() (string, error) { return Look(abi.ShellPowerShell, o.PowerShell) }),
	}}
	if o.Sandbox != nil && o.Network != sandbox.NetworkAll {
		s.private = sync.OnceValues(tempdir.Make)
		_, _ = s.private() // a failure is reported by the commands that need the directory
	}
	return s
}

// confines reports whether commands run in a sandbox that is whole.
func (s *setup) confines() bool { return s.Sandbox != nil && s.Sandbox.Confines() }
