package permissions

import (
	"path/filepath"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// JudgeCall is the built-in judge, which knows the shell and files. It allows a
// request that touches only the working directories, starts only known programs
// and needs no network, and has no opinion on others. [Decide] asks it in
// [ModeAuto] before it says that it needs another's answer.
//
// Like every judge it is over-ruled by deny and ask rules and by what a person
// must see.
func JudgeCall(p *Policy, r Request) JudgeAnswer {
	c := call{policy: p, request: r}
	if p == nil || !c.harmless() {
		return JudgeAnswer{InputHash: r.InputHash}
	}
	return JudgeAnswer{InputHash: r.InputHash, Verdict: Allow, Reason: harmlessWhy}
}

const harmlessWhy = "it touches only the working directories, starts only known programs and needs no network"

// harmless reports whether the built-in judge allows the request.
func (c *call) harmless() bool {
	r := &c.request
	if len(r.Accesses) == 0 || r.Stage == StageCall && r.Effects == EffectsUnknown {
		return false
	}
	for i := range r.Accesses {
		if !c.harmlessAccess(&r.Accesses[i]) {
			return false
		}
	}
	return true
}

func (c *call) harmlessAccess(a *Access) bool {
	target, actual := filepath.ToSlash(a.Target), filepath.ToSlash(a.Real)
	p := c.policy
	switch a.Kind {
	case AccessSession:
		return true
	case AccessRead:
		return paths.IsClean(target) && paths.IsClean(actual) && p.readable(target) && p.readableReal(actual)
	case AccessWrite:
		return paths.IsClean(target) && paths.IsClean(actual) && p.inside(target) && p.insideReal(actual)
	case AccessExec:
		return c.harmlessCommand(c.command(a.Target))
	}
	return false
}

// harmlessCommand reports whether all parts of a command are known to do no more
// than to touch files, of the working directories.
func (c *call) harmlessCommand(cmd *Command) bool {
	if cmd == nil || cmd.Fault != "" || cmd.Unsandboxed {
		return false
	}
	complete := cmd.ReadOnly
	for i := range cmd.Parts {
		p := &cmd.Parts[i]
		if p.Ask != "" || len(p.Env) > 0 || !p.Inner && !p.ReadOnly && !p.Complete {
			return false
		}
		for j := range p.Accesses {
			if !c.harmlessAccess(&p.Accesses[j]) {
				return false
			}
		}
		complete = complete || !p.Inner && !p.ReadOnly
	}
	return complete
}

// judged is the finding on what a judge may answer. The built-in judge comes
// first, as it costs nothing.
func (c *call) judged(why string) Finding {
	if c.harmless() {
		return Finding{Verdict: Allow, Layer: LayerJudge, Why: harmlessWhy}
	}
	j := c.evidence.Judge
	if !j.covers(&c.request) {
		return Finding{Verdict: Ask, Layer: LayerMode, Why: why, need: NeedJudge}
	}
	f := Finding{Verdict: j.Verdict, Layer: LayerJudge, Why: j.Reason}
	switch j.Verdict {
	case Allow, Ask, Deny:
	default:
		f.Verdict, f.Layer, f.Why = Ask, LayerMode, why
	}
	return f
}
