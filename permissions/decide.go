package permissions

import (
	"path/filepath"
	"slices"
	"strings"
)

// Decide judges a request by one policy. It is pure, needs no clock and no
// files, and answers every request. A nil policy denies.
//
// The order is: deny (a rule, a hook, the tool's check), then ask (a rule, a
// hook, the tool's check, guarded places), then allow (a rule, a hook, a
// built-in tool's check), then the mode. A request with several accesses gets
// the strictest of their verdicts.
func Decide(p *Policy, r Request, e Evidence) Decision {
	d := Decision{Tool: r.Tool, Stage: r.Stage}
	if p == nil {
		d.Finding = Finding{Verdict: Deny, Layer: LayerMode, Why: "there is no policy"}
		return d
	}
	c := call{policy: p, request: r, evidence: e, approved: e.Approval.covers(&r)}
	c.gather(&d)
	for i := range r.Accesses {
		first, second := c.judge(&r.Accesses[i])
		d.add(first, second)
	}
	if d.Verdict == None {
		d.Finding = c.start()
	}
	if d.Verdict == Deny {
		d.Need = 0
	}
	if r.Headless && d.Verdict == Ask {
		d.Verdict, d.Headless = Deny, true
	}
	return d
}

// call is one judgement under way. It holds values, as pointers to them would
// have them allocated.
type call struct {
	policy   *Policy
	request  Request
	evidence Evidence
	approved bool
	// grant is what allows whatever is open: a rule on the tool, a hook or the
	// tool's check.
	grant Finding
}

// gather judges the call as such, apart from its accesses.
func (c *call) gather(d *Decision) {
	b := &c.policy.book
	if rule := b.tool(Deny, &c.request); rule != nil {
		d.add(ruleFinding(rule, nil), Finding{})
	}
	if rule := b.tool(Ask, &c.request); rule != nil {
		c.ask(d, ruleFinding(rule, nil))
	}
	if rule := b.tool(Allow, &c.request); rule != nil {
		c.grant = ruleFinding(rule, nil)
	}
	c.hook(d)
	c.toolCheck(d)
	if c.request.Stage == StageCall && c.request.Effects == EffectsUnknown {
		d.add(c.open(nil, "what it does is not known beforehand"))
	}
}

// ask adds an ask, unless a person has said yes to it.
func (c *call) ask(d *Decision, f Finding) {
	if c.approved {
		f = Finding{Verdict: Allow, Layer: LayerApproval, Why: "a person approved it"}
	}
	d.add(f, Finding{})
}

func (c *call) hook(d *Decision) {
	h := c.evidence.Hook
	if h == nil {
		return
	}
	f := Finding{Verdict: h.Verdict, Layer: LayerHook, Why: h.Reason}
	switch h.Verdict {
	case None:
	case Allow:
		c.offer(f)
	case Ask:
		c.ask(d, f)
	default:
		f.Verdict = Deny
		d.add(f, Finding{})
	}
}

// toolCheck weighs the tool's own verdict. Only a built-in tool may loosen.
func (c *call) toolCheck(d *Decision) {
	f := Finding{Layer: LayerToolCheck, Why: "the tool's own check says so"}
	switch c.request.ToolCheck {
	case CheckNone:
	case CheckAllow:
		if c.request.Origin.Builtin {
			f.Verdict = Allow
			c.offer(f)
		}
	case CheckDeny:
		f.Verdict = Deny
		d.add(f, Finding{})
	case CheckPassthrough:
		if c.grant.Rule == nil {
			f.Verdict = Ask
			c.ask(d, f)
		}
	default:
		f.Verdict = Ask
		c.ask(d, f)
	}
}

// offer keeps the first thing that allows.
func (c *call) offer(f Finding) {
	if c.grant.Verdict == None {
		c.grant = f
	}
}

// start is the finding on a request without effects of its own.
func (c *call) start() Finding {
	why := "it has no effect outside the session"
	if c.request.Stage == StageCall && c.request.Effects == EffectsGated {
		why = "each of its effects is judged when it comes"
	}
	return Finding{Verdict: Allow, Layer: LayerMode, Why: why}
}

