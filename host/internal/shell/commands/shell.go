package commands

import (
	"cmp"
	"context"
	"net"
	"os"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/shell/caches"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// Shell is what capabilities know of a session's commands, during one capability call. It
// analyses each command once, at one place: the same analysis is planned by and judged by.
type Shell struct {
	runner *Runner
	call   Call
	at     func() shell.Place

	mu       sync.Mutex
	analysed map[string]permissions.Command
}

var _ capability.Shell = (*Shell)(nil)

// NewShell returns the shell for a capability call.
func NewShell(r *Runner, c Call) *Shell {
	return &Shell{runner: r, call: c, at: sync.OnceValue(c.Analyser.Place), analysed: make(map[string]permissions.Command)}
}

// Analyse finds out what a command would do.
func (s *Shell) Analyse(text string) permissions.Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	command, known := s.analysed[text]
	if !known {
		command = s.call.Analyser.Analyse(text, s.at())
		s.analysed[text] = command
	}
	return command
}

// Cwd is where a command begins: the session's directory with its links resolved, as it was
// judged. A shell that starts in a link would step out of the link by "..".
func (s *Shell) Cwd() string { return s.at().Cwd }

// Backgrounds reports whether commands may move to the background.
func (s *Shell) Backgrounds() bool { return s.call.Session.Backgrounds() }

// Environment is what commands run with; see [capability.Shell].
func (s *Shell) Environment(looks bool) []string { return s.runner.Environment(looks) }

// Offers reports whether the model may call a tool.
func (s *Shell) Offers(tool string) bool { return s.call.Audience.Offers(tool) }

// RunsOutside reports whether the settings let a command leave the sandbox.
func (s *Shell) RunsOutside(command *permissions.Command) bool {
	return s.call.Gate.Policy().RunsOutside(s.call.Tool, command)
}

// OnlyReads reports whether a command is taken for one that only reads, as it runs wholly
// confined.
func (s *Shell) OnlyReads(command *permissions.Command) bool {
	return s.call.Gate.Policy().OnlyReads(command)
}

// Tell tells the session's followers about an effect of a command.
func (s *Shell) Tell(d capability.GitEvent) { s.call.Audience.Tell(d) }

// Spool creates a file for a command's output.
func (s *Shell) Spool(call capability.Call) (*os.File, error) {
	dir, err := s.call.Session.Outputs()
	if err != nil {
		return nil, err
	}
	return os.CreateTemp(dir, sessiondir.Safe(call.ID, 40)+"-*.out") // a new file, with mode 0600
}

// SandboxPolicy returns what a command is held to; see [capability.Shell].
func (s *Shell) SandboxPolicy(ctx context.Context, confined, writes bool) (capability.SandboxPolicy, error) {
	temp, err := s.call.Session.Temp()
	if err != nil {
		return capability.SandboxPolicy{}, abi.Errorf(abi.CodeIO, "a directory for the temporary files of commands: %w", err)
	}
	policy := s.call.Gate.Policy()
	working := policy.WorkingDirs()
	writable := s.runner.writable(working)
	made := capability.SandboxPolicy{Working: slices.Concat(working, writable), Temp: temp, Ended: s.call.Session.Ended()}
	made.Lasting = lasting(s.runner, s.call.Session)
	staging := s.call.Session.Staging()
	switch {
	case confined:
	case staging != nil:
		return made, abi.Errorf(abi.CodeDenied, "this session stages its changes, and a command outside the sandbox would change the disk itself; run it in the sandbox, or apply or discard what is staged (toolquay stage) and go on without --stage")
	default:
		return made, nil
	}
	if writes {
		if err := s.runner.openWritable(writable); err != nil {
			return capability.SandboxPolicy{}, err
		}
		s.addLayer(policy, &made)
	}
	made.Repositories = repositories(&made, s.call.Memory.Lookups().Follow)
	live := s.runner.copies()
	if _, tried := staging.(Trial); tried {
		live = nil // a trial's changes of the copies would last
	}
	complete := func() error {
		return sandboxPolicy(ctx, &s.runner.options, &s.call, policy, &made, writes && s.runner.protects(), live)
	}
	if staging != nil {
		return made, s.stage(ctx, staging, &made, writes, complete)
	}
	return made, complete()
}

// lasting has others of this user reach the network of a session's commands.
func lasting(r *Runner, s Session) func() {
	return func() {
		ended := s.Ended()
		s.Reachable(func(ctx context.Context, port int) (net.Conn, error) { return r.Dial(ctx, ended, port) })
	}
}

// addLayer gives a command the caches of its project. Where that fails, it has the user's to
// read.
func (s *Shell) addLayer(policy *permissions.Policy, p *capability.SandboxPolicy) {
	o := &s.runner.options
	if o.Layers == "" {
		return
	}
	project := policy.WorkingDirs()[0]
	if root := paths.Real(o.Project); o.Project != "" && root != "" && paths.Below(project, root) {
		project = root
	}
	layer, err := caches.Options{Root: o.Layers, Home: o.Sandbox.Home, Environ: o.Environ}.Open(caches.Request{
		Project: project, Open: new(paths.Lookups).All(p.Working), Environment: s.Environment(false),
		Offline: cmp.Or(o.Shell.Network, sandbox.NetworkOff) == sandbox.NetworkOff,
	})
	if err != nil {
		o.Logger.Warn("commands cannot fill caches", "directory", o.Layers, "error", err)
		return
	}
	p.Layer, p.Environment = layer.Dir, layer.Environment
}
