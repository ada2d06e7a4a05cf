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

// MaxTrialTime bounds a trial, and also the wait for its slot.
const MaxTrialTime = 20 * time.Second

// trial runs a call's command before a person is asked about it: in a sandbox of its own, without a
// network, over throwaway overlays. Observers are told nothing of it until it stands. If it stands,
// its result is the call's, and its changes are made on the disk.
type trial struct {
	*storage.Trial
	world   *world
	subject *gate.Subject
	// ended is closed when the trial is dropped, so that its sandbox can be removed.
	ended    chan struct{}
	closed   sync.Once
	result   abi.ToolResult
	modified []storage.Modified

	mu sync.Mutex
	// ran says that the command was started; lacked says why the trial is inconclusive.
	ran    bool
	lacked string
	// missed says what the command did not have. It counts only if the command failed.
	missed string
	// events and remarks are passed on if the trial stands.
	events  []capability.GitEvent
	remarks []string
}

var (
	_ commands.Trial    = &trialSession{}
	_ commands.Session  = &trialSession{}
	_ commands.Audience = &trialSession{}
)

// tries reports whether a call may be tried: a call of the built-in Bash that does not run in the
// background. Sessions whose writes are staged need no trials: what their commands change does not
// reach the disk.
func (r *request) tries(s *Session) bool {
	_, runs := r.tool.Declares(abi.CapShellRun)
	return runs && tool.BuiltInFor(r.tool, abi.CapShellRun) && r.name() != PowerShell && !s.Stage && s.Host.Shell && !r.inBackground()
}

// try runs a call's command before a person is asked about it. It sets Tried and Preview of the subject,
// and fails with [gate.Stood] if the command changed nothing. done is called when the question has ended.
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
		g.core.trial = t // also while it runs, so that it is dropped if the call ends meanwhile
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
		return done, nil //nolint:nilerr // the person is asked as usual
	}
	if len(t.modified) == 0 {
		return done, &gate.Stood{Why: "it ran in a throwaway sandbox, and changed nothing"}
	}
	return done, nil
}

// newTrial makes a trial with its directories and its stage.
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

// do takes the place of [world.do]: it runs the command, once, and refuses everything else.
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

// fits refuses a command that differs from the one that the person would be asked about.
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

// note records how the command ended.
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

// began reports whether a command was started before, and records that one is started.
func (t *trial) began() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.ran
	t.ran = true
	return was
}

// lack records why the trial is inconclusive, and returns that as an error.
func (t *trial) lack(format string, args ...any) error {
	err := abi.Errorf(abi.CodeDenied, format, args...)
	t.Lacked(err.Error())
	return err
}

// Lacked implements [commands.Trial]. The first reason counts.
func (t *trial) Lacked(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lacked == "" {
		t.lacked = why
	}
}

// Missed implements [commands.Trial]. The first reason counts.
func (t *trial) Missed(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.missed = cmp.Or(t.missed, what)
}

// usesGit reports whether one of the commands runs git.
func usesGit(list []permissions.Command) bool {
	return slices.ContainsFunc(list, func(c permissions.Command) bool {
		return slices.ContainsFunc(c.Parts, func(p permissions.Part) bool {
			return len(p.Words) > 0 && filepath.Base(p.Words[0].Text) == "git"
		})
	})
}

// look finds what the command changed, and sets Tried and Preview of the subject. The error says why
// the trial is inconclusive.
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

// maxNamed bounds how many of the files that a trial changed are named in the question.
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

// forPeople is a writer for patches. It keeps what a preview shows of a patch, without binary content.
// When it has enough, Write fails with errEnough.
type forPeople struct {
	text, line []byte // line is the beginning of a line that is not complete yet
	skips      bool   // within binary content
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

// end takes the line, which is complete.
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

// writable returns an error if the command changed a path that is hidden or protected by the rules as
// they are now, although the sandbox prevents that, or made a file that cannot be applied.
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

// stand returns the trial's result as the call's, after making its changes on the disk.
func (t *trial) stand(ctx context.Context) (abi.ToolResult, error) {
	text := "[contained] The command ran in a sandbox of its own, without a network, and changed nothing."
	if len(t.modified) > 0 {
		if err := t.apply(ctx); err != nil {
			return abi.ToolResult{}, err
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

// apply makes the changes on the disk. If something else changed the same files meanwhile, it fails with
// [abi.CodeChanged]. The error says whether some changes were made.
func (t *trial) apply(ctx context.Context) error {
	t.world.renew()
	if err := t.writable(); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	changed, err := t.Apply(ctx)
	for _, path := range changed {
		t.world.done.add([]permissions.Access{{Kind: permissions.AccessWrite, Target: path, Real: path}})
	}
	switch {
	case err == nil:
		return nil
	case len(changed) > 0:
		return fmt.Errorf("a person approved the command's changes to %s, but only %d were made: %w", t.counted(), len(changed), err)
	case abi.CodeOf(err) == abi.CodeChanged:
		return fmt.Errorf("nothing was changed: a person approved the command's changes, but other changes had been made by then; run it again: %w", err)
	}
	return fmt.Errorf("the command's approved changes could not be made: %w", err)
}

// drop ends the trial and removes its files. The receiver may be nil. It is safe to repeat.
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

// dropTrial drops the call's trial, and what was spilled of its result.
func (c *core) dropTrial() {
	if t := c.trial; t != nil {
		c.trial = nil
		c.letGo(t.result.Content)
		t.drop()
	}
}

// trialSession is the session that package commands sees during a trial.
type trialSession struct {
	commandSession
	*trial
}

// Outputs is the directory for the output of the command.
func (s *trialSession) Outputs() (string, error) { return s.OutputDir(), nil }

// Ended is closed when the trial is dropped.
func (s *trialSession) Ended() <-chan struct{} { return s.ended }

// Staging keeps the changes of the command off the disk.
func (s *trialSession) Staging() commands.Staging { return s }

// Backgrounds reports that the command cannot move to the background.
func (*trialSession) Backgrounds() bool { return false }

// Reachable does nothing: nobody can connect to the command.
func (*trialSession) Reachable(func(ctx context.Context, port int) (net.Conn, error)) {}

// Begin implements [commands.Staging].
func (s *trialSession) Begin(roots []string) ([]commands.Layer, func(), error) {
	return s.staging().Begin(roots)
}

func (s *trialSession) staging() staging {
	return staging{s.Trial.Staging, s.Rules, s.gate.identity()}
}

// Mounted implements [commands.Staging]. It does nothing, because tools do not write to the stage of a
// trial.
func (*trialSession) Mounted(commands.Layer, func() (*os.File, error)) error { return nil }

// Shows implements [commands.Staging]. It does nothing: the session still sees the disk.
func (*trialSession) Shows(paths.View) {}

// Scan implements [commands.Staging].
func (s *trialSession) Scan(ctx context.Context, began time.Time) error {
	err := s.staging().Scan(ctx, began)
	if err != nil {
		s.Lacked("its changes could not be determined: " + err.Error())
	}
	return err
}

// Scrap implements [commands.Trial].
func (s *trialSession) Scrap(dir string) (commands.Layer, error) {
	l, err := s.Trial.Scrap(dir)
	return commands.Layer(l), err
}

// Hides implements [commands.Trial].
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

// Remark keeps a remark for the model, for when the trial stands. Repeated remarks are kept once.
func (s *trialSession) Remark(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.remarks, text) {
		s.remarks = append(s.remarks, text)
	}
}

// Tell keeps an effect of the command, to report it when the trial stands.
func (s *trialSession) Tell(d capability.GitEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, d)
}
