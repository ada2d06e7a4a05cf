package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// MaxTrialTime is how long a command is tried before a person is asked about it.
const MaxTrialTime = 20 * time.Second

// trial runs a call's command before a person is asked about it: in a sandbox of its own, without a
// network, over throwaway overlays. Observers are not told. If it stands, its result is the call's,
// and its changes are made on the disk.
type trial struct {
	*storage.Trial
	world   *world
	subject *gate.Subject
	// ended is closed when its sandbox may go: no other command is in it.
	ended    chan struct{}
	closed   sync.Once
	result   abi.ToolResult
	modified []storage.Modified

	mu sync.Mutex
	// ran says that the command ran to its end; lacked why the trial is inconclusive.
	ran    bool
	lacked string
	// missed is what the command had not, which counts if it failed.
	missed string
	// events and remarks are told once it stands.
	events  []capability.GitEvent
	remarks []string
}

var (
	_ commands.Trial    = &trialSession{}
	_ commands.Session  = &trialSession{}
	_ commands.Audience = &trialSession{}
)

// tries reports whether a call may be tried: one of the built-in Bash, which does not go on in the
// background. In a session whose writes are staged, nothing that a command changes lasts anyway.
func (r *request) tries(s *Session) bool {
	_, runs := r.tool.Declares(abi.CapShellRun)
	return runs && tool.BuiltInFor(r.tool, abi.CapShellRun) && r.name() != PowerShell && !s.Stage && s.Host.Shell && !r.inBackground()
}

// try runs a call's command before a person is asked about it, and returns what is to be done when its
// question has ended. The subject then says what came of it, and shows what it would change.
func (g *world) try(ctx context.Context, s *gate.Subject) (done func(), err error) {
	all := g.session().Host.Rehearsals
	done = func() {
		all.Hide(len(s.Preview))
		s.Preview = ""
	}
	g.dropTrial()
	if !g.Tries(s) {
		return done, nil
	}
	t, err := g.newTrial(s)
	if err == nil {
		g.core.trial = t // also while it runs, so that it goes with a call that ends meanwhile
		err = t.run(ctx)
	}
	if err == nil {
		err = t.look(ctx, s)
	}
	if ctx.Err() != nil {
		g.dropTrial()
		return done, gate.Cancelled(ctx)
	}
	if err != nil {
		g.dropTrial()
		s.Tried = "It was tried in a throwaway sandbox without a network, and the trial is inconclusive: " + err.Error()
		return done, nil //nolint:nilerr // the person is asked as ever
	}
	if len(t.modified) == 0 {
		return done, &gate.Stood{Why: "it ran in a throwaway sandbox, and changed nothing"}
	}
	return done, nil
}

// newTrial makes what a trial needs.
func (g *world) newTrial(s *gate.Subject) (*trial, error) {
	kept, err := g.session().Storage.NewTrial(g.identity())
	if err != nil {
		return nil, err
	}
	return &trial{Trial: kept, world: g, subject: s, ended: make(chan struct{})}, nil
}

// run runs the command. The error says why the trial is inconclusive.
func (t *trial) run(ctx context.Context) error {
	all := t.world.session().Host.Rehearsals
	waiting, stop := context.WithTimeout(ctx, MaxTrialTime)
	defer stop()
	if !all.EnterTrial(waiting) {
		return errors.New("other commands are being tried")
	}
	defer all.LeaveTrial()
	limited, cancel := context.WithTimeoutCause(ctx, MaxTrialTime, fmt.Errorf("it takes longer than %v", MaxTrialTime))
	defer cancel()
	bounded, full := context.WithCancelCause(limited)
	var watch sync.WaitGroup
	watch.Go(func() { t.Bound(bounded, full) })
	result, err := t.world.tool.Call(bounded, tool.Invocation{Session: t.world.session().ID, Invocation: plugins.Invocation{
		ID: t.world.use.ID, Input: t.world.input.json, Cwd: t.world.view.Cwd, UserModified: t.world.userModified,
		Capability: t.do, Spill: t.world.session().Storage.Results().Spiller(),
	}})
	t.result = result
	cause := context.Cause(bounded)
	full(nil)
	watch.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case cause != nil:
		return cause
	case err != nil:
		return err
	case t.lacked != "":
		return errors.New(t.lacked)
	case !t.ran:
		return errors.New("the command did not run")
	}
	return t.Small(ctx)
}

