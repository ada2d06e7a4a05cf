package pipeline

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
)

// performing is one capability call, whose plan is judged and done.
type performing struct {
	*judging
	operation string
	claim     abi.CapabilityClaim
	scope     permissions.Scope
	// analyse finds out what a command would do, once each.
	analyse analysis
}

// carryOut judges a plan and does it.
func (p *performing) carryOut(ctx context.Context, plan capability.Plan) (abi.Answer, error) {
	accesses := plan.Accesses()
	for _, a := range accesses {
		held := a
		held.Tree = a.Tree && p.operation != abi.CapFSList // which goes into no directory
		if err := p.consistent(held); err != nil {
			return abi.Answer{}, err
		}
		if err := p.stageable(a); err != nil {
			return abi.Answer{}, err
		}
		if !p.scope.Covers(a) {
			return abi.Answer{}, p.outOfScope(a, accesses)
		}
		if err := p.attachable(a); err != nil {
			return abi.Answer{}, err
		}
	}
	if err := p.shellFits(plan, accesses); err != nil {
		return abi.Answer{}, err
	}
	s := p.subject(p.operation, accesses, p.analyse)
	if described, ok := plan.(capability.Described); ok {
		s.Preview = described.Describe()
	}
	if err := p.Permit(ctx, s); err != nil {
		return abi.Answer{}, err
	}
	if ctx.Err() != nil {
		return abi.Answer{}, gate.Cancelled(ctx)
	}
	if walker, ok := plan.(capability.Walker); ok {
		walker.Through(p.permittedDir)
	}
	answer, err := plan.Do(ctx, p.passes)
	if again, ok := plan.(capability.Retrier); ok && err == nil {
		answer, err = p.retried(ctx, again, s, answer)
	}
	if err == nil || ctx.Err() != nil { // what was ended may have done a part
		p.done.add(accesses)
	}
	if read, ok := answer.OK.(abi.ReadOK); ok {
		p.session().Files.Note(read.Path, &read)
	}
	return answer, err
}

// attachable refuses to tell the person with files that the tool may not read by its manifest.
func (p *performing) attachable(a permissions.Access) error {
	if p.operation != abi.CapSessionMessage || a.Kind != permissions.AccessRead {
		return nil
	}
	claim, ok := p.tool.Declares(abi.CapFSRead)
	if !ok {
		return abi.Errorf(abi.CodeUndeclared, "%s may not attach files: its manifest does not give it %s", p.tool.Contract().Name, abi.CapFSRead)
	}
	scope, err := p.Policy().Scope(claim.Scope)
	if err != nil || !scope.Covers(a) {
		return abi.Errorf(abi.CodeUndeclared, "%s is outside the scope %q that the manifest of %s gives %s", a.Target, claim.Scope, p.tool.Contract().Name, abi.CapFSRead)
	}
	return nil
}

// passes judges one more access of the running plan.
func (p *performing) passes(a permissions.Access) bool {
	// A list holds the names of a directory, and nothing of what they name.
	consistent := p.operation == abi.CapFSList || p.consistent(a) == nil
	return consistent && p.stageable(a) == nil && p.scope.Covers(a) && p.permitted(a)
}

// outOfScope refuses an access for the scope it leaves, unless a rule denies it
// anyway: a directory is in every scope until it is searched, so the two
// refusals together would tell what lies behind a denied path.
func (p *performing) outOfScope(a permissions.Access, all []permissions.Access) error {
	if err := p.Denied(&gate.Subject{Call: &p.about, Operation: p.operation, Accesses: all}); err != nil {
		return err
	}
	return abi.Errorf(abi.CodeUndeclared, "%s is outside the scope %q that the manifest of %s gives %s",
		a.Target, p.claim.Scope, p.tool.Contract().Name, p.operation)
}

// consistent holds a call to the traits it was scheduled by, and what it makes to those
// of the calls above it.
func (p *performing) consistent(a permissions.Access) error {
	derived := p.tool.Contract().ReadOnly == abi.TraitDerived
	readsOnly := func(a permissions.Access) bool {
		known := p.analyse(a.Target)
		return derived && p.readsOnly(p.Policy(), p.operation, &known)
	}
	if err := p.held().Access(a, readsOnly); err != nil {
		return err
	}
	for _, above := range p.turn.Above() {
		if err := above.Access(a, readsOnly); err != nil {
			return err
		}
	}
	return nil
}

