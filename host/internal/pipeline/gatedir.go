package pipeline

import (
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
)

// permitted judges one more access of a running plan, without asking anybody. A
// tree that a person allowed lets pass what lies below it, except what a rule or
// a guarded place would have asked about by itself.
func (g *callGate) permitted(operation string, a permissions.Access) bool {
	_, ok := g.judged(operation, a)
	return ok
}

func (g *callGate) judged(operation string, a permissions.Access) (d permissions.Decision, ok bool) {
	if !g.call.session().Rules.IsCurrent(g.now.Load()) {
		g.renew() // rules that tighten hold a search that is under way
	}
	d = g.Decide(&gate.Subject{Call: &g.about, Operation: operation, Accesses: g.aliased([]permissions.Access{a}), Hook: g.call.hookGrant()})
	asks := d.Verdict == permissions.Ask || d.Headless
	return d, d.Verdict == permissions.Allow || asks && d.Layer == permissions.LayerMode && g.Approvals.Covers(a)
}

// permittedDir judges a directory that a running plan goes through, as
// [callGate.permitted] does, and prepares the judgement of the files in it: see
// [capability.JudgeDir].
//
// Where the rules allow the directory by themselves, [permissions.Directory.Plain]
// tells which names they allow with it. What a person allowed, and what a manifest
// limits to a scope, is judged file by file. So is everything once the policy is
// another than the directory was judged by.
func (g *callGate) permittedDir(claim abi.CapabilityClaim, scope *permissions.Scope, dir permissions.Access) (ok bool, plain func(name string) bool) {
	before := g.renew()
	if g.consistent(dir, g.analyseHere) != nil || !scope.Covers(dir) {
		return false, nil
	}
	d, ok := g.judged(claim.Name, dir)
	if d.Verdict != permissions.Allow || d.Layer == permissions.LayerApproval || len(claim.Scope) > 0 {
		return ok, nil
	}
	prepared := before.Policy.Directory(dir.Target, dir.Real)
	return true, func(name string) bool {
		if !g.call.session().Rules.IsCurrent(before) || !prepared.Plain(name) {
			return false
		}
		if g.links.None() {
			return true
		}
		_, several := paths.HardLinked(filepath.Join(dir.Real, name))
		return !several
	}
}

// factsOperation stands for what a call learns about a path without opening it.
const factsOperation = "facts"

// mayTouch reports whether the rules, by themselves, allow an access.
func (g *callGate) mayTouch(a permissions.Access) bool {
	s := gate.Subject{Call: &g.about, Operation: factsOperation, Accesses: g.aliased([]permissions.Access{a})}
	return g.Decide(&s).Verdict == permissions.Allow
}
