package host

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/permissions"
)

// Shell says how commands run: those of the tools Bash and PowerShell, and of plugins that
// declare shell.run. The zero value confines them to a sandbox if there is one, without
// network and with an empty environment. Where none can be made, such as in containers without
// user namespaces, the kernel alone holds them, which is less, or nothing does, unless Sandbox.Mode
// is [SandboxRequired]. A Shell requires that the program calls [Main].
type Shell struct {
	// Supervisor starts a program that calls [Main] first thing; empty is this program,
	// which must have called it.
	Supervisor []string
	// Optional opens the host on a machine without a shell too, or without a sandbox where
	// one is required. Then each command is refused with the reason.
	Optional bool
	// Bash and PowerShell are the absolute paths of the programs. Empty ones are looked for
	// where a system keeps its programs.
	Bash, PowerShell string
	// Environ is an environment of which commands get the usual variables, such as PATH and
	// HOME, and those that the globs in Environment name. Commands get nothing of this
	// process's own environment.
	Environ, Environment []string
	// Sandbox says how commands are confined, and SettingsFile is the file, if any, in which
	// a user can open more to them: models are told what to write there.
	Sandbox      SandboxOptions
	SettingsFile string
	// Time says how long a command may run.
	Time CommandTime
	// Limits bound what one command uses.
	Limits CommandLimits
	// MaxOutput bounds the output that is kept of one command, in bytes; 0 is 16 GiB.
	MaxOutput int64
	// MaxBackground is how many tasks of a session may run in the background at once; 0 is 32.
	// If it is negative none may: commands end at their time limit, and models are not offered
	// the tools for tasks.
	MaxBackground int

	// resolve and dial are how commands reach hosts in tests; nil is the system's way.
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// bubblewrap is the program that makes sandboxes in tests; empty looks for the best way.
	bubblewrap string
}

// SandboxOptions say how commands are confined.
type SandboxOptions struct {
	// Mode says when commands are confined; empty is [SandboxWhenAvailable]: wherever that
	// is possible, and else they are held by the kernel alone, as [SandboxReport].Lost says, or
	// by nothing.
	Mode SandboxMode
	// Network is what confined commands reach of the network; empty is nothing. With
	// [NetworkHosts], Hosts are those beyond the ones that rules on WebFetch allow: names, or
	// *.NAME for all below one.
	Network SandboxNetwork
	Hosts   []string
	// Writable are directories that confined commands may write in, beyond the session's own.
	// They are made where they are missing; one that cannot be written is an error of commands.
	Writable []string
	// Caches is a directory for what confined commands put into the caches of go, npm, cargo,
	// pip and their like, for each project, instead of the user's caches. Empty has commands
	// only read the user's.
	Caches string
	// Unasked says in which modes commands that run wholly confined need no permission: on
	// Linux, with Network not [NetworkAll] and without UnixSockets. Empty is
	// [permissions.UnaskedEdits].
	Unasked permissions.Unasked
	// Contained says whether commands that the mode asks about are tried first, over throwaway
	// overlays. The conditions of Unasked apply, and the system must be able to mount overlays.
	// Empty is [permissions.ContainedOff].
	Contained permissions.Contained
	// UnixSockets lets confined commands make Unix sockets.
	UnixSockets bool
	// State is a directory for what must be tidied up after a crash, the same for all hosts of
	// a user. Empty is a directory that is removed with the host: then files that a crash
	// leaves, such as an empty .git/hooks, stay.
	State string
}

// CommandTime says how long a command may run.
type CommandTime struct {
	// Default is for a command that asks for no other time, and Max the longest that one may
	// ask for; 0 is 2 and 10 minutes.
	Default, Max time.Duration
	// Budget is how long a command may hold the conversation up before it moves to the
	// background; 0 is never.
	Budget time.Duration
	// AtLimit is what happens at the time limit; empty is [AtLimitBackground].
	AtLimit CommandAtLimit
}

// Confinement reports what this machine offers to confine commands with, for people.
func (s *Shell) Confinement(ctx context.Context, home string) SandboxReport {
	return commands.Examine(ctx, (&Options{Shell: s, Paths: PathOptions{Home: home}}).commands())
}

// commands are the options as the runner of commands takes them.
func (o *Options) commands() commands.Options {
	s := o.Shell
	if s == nil {
		s = &Shell{}
	}
	bridge, confine := insideCommands()
	return commands.Options{
		Supervisor: s.Supervisor,
		Mode:       cmp.Or(s.Sandbox.Mode, sandbox.WhenAvailable),
		Sandbox:    sandbox.Options{State: s.Sandbox.State, Home: o.Paths.Home, Program: s.bubblewrap, Bridge: bridge, Confine: confine, Limits: s.Limits},
		Shell: shell.Settings{
			Network: s.Sandbox.Network, UnixSockets: s.Sandbox.UnixSockets, Bash: s.Bash, PowerShell: s.PowerShell,
			Time: shell.Time(s.Time), MaxOutput: s.MaxOutput, Limits: s.Limits, Resolve: s.resolve, Dial: s.dial,
			SettingsFile: s.SettingsFile,
		},
		Environ: s.Environ, Environment: s.Environment, Hosts: s.Sandbox.Hosts, Writable: s.Sandbox.Writable,
		Layers: s.Sandbox.Caches, Project: o.Paths.Project,
		TrustedProjects: o.Paths.TrustedProjects, Logger: o.Observe.Logger,
	}
}
