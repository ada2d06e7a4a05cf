package shell

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/host/internal/sandbox"
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
	// Keepers start the commands. They are the caller's to close.
	Keepers *process.Keepers
	// Mode says when commands are confined, and Sandbox confines them; it is nil if there
	// is none, and Missing says why.
	Mode    sandbox.Mode
	Sandbox *sandbox.Sandbox
	Missing string
	// Logger takes what goes wrong beside the calls; nil discards it.
	Logger *slog.Logger
}

// Settings are what a user may choose about commands.
type Settings struct {
	// Network is what of the network confined commands reach.
	Network sandbox.Network
	// UnixSockets lets confined commands make Unix sockets.
	UnixSockets bool
	// Bash and PowerShell are the absolute paths of the shells' programs. Empty ones are
	// looked for in the directories that a system keeps its programs in.
	Bash, PowerShell string
	// Time says how long a command may run.
	Time Time
	// Limits bound what a command uses.
	Limits process.Limits
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

// complete replaces zero values by the defaults.
func (s *Settings) complete() {
	s.Time.Default = cmp.Or(s.Time.Default, 2*time.Minute)
	s.Time.Max = max(cmp.Or(s.Time.Max, 10*time.Minute), s.Time.Default)
	s.Time.AtLimit = cmp.Or(s.Time.AtLimit, LimitBackground)
	s.MaxOutput = cmp.Or(s.MaxOutput, 16<<30)
}
