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
	if p == nil || !harmless(p, &r) {
		return JudgeAnswer{InputHash: r.InputHash}
	}
	return JudgeAnswer{InputHash: r.InputHash, Verdict: Allow, Reason: harmlessWhy}
}

const harmlessWhy = "it touches only the working directories, starts only known programs and needs no network"

// harmless reports whether the built-in judge allows the request.
func harmless(p *Policy, r *Request) bool {
	if len(r.Accesses) == 0 || r.Stage == StageCall && r.Effects == EffectsUnknown {
		return false
	}
	for i := range r.Accesses {
		if !harmlessAccess(p, r, &r.Accesses[i]) {
			return false
		}
	}
	return true
}

func harmlessAccess(p *Policy, r *Request, a *Access) bool {
	target, actual := filepath.ToSlash(a.Target), filepath.ToSlash(a.Real)
	switch a.Kind {
	case AccessSession:
		_, beyond := sessionMatter(a.Target)
		return !beyond
	case AccessRead:
		return paths.IsClean(target) && paths.IsClean(actual) && p.readable(target) && p.readableReal(actual)
	case AccessWrite:
		return paths.IsClean(target) && paths.IsClean(actual) && p.inside(target) && p.insideReal(actual)
	case AccessExec:
		return harmlessCommand(p, r, r.command(a.Target))
	}
	return false
}

// harmlessCommand reports whether all parts of a command are known to do no more than to access
// files in the working directories.
func harmlessCommand(p *Policy, r *Request, cmd *Command) bool {
	if cmd == nil || cmd.Fault != "" || cmd.Unsandboxed {
		return false
	}
	complete := cmd.ReadOnly
	for i := range cmd.Parts {
		part := &cmd.Parts[i]
		if part.Ask != "" || len(part.Env) > 0 || !part.Inner && !part.ReadOnly && !part.Complete {
			return false
		}
		for j := range part.Accesses {
			if !harmlessAccess(p, r, &part.Accesses[j]) {
				return false
			}
		}
		complete = complete || !part.Inner && !part.ReadOnly
	}
	return complete
}

// judged is the finding on what a judge may answer. The built-in judge comes first, as it is
// free.
func judged(p *Policy, r *Request, j *JudgeAnswer, why string) Finding {
	if harmless(p, r) {
		return Finding{Verdict: Allow, Layer: LayerJudge, Why: harmlessWhy}
	}
	if !j.covers(r) {
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
