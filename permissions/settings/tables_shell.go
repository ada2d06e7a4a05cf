package settings

import (
	"cmp"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// What is so where no settings say otherwise. Projects are held against it.
const (
	DefaultShellTimeout    = 2 * time.Minute
	DefaultMaxShellTimeout = 10 * time.Minute
	DefaultMaxBackground   = 32
	DefaultMaxOutput       = abi.Size(64 << 30)
	DefaultMaxProcesses    = 1024
	DefaultMaxMemory       = abi.Size(16 << 30)
	DefaultMaxOpenFiles    = 1 << 16
)

// The least and most that the bounds of commands may be set to.
const (
	maxShellTimeout          = 24 * time.Hour
	maxBackground            = 10_000
	minOutput, maxOutput     = 1 << 10, 1 << 50
	minMemory, maxMemory     = 16 << 20, 1 << 50
	minProcesses             = 8
	minOpenFiles, maxOpenMax = 64, 1 << 20 // with fewer the supervisor of a command cannot start it
)

// What becomes of a command at its time limit.
const (
	// AtLimitBackground lets it go on as a task of the background.
	AtLimitBackground = "background"
	AtLimitKill       = "kill"
)

// Whether commands run in a sandbox.
const (
	SandboxOff = "off"
	// SandboxWhenAvailable warns where there is none.
	SandboxWhenAvailable = "when-available"
	// SandboxRequired refuses commands where there is none.
	SandboxRequired = "required"
)

// What of the network commands in a sandbox reach.
const (
	// NetworkOff is nothing but what a person allows a call.
	NetworkOff = "off"
	// NetworkHosts is what rules on WebFetch, and hosts, allow. It is usual: without such a
	// rule it is nothing.
	NetworkHosts = "hosts"
	// NetworkAll is all: what a command read, it can send to anyone.
	NetworkAll = "all"

	// DefaultNetwork is what counts where no settings say otherwise.
	DefaultNetwork = NetworkHosts
)

// unaskedValues are the values of sandbox.unasked, the strictest first.
var unaskedValues = []string{string(permissions.UnaskedNever), string(permissions.UnaskedEdits), string(permissions.UnaskedAlways)}

// Shell is the table [shell]: how commands run.
type Shell struct {
	// DefaultTimeout is a command's time where its call says none, and MaxTimeout
	// the most it may say; where that is less, it bounds the default too.
	DefaultTimeout, MaxTimeout Key[time.Duration]
	// Budget is after how long a command goes on in the background, before its
	// time is over. Not set is not at all.
	Budget Key[time.Duration]
	// AtLimit is one of the AtLimit constants.
	AtLimit Key[string]
	// Environment names variables that commands get beside the usual ones, such as
	// GOPATH, or NVM_* for all that begin so.
	Environment Key[[]string]
	// MaxBackground bounds a session's tasks in the background, of which 0 allows none,
	// and MaxOutput what is kept of the output of one command.
	MaxBackground Key[int]
	MaxOutput     Key[abi.Size]
	// Bash and PowerShell are the programs: names to be looked for, or absolute.
	Bash, PowerShell Key[string]
}

// Sandbox is the table [sandbox]: what commands are kept from.
type Sandbox struct {
	// Mode is one of the Sandbox constants, and Network of the Network constants.
	Mode, Network Key[string]
	// Hosts may be reached with NetworkHosts, such as example.com, or
	// *.example.com for all below it.
	Hosts Key[[]string]
	// Writable are directories that commands may write to beside the working
	// ones. They are absolute, or begin with ~/ in a [File]. They are made where they are
	// missing, and hold for caches, too: see host.SandboxOptions.Caches.
	Writable Key[[]string]
	// Outside are patterns of commands, as in a rule Bash(...), that may leave the sandbox
	// where a call asks for it. Those of all files count.
	Outside Key[[]string]
	// Unasked says in which modes commands that are wholly confined need no permission: one
	// of the values of [permissions.Unasked].
	Unasked Key[string]
	// Contained says whether commands that the mode asks about are tried before a person is
	// asked: one of the values of [permissions.Contained].
	Contained Key[string]
	// These bound a command with all that it starts; MaxOpenFiles each process.
	MaxProcesses Key[int]
	MaxMemory    Key[abi.Size]
	MaxOpenFiles Key[int]
}

// shellNeverProjects are the keys of [shell] and [sandbox] that a project has no say
// in: they name what runs, what it is told and what it reaches.
var shellNeverProjects = []string{
	"shell.budget", "shell.environment", "shell.bash", "shell.powershell", "sandbox.hosts", "sandbox.writable",
	"sandbox.outside",
}

func (s *Shell) fill(f *Shell) {
	s.DefaultTimeout, s.MaxTimeout = s.DefaultTimeout.Or(f.DefaultTimeout), s.MaxTimeout.Or(f.MaxTimeout)
	s.Budget, s.AtLimit = s.Budget.Or(f.Budget), s.AtLimit.Or(f.AtLimit)
	s.Environment = s.Environment.Or(f.Environment)
	s.MaxBackground, s.MaxOutput = s.MaxBackground.Or(f.MaxBackground), s.MaxOutput.Or(f.MaxOutput)
	s.Bash, s.PowerShell = s.Bash.Or(f.Bash), s.PowerShell.Or(f.PowerShell)
}

// fill takes all but the writable directories, which are looked up first.
func (s *Sandbox) fill(f *Sandbox) {
	s.Mode, s.Network, s.Hosts = s.Mode.Or(f.Mode), s.Network.Or(f.Network), s.Hosts.Or(f.Hosts)
	s.Unasked, s.Contained = s.Unasked.Or(f.Unasked), s.Contained.Or(f.Contained)
	s.MaxProcesses, s.MaxMemory = s.MaxProcesses.Or(f.MaxProcesses), s.MaxMemory.Or(f.MaxMemory)
	s.MaxOpenFiles = s.MaxOpenFiles.Or(f.MaxOpenFiles)
	all := slices.Concat(s.Outside.Value, f.Outside.Value)
	s.Outside = s.Outside.Or(f.Outside)
	s.Outside.Value = all
}

// tightenShell puts what a project says of commands on top of what counts without it,
// where that is stricter. It needs no trust for that, and gets no further with it.
func tightenShell(l *loader, f *File) {
	shell, sandbox := &l.out.Shell, &l.out.Sandbox
	tighten(l, "shell.default_timeout", &shell.DefaultTimeout, f.Shell.DefaultTimeout, DefaultShellTimeout, cmp.Compare)
	tighten(l, "shell.max_timeout", &shell.MaxTimeout, f.Shell.MaxTimeout, DefaultMaxShellTimeout, cmp.Compare)
	tighten(l, "shell.at_limit", &shell.AtLimit, f.Shell.AtLimit, AtLimitBackground, byPlace(AtLimitKill, AtLimitBackground))
	tighten(l, "shell.max_background", &shell.MaxBackground, f.Shell.MaxBackground, DefaultMaxBackground, cmp.Compare)
	tighten(l, "shell.max_output", &shell.MaxOutput, f.Shell.MaxOutput, DefaultMaxOutput, cmp.Compare)
	tighten(l, "sandbox.mode", &sandbox.Mode, f.Sandbox.Mode, SandboxWhenAvailable,
		byPlace(SandboxRequired, SandboxWhenAvailable, SandboxOff))
	tighten(l, "sandbox.network", &sandbox.Network, f.Sandbox.Network, DefaultNetwork, byPlace(NetworkOff, NetworkHosts, NetworkAll))
	tighten(l, "sandbox.unasked", &sandbox.Unasked, f.Sandbox.Unasked, string(permissions.UnaskedEdits), byPlace(unaskedValues...))
	tighten(l, "sandbox.contained", &sandbox.Contained, f.Sandbox.Contained, string(permissions.ContainedOff), byPlace(permissions.ContainedValues()...))
	tighten(l, "sandbox.max_processes", &sandbox.MaxProcesses, f.Sandbox.MaxProcesses, DefaultMaxProcesses, cmp.Compare)
	tighten(l, "sandbox.max_memory", &sandbox.MaxMemory, f.Sandbox.MaxMemory, DefaultMaxMemory, cmp.Compare)
	tighten(l, "sandbox.max_open_files", &sandbox.MaxOpenFiles, f.Sandbox.MaxOpenFiles, DefaultMaxOpenFiles, cmp.Compare)
}

// tighten takes a project's setting where it is stricter than what counts, which is
// as usual if it was not made. The stricter of two compares as less.
func tighten[T any](l *loader, key string, counts *Key[T], project Key[T], usual T, compare func(a, b T) int) {
	if !project.Set {
		return
	}
	if counts.Set {
		usual = counts.Value
	}
	switch c := compare(project.Value, usual); {
	case c < 0:
		*counts = project
	case c > 0:
		l.warn(project.Source, "the setting %s = %v left out: a project may only tighten it, and it is %v",
			key, project.Value, usual)
	}
}

// byPlace compares words by their places among some, the strictest first.
func byPlace(words ...string) func(a, b string) int {
	return func(a, b string) int { return cmp.Compare(slices.Index(words, a), slices.Index(words, b)) }
}
