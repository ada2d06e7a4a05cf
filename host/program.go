package host

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/permissions"
)

// Program is a program that lives longer than a call, such as a server that tools ask. It is
// confined as commands are, with allowances of its own: it sees what programs need of the
// machine, itself, and what it was allowed.
type Program struct {
	// Name is for logs, and tells its caches from those of others.
	Name string
	// Command is the program, by its path or its name, and its arguments. A path that is not
	// absolute begins in Dir. Of a script, and of one that an interpreter is to run, it sees the
	// package that the script lies in, unless that is the whole project.
	Command []string
	// Env are variables, NAME=value, beyond the usual ones of commands.
	Env []string
	// Dir is where it starts, absolute. Where it is empty, or is not to be seen by the program,
	// that is the program's own directory for temporary files.
	Dir string
	// Read are the files and directories that it may read, and Write those that it may also
	// write, absolute. A directory of Write that is missing is made. Deny rules of the settings
	// count first, and what is protected stays so. A path that is named here is seen though
	// it holds credentials, or an ask rule names it.
	Read, Write []string
	// Hosts are those that it may reach: names, or *.NAME for all below one; none is no network.
	// Deny rules of the settings count first. A host of this machine or a private network may be
	// named.
	Hosts []string
}

// RunningProgram is a [Program] that was started. Its methods are safe for concurrent use.
type RunningProgram struct {
	// Stdin is what it reads, and Stdout and Stderr, which must be read, what it writes.
	Stdin          io.WriteCloser
	Stdout, Stderr io.Reader

	running *shell.Running
}

// ProgramStatus is how a program ended.
type ProgramStatus struct {
	// Code is its exit status; 128 and the signal's number where Signal, which is 0 otherwise,
	// ended it.
	Code   int
	Signal syscall.Signal
	// Why says what ended it, where that was the host: a limit, or a sandbox that did not hold.
	// It is empty otherwise.
	Why string
	// Err says that its end is not known, or that something of it may be left.
	Err error
}

// String is the status for people, such as "it ended with exit status 1".
func (s ProgramStatus) String() string {
	switch {
	case s.Err != nil:
		return "how it ended is not known: " + s.Err.Error()
	case s.Why != "":
		return "it was ended: " + s.Why
	case s.Signal != 0:
		return "it was ended by the signal " + s.Signal.String()
	}
	return fmt.Sprintf("it ended with exit status %d", s.Code)
}

// StartProgram starts a program. The context bounds the start alone; the program ends by itself,
// by [RunningProgram.Stop], or with the host, however that ends. Its limits are those of commands,
// without that of processor time.
//
// It fails with [abi.CodeUnsupported] where the host runs no commands, [abi.CodeNotFound] where
// there is no such program, [abi.CodeDenied] where a sandbox is required and missing, or it is
// allowed to write to what is protected, and [abi.CodeInvalidInput] where a path is not absolute
// or a host not to be understood. Where a sandbox is missing and not required, it runs without,
// and reaches all that this user does.
func (h *Host) StartProgram(ctx context.Context, p Program) (*RunningProgram, error) {
	if h.options.Shell == nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "the host runs no programs: its options have no Shell")
	}
	hosts, err := h.reaching(&p)
	if err != nil {
		return nil, err
	}
	by, err := h.programRules(&p)
	if err != nil {
		return nil, err
	}
	running, err := h.engines.commands.Start(ctx, &commands.Program{
		Name: p.Name, Command: p.Command, Env: p.Env, Dir: p.Dir, Read: p.Read, Write: p.Write, Policies: by, Hosts: hosts,
	})
	if err != nil {
		h.forgetRules(by)
		return nil, err
	}
	go func() {
		<-running.Done()
		h.forgetRules(by)
	}()
	return &RunningProgram{Stdin: running.Stdin, Stdout: running.Stdout, Stderr: running.Stderr, running: running}, nil
}

// programPolicy is what a program is held to by the settings, as they change.
type programPolicy struct{ state *rules.State }

// Policy is the policy now.
func (p *programPolicy) Policy() *permissions.Policy { return p.state.Fresh().Policy }

// programSetup has the places that the rules for a program are about.
func (h *Host) programSetup(p *Program) (permissions.Setup, error) {
	at := cmp.Or(h.options.Paths.Project, p.Dir, h.options.Paths.Home, string(filepath.Separator))
	setup, err := (&SessionOptions{Cwd: at}).places(&h.options).Setup()
	if err != nil {
		return setup, abi.Errorf(abi.CodeNotFound, "the program %s: %w", p.Name, err)
	}
	return setup, nil
}

// programRules are the settings for a program, which it goes by until they are forgotten.
func (h *Host) programRules(p *Program) (*programPolicy, error) {
	setup, err := h.programSetup(p)
	if err != nil {
		return nil, err
	}
	c := &rules.Compiler{Setup: setup, Mode: permissions.ModeDefault, Logger: h.options.Observe.Logger}
	set := h.plugins.Newest()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, fmt.Errorf("starting a program: %w", ErrClosed)
	}
	state, err := rules.New(c, h.settings, set)
	if err != nil {
		return nil, err
	}
	by := &programPolicy{state}
	h.programs[by] = struct{}{}
	return by, nil
}

func (h *Host) forgetRules(by *programPolicy) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.programs, by)
}

// reaching is the policy that allows a program its hosts, and nothing else.
func (h *Host) reaching(p *Program) (*permissions.Policy, error) {
	setup, err := h.programSetup(p)
	if err != nil {
		return nil, err
	}
	set := permissions.RuleSet{Source: permissions.SourceSession}
	for _, host := range p.Hosts {
		set.Allow = append(set.Allow, permissions.RuleTexts("WebFetch(domain:"+host+")")...)
	}
	setup.Rules = []permissions.RuleSet{set}
	policy, warnings, err := permissions.Compile(setup)
	if err == nil && len(warnings) > 0 {
		err = fmt.Errorf("%s", warnings[0].String())
	}
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, "what the program %s may reach: %w", p.Name, err)
	}
	return policy, nil
}

// Pid is the number of its first process, for people and logs.
func (p *RunningProgram) Pid() int { return p.running.Pid() }

// Done is closed when nothing of the program is left.
func (p *RunningProgram) Done() <-chan struct{} { return p.running.Done() }

// Status is how it ended, once Done is closed.
func (p *RunningProgram) Status() ProgramStatus {
	end := p.running.End()
	return ProgramStatus{Code: end.Code, Signal: end.Signal, Why: end.Why, Err: end.Err}
}

// Stop closes Stdin, by which servers know that they are to end. What is left of the program after
// grace gets SIGTERM, and after as long again SIGKILL. It does not wait for the end, and said
// again it can shorten the time.
func (p *RunningProgram) Stop(grace time.Duration) { p.running.Stop(grace) }

// Refused are the hosts that the program asked for and was kept from until now, the first five. It
// is known in a sandbox only.
func (p *RunningProgram) Refused() []string { return p.running.Refused() }