// do takes the place of [world.do]: the command runs, once, and nothing else is done.
func (t *trial) do(ctx context.Context, req abi.Request) (abi.Answer, error) {
	GrowStack()
	g, c := t.world, t.world.core
	if !c.work.Enter() {
		return abi.Answer{}, errCallOver
	}
	defer c.work.Leave()
	claim, ok := c.tool.Declares(req.Name)
	native, known := g.session().Host.Capabilities[req.Name]
	if !ok || !known || req.Name != abi.CapShellRun || t.began() {
		return abi.Answer{}, t.lack("a trial cannot use %s", req.Name)
	}
	s := &trialSession{commandSession{g.session(), g.judging}, t}
	shell := newShellIn(g.judging, s, s)
	place := g.placed(shell)
	place.Tasks, place.History, place.Person, place.Report = nil, nil, nil, unheard
	plan, err := native.Plan(ctx, place, req)
	if err != nil {
		return abi.Answer{}, t.lack("%w", err)
	}
	defer plan.Close()
	p := &performing{g.judging, req.Name, claim, permissions.Scope{}, shell.Analyse}
	if err := t.fits(p, plan); err != nil {
		return abi.Answer{}, t.lack("%w", err)
	}
	answer, err := plan.Do(ctx, func(permissions.Access) bool { return false })
	if err != nil {
		return answer, t.lack("%w", err)
	}
	return answer, t.note(answer)
}

// fits refuses another command than the person would be asked about.
func (t *trial) fits(p *performing, plan capability.Plan) (err error) {
	accesses := plan.Accesses()
	if p.scope, err = t.world.scope(p.claim); err != nil {
		return err
	}
	for _, a := range accesses {
		if err := p.consistent(a); err != nil {
			return err
		}
		if !p.scope.Covers(a) {
			return p.outOfScope(a, accesses)
		}
	}
	if err := p.shellFits(plan, accesses); err != nil {
		return err
	}
	if !p.Tries(p.subject(p.operation, accesses, p.analyse)) {
		return errors.New("the rules changed meanwhile")
	}
	return nil
}

// note notes how the command ended.
func (t *trial) note(answer abi.Answer) error {
	ok, is := answer.OK.(abi.ShellOK)
	t.mu.Lock()
	defer t.mu.Unlock()
	if usesGit(t.subject.Commands) {
		t.missed = cmp.Or(t.missed, "a trial cannot change git's configuration")
	}
	switch {
	case !is:
		t.lacked = "it is not known how it ended"
	case ok.TimedOut:
		t.lacked = "it reached its time limit"
	case ok.Limit != "":
		t.lacked = ok.LimitText
	case ok.Task != "":
		t.lacked = "it goes on in the background, which a trial cannot"
	case ok.Exit != 0 && t.missed != "":
		t.lacked = "it failed, and " + t.missed
	}
	t.ran = true
	return nil
}

// began reports whether a command was run already, and notes that one is.
func (t *trial) began() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.ran
	t.ran = true
	return was
}

// lack notes why the trial is inconclusive, and refuses.
func (t *trial) lack(format string, args ...any) error {
	err := abi.Errorf(abi.CodeDenied, format, args...)
	t.Lacked(err.Error())
	return err
}

// Lacked is as [commands.Trial] has it. The first reason counts.
func (t *trial) Lacked(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lacked == "" {
		t.lacked = why
	}
}

// Missed is as [commands.Trial] has it. The first one counts.
func (t *trial) Missed(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.missed = cmp.Or(t.missed, what)
}

// usesGit reports whether some commands are git's.
func usesGit(list []permissions.Command) bool {
	return slices.ContainsFunc(list, func(c permissions.Command) bool {
		return slices.ContainsFunc(c.Parts, func(p permissions.Part) bool {
			return len(p.Words) > 0 && filepath.Base(p.Words[0].Text) == "git"
		})
	})
}