// judge returns the finding on one access, and the one that would have stood
// without it.
func (c *call) judge(a *Access) (first, second Finding) {
	switch a.Kind {
	case AccessSession:
		return Finding{Verdict: Allow, Layer: LayerMode, Access: *a, Why: "it stays within the session"}, Finding{}
	case AccessRead, AccessWrite:
		return c.path(a)
	}
	return c.open(a, "it is not read-only")
}

// open judges what only a rule on the tool, a hook or the mode can allow.
func (c *call) open(a *Access, why string) (first, second Finding) {
	var l ladder
	if c.approved && (a == nil || slices.Contains(c.evidence.Approval.Accesses, *a)) {
		l.add(Finding{Verdict: Allow, Layer: LayerApproval, Why: "a person approved it"})
	}
	l.add(c.grant)
	l.add(c.policy.answer(why))
	return l.on(a)
}

// answer is the mode's own on what it does not allow by itself.
func (p *Policy) answer(why string) Finding {
	if p.mode == ModeBypass {
		return Finding{Verdict: Allow, Layer: LayerMode, Why: "the mode is " + string(ModeBypass)}
	}
	return Finding{Verdict: Ask, Layer: LayerMode, Why: why}
}

// path judges an access to a path.
func (c *call) path(a *Access) (first, second Finding) {
	target, actual := filepath.ToSlash(a.Target), filepath.ToSlash(a.Real)
	if !isClean(target) || actual != "" && !isClean(actual) {
		return Finding{Verdict: Deny, Layer: LayerPath, Access: *a, Why: "the path is not absolute and clean"}, Finding{}
	}
	q := query{target: target, real: actual, write: a.Kind == AccessWrite, tree: a.Tree}
	var l ladder
	if rule := c.policy.book.denies(&q); rule != nil {
		l.add(ruleFinding(rule, a))
	}
	if actual == "" {
		l.add(Finding{Verdict: Ask, Layer: LayerPath, Why: "it is not known where the path leads", need: NeedRealPath})
		return l.on(a)
	}
	if c.approved && slices.Contains(c.evidence.Approval.Accesses, *a) {
		l.add(Finding{Verdict: Allow, Layer: LayerApproval, Why: "a person approved it"})
	}
	if rule := c.policy.book.asks(&q); rule != nil {
		l.add(ruleFinding(rule, a))
	}
	if c.policy.mode != ModeBypass {
		l.add(c.policy.guard(&q))
	}
	named, missing := c.policy.allows(&q)
	if missing == 0 {
		l.add(named)
	}
	l.add(c.grant)
	l.add(c.policy.pathAnswer(&q, missing))
	return l.on(a)
}

// pathAnswer is the mode's own on a path.
func (p *Policy) pathAnswer(q *query, missing uint8) Finding {
	why := "it is outside the working directories"
	switch {
	case q.write:
		why = "changes need approval"
	case p.inside(q.target) && p.insideReal(q.real):
		return Finding{Verdict: Allow, Layer: LayerMode, Why: "it is inside the working directories"}
	case p.inside(q.target):
		why = "it leads outside the working directories"
	}
	f := p.answer(why)
	f.missing = missing
	return f
}

// guard finds out whether a guarded place is touched.
func (p *Policy) guard(q *query) Finding {
	place := p.guards.find(q.target, q.write)
	if q.real != q.target {
		if other := p.guards.find(q.real, q.write); place == nil || other != nil && other.layer == LayerCredentials {
			place = other
		}
	}
	switch {
	case place != nil:
		return Finding{Verdict: Ask, Layer: place.layer, Why: place.why}
	case q.write && q.tree:
		return Finding{Verdict: Ask, Layer: LayerProtected, Why: "a whole directory may hold protected files"}
	}
	return Finding{}
}

// isClean reports whether a path is absolute and lexically clean, as rules
// need it. On Windows a drive may come before the slash.
func isClean(path string) bool {
	path = path[len(filepath.VolumeName(path)):]
	if path == "/" {
		return true
	}
	if path == "" || path[0] != '/' || strings.IndexByte(path, 0) >= 0 {
		return false
	}
	for rest := path[1:]; ; {
		i := strings.IndexByte(rest, '/')
		name := rest
		if i >= 0 {
			name = rest[:i]
		}
		if name == "" || name == "." || name == ".." {
			return false
		}
		if i < 0 {
			return true
		}
		rest = rest[i+1:]
	}
}
