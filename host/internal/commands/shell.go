package commands

import (
	"context"
	"os"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
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
	made := capability.SandboxPolicy{Working: slices.Concat(policy.WorkingDirs(), s.runner.options.Writable), Temp: temp}
	if confined {
		err = sandboxPolicy(ctx, &s.runner.options, &s.call, policy, &made, writes, s.runner.copies())
	}
	return made, err
}