// look finds what the command changed, and shows it.
func (t *trial) look(ctx context.Context, s *gate.Subject) (err error) {
	if t.modified, err = t.Changes(ctx); err != nil {
		return err
	}
	s.Tried = "It was tried in a throwaway sandbox without a network, and changed nothing: a yes shows its output to the model"
	if len(t.modified) == 0 {
		return nil
	}
	if err := t.writable(); err != nil {
		return err
	}
	var shown forPeople
	if err := t.Patch(ctx, &shown, really(t.world.Policy().Cwd())); err != nil && !errors.Is(err, errEnough) {
		return err
	}
	s.Tried = fmt.Sprintf("It was tried in a throwaway sandbox without a network, and changed %s: a yes makes exactly these changes, and does not run it again", t.counted())
	if text := preview(string(shown.text)); t.world.session().Host.Rehearsals.Show(len(text)) {
		s.Preview = text
	} else {
		s.Tried += ". They are not shown: other open questions show too much already"
	}
	return nil
}

// maxNamed bounds how many files a question names that a trial changed.
const maxNamed = 10

// counted says how many files the command changed, and which.
func (t *trial) counted() string {
	text := "1 file"
	if n := len(t.modified); n != 1 {
		text = fmt.Sprintf("%d files", n)
	}
	var names []string
	dir := strings.TrimSuffix(really(t.world.Policy().Cwd()), "/") + "/"
	for i := range t.modified[:min(len(t.modified), maxNamed)] {
		names = append(names, visible.Short(strings.TrimPrefix(t.modified[i].Path, dir), maxTitle))
	}
	if more := len(t.modified) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return text + " (" + strings.Join(names, ", ") + ")"
}

// forPeople is written a patch to, of which it keeps no more than a preview shows, and nothing that only
// programs read. Once there is enough of it, Write fails with errEnough.
type forPeople struct {
	text, line []byte // line is the beginning of the one that is being written
	skips      bool
}

var errEnough = errors.New("no more of a patch is shown")

func (f *forPeople) Write(patch []byte) (int, error) {
	for line := range bytes.Lines(patch) {
		f.line = append(f.line, line[:min(len(line), enoughDiff-len(f.line))]...)
		if line[len(line)-1] == '\n' {
			f.end()
		}
		if len(f.text) >= enoughDiff {
			return 0, errEnough
		}
	}
	return len(patch), nil
}

// end takes a whole line.
func (f *forPeople) end() {
	line := f.line
	f.line = f.line[:0]
	if f.skips = f.skips && !bytes.HasPrefix(line, []byte("diff --git ")); f.skips {
		return
	}
	if f.skips = string(line) == "GIT binary patch\n"; f.skips {
		line = []byte("its content is binary, and is not shown\n")
	}
	f.text = append(f.text, line...)
}

// writable refuses changes that rules hold back or that are protected, which the sandbox kept the command
// from, and those that cannot be made on the disk.
func (t *trial) writable() error {
	held := t.world.Policy().SandboxPolicy(nil)
	for i := range t.modified {
		switch m := &t.modified[i]; {
		case m.Odd != "":
			return fmt.Errorf("it made %s, which is %s", visible.Line(m.Path), m.Odd)
		case held.Protects(m.Path), held.Hides(m.Path):
			return fmt.Errorf("it changed %s, which is protected", visible.Line(m.Path))
		}
	}
	return nil
}