// overlaid are the capabilities that heed a stage.
var overlaid = []string{
	abi.CapFSRead, abi.CapFSStat, abi.CapFSList, abi.CapFSWrite, abi.CapFSReplace,
	abi.CapDocsRead, abi.CapSearchNames, abi.CapSearchContents, abi.CapSessionMessage,
}

// stageable refuses, in a session whose writes are staged, an access that could change
// something past the stage, or see files as they were before.
func (p *performing) stageable(a permissions.Access) error {
	if !p.session().Stage || slices.Contains(overlaid, p.operation) {
		return nil
	}
	switch a.Kind {
	case permissions.AccessRead, permissions.AccessNet, permissions.AccessSession:
		return nil
	case permissions.AccessExec:
		if p.operation == abi.CapShellRun && p.session().Unstaged() == nil {
			return p.staysInside()
		}
	}
	return abi.Errorf(abi.CodeDenied, "%s asked for %s on %s with %s, which knows nothing of what this session has staged; apply or discard that (toolquay stage), and go on without --stage",
		p.tool.Contract().Name, a.Kind, a.Target, p.operation)
}

// shellFits refuses to run a command otherwise than it is judged: by another shell than
// its tool's, outside the sandbox though the call does not say so, or another one than
// the call's input names, which is what was judged and what a person was shown.
func (p *performing) shellFits(plan capability.Plan, accesses []permissions.Access) error {
	runner, ok := plan.(capability.Runner)
	if !ok {
		return nil
	}
	name := p.name()
	switch {
	case (runner.Shell() == abi.ShellPowerShell) != (name == PowerShell):
		return abi.Errorf(abi.CodeDenied, "%s asked for a command in %s, which its commands are not judged for; only %s runs those of PowerShell", name, runner.Shell(), PowerShell)
	case runner.LeavesSandbox() && !p.leavesSandbox():
		return abi.Errorf(abi.CodeDenied, "%s asked to run a command outside the sandbox, and its input does not say so: it takes %s = true", name, leave)
	}
	return p.commandsFit(accesses)
}

// commandsFit refuses commands that are not, byte for byte, among those that the call's
// input names. A tool whose input names none says what it runs when it does, and is
// judged then.
func (p *performing) commandsFit(accesses []permissions.Access) error {
	named, names, err := p.commandsNamed()
	if err != nil || !names {
		return err
	}
	for _, a := range accesses {
		if a.Kind == permissions.AccessExec && !slices.Contains(named, a.Target) {
			return abi.Errorf(abi.CodeDenied, "%s asked for another command than its input names, which is the one that was judged", p.name())
		}
	}
	return nil
}

// permitted judges one more access of a running plan, without asking anybody. A
// tree that a person allowed lets pass what lies below it, except what a rule or
// a guarded place would have asked about by itself.
func (p *performing) permitted(a permissions.Access) bool {
	_, ok := p.judged(a)
	return ok
}

func (p *performing) judged(a permissions.Access) (d permissions.Decision, ok bool) {
	if !p.session().Rules.IsCurrent(p.now.Load()) {
		p.renew() // rules that tighten hold a search that is under way
	}
	d = p.Decide(&gate.Subject{Call: &p.about, Operation: p.operation, Accesses: p.aliased([]permissions.Access{a}), Hook: p.hookGrant()})
	asks := d.Verdict == permissions.Ask || d.Headless
	return d, d.Verdict == permissions.Allow || asks && d.Layer == permissions.LayerMode && p.Approvals.Covers(a)
}

// permittedDir judges a directory that a running plan goes through, as
// [performing.permitted] does, and prepares the judgement of the files in it: see
// [capability.JudgeDir].
//
// Where the rules allow the directory by themselves, [permissions.Directory.Plain]
// tells which names they allow with it. What a person allowed, and what a manifest
// limits to a scope, is judged file by file. So is everything once the policy is
// another than the directory was judged by.
func (p *performing) permittedDir(dir permissions.Access) (ok bool, plain func(name string) bool) {
	before := p.renew()
	if p.consistent(dir) != nil || !p.scope.Covers(dir) {
		return false, nil
	}
	d, ok := p.judged(dir)
	if d.Verdict != permissions.Allow || d.Layer == permissions.LayerApproval || len(p.claim.Scope) > 0 {
		return ok, nil
	}
	prepared := before.Policy.Directory(dir.Target, dir.Real)
	return true, func(name string) bool {
		if !p.session().Rules.IsCurrent(before) || !prepared.Plain(name) {
			return false
		}
		if p.links.None() {
			return true
		}
		_, several := paths.HardLinked(filepath.Join(dir.Real, name))
		return !several
	}
}