// stand has the trial be what the call does: what it changed is done to the disk, all of it or nothing.
func (t *trial) stand(ctx context.Context) (abi.ToolResult, error) {
	text := "[contained] The command ran in a sandbox of its own, without a network, and changed nothing."
	if len(t.modified) > 0 {
		t.world.renew()
		err := t.writable()
		if err == nil {
			err = t.Apply(ctx)
		}
		if abi.CodeOf(err) == abi.CodeChanged {
			return abi.ToolResult{}, abi.Errorf(abi.CodeChanged, "nothing was changed: a person approved the command's changes, but other changes had been made by then; run it again: %w", err)
		}
		for i := range t.modified {
			t.world.done.add([]permissions.Access{{Kind: permissions.AccessWrite, Target: t.modified[i].Path, Real: t.modified[i].Path}})
		}
		if err != nil {
			return abi.ToolResult{}, fmt.Errorf("the approved changes of the command were made only in part, or not at all: %w", err)
		}
		text = fmt.Sprintf("[contained] The command ran in a sandbox of its own, without a network. A person approved its changes to %s, which were then made on the disk.", t.counted())
	}
	t.Keep()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.events {
		t.world.tell.GitEvent(e)
	}
	for _, r := range append(t.remarks, text) {
		t.world.remark(r)
	}
	return t.result, nil
}

// drop gives the trial up, or what is left of it. Nil is none. It is safe to repeat.
func (t *trial) drop() {
	if t == nil {
		return
	}
	t.closed.Do(func() {
		close(t.ended)
		if err := t.Close(); err != nil {
			t.world.Logger().Warn("the files of a command's trial could not be removed", "error", err)
		}
	})
}

// dropTrial gives the call's trial up, with what was spilled of its result.
func (c *core) dropTrial() {
	if t := c.trial; t != nil {
		c.trial = nil
		c.letGo(t.result.Content)
		t.drop()
	}
}

// trialSession is what package commands sees of a session during a trial.
type trialSession struct {
	commandSession
	*trial
}

// Outputs is the directory for the output of the command.
func (s *trialSession) Outputs() (string, error) { return s.OutputDir(), nil }

// Ended is closed when the trial is over.
func (s *trialSession) Ended() <-chan struct{} { return s.ended }

// Staging is what keeps its changes from the disk.
func (s *trialSession) Staging() commands.Staging { return s }

// Backgrounds reports that nothing goes on in the background.
func (*trialSession) Backgrounds() bool { return false }

// Reachable does nothing: nobody reaches the command.
func (*trialSession) Reachable(func(ctx context.Context, port int) (net.Conn, error)) {}

// Begin is as [commands.Staging] has it.
func (s *trialSession) Begin(roots []string) ([]commands.Layer, func(), error) {
	return s.staging().Begin(roots)
}

func (s *trialSession) staging() staging {
	return staging{s.Trial.Staging, s.Rules, s.gate.identity()}
}

// Mounted is as [commands.Staging] has it: tools write nothing meanwhile.
func (*trialSession) Mounted(commands.Layer, func() (*os.File, error)) error { return nil }

// Shows is as [commands.Staging] has it: the session goes on with the disk.
func (*trialSession) Shows(paths.View) {}

// Scan is as [commands.Staging] has it.
func (s *trialSession) Scan(ctx context.Context, began time.Time) error {
	err := s.staging().Scan(ctx, began)
	if err != nil {
		s.Lacked("its changes could not be determined: " + err.Error())
	}
	return err
}

// Scrap is as [commands.Trial] has it.
func (s *trialSession) Scrap(dir string) (commands.Layer, error) {
	l, err := s.Trial.Scrap(dir)
	return commands.Layer(l), err
}

// Hides is as [commands.Trial] has it.
func (s *trialSession) Hides(ctx context.Context, dir string) bool {
	policy := s.gate.Policy()
	if !policy.WithholdsReads() {
		return false
	}
	top := strings.TrimSuffix(dir, "/.git")
	if top == dir {
		return true
	}
	a := permissions.Access{Kind: permissions.AccessRead, Target: top, Real: top, Former: top, Tree: true}
	return !s.Host.Past.Clear(ctx, policy, a, true, s.Walked.Disk())
}

// Offers reports whether the model may call a tool.
func (s *trialSession) Offers(name string) bool { return commandCall{s.gate}.Offers(name) }

// Remark tells the model something, once the trial stands.
func (s *trialSession) Remark(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.remarks, text) {
		s.remarks = append(s.remarks, text)
	}
}

// Tell tells of an effect of the command, once the trial stands.
func (s *trialSession) Tell(d capability.GitEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, d)
}
