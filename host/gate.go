package host

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// gate is where everything a call wants to do is judged, twice: the call itself
// before it starts, and each of its capability calls on the very value that is
// then acted on. A capability call must be
//
//  1. declared in the manifest, for this tool, and within the scope declared;
//  2. granted by a person (held by package plugins before the guest runs);
//  3. consistent with the traits the tool was scheduled by;
//  4. allowed by the rules, or by a person, for exactly these accesses.
//
// Then the plan that was judged is done.
type gate struct {
	call *call
	view *view

	mu     sync.Mutex
	scopes map[string]permissions.Scope // by capability, compiled once a call
}

// decide judges accesses by the rules and by what a person allowed this call.
// Nothing is asked and nothing happens.
func (g *gate) decide(stage permissions.Stage, accesses []permissions.Access, check *abi.Check) permissions.Decision {
	contract, source := g.call.tool.contract(), g.call.tool.source()
	request := permissions.Request{
		Stage:    stage,
		Tool:     contract.Name,
		Aliases:  contract.Aliases,
		Origin:   permissions.Origin{Plugin: source.plugin, Builtin: source.trusted},
		Accesses: accesses,
		Effects:  g.call.effects(),
		Headless: g.call.session().asker == nil,
	}
	if check != nil {
		request.ToolCheck = permissions.ParseCheck(check.Verdict)
	}
	approval := g.call.approved.evidence(g.call.binding)
	if approval != nil {
		request.InputHash = g.call.binding()
	}
	return permissions.Decide(g.view.policy, request, permissions.Evidence{Approval: approval})
}

// effects says how much of what the call does is known before it starts. A
// plugin can do nothing but ask for capabilities; an embedder's own tool does
// what it likes, unless it says that it is read-only or names its fields.
func (c *call) effects() permissions.Effects {
	t, native := c.tool.(*nativeTool)
	switch {
	case !native:
		return permissions.EffectsGated
	case len(t.Contract.Fields) > 0 || c.traits.readOnly:
		return permissions.EffectsListed
	}
	return permissions.EffectsUnknown
}

// admit does what was decided of the call itself.
func (g *gate) admit(ctx context.Context, accesses []permissions.Access, d permissions.Decision) error {
	g.call.decided("", d)
	switch d.Verdict {
	case permissions.Allow:
		return nil
	case permissions.Ask:
		return g.ask(ctx, "", accesses, d)
	}
	return refusal(d)
}

// decided tells of a decision on the call, or on one of its capability calls.
func (c *call) decided(capability string, d permissions.Decision) {
	if c.turn.feed != nil {
		c.event(Event{Kind: EventDecided, Capability: capability, Decision: &d})
	}
}

func refusal(d permissions.Decision) error {
	return abi.Errorf(d.Code(), "%s", d.Message())
}

// ask puts the decision to the person, one question of a call at a time. What
// they allow, this call may do; what they deny, it is not asked about again.
func (g *gate) ask(ctx context.Context, operation string, accesses []permissions.Access, d permissions.Decision) error {
	c := g.call
	if err := c.approved.enter(ctx); err != nil {
		return err
	}
	defer c.approved.leave()
	if err := c.approved.refusal(accesses); err != nil {
		return err
	}
	if operation != "" && g.decide(permissions.StageCapability, accesses, nil).Verdict == permissions.Allow {
		return nil // allowed meanwhile, with an earlier question
	}
	err := g.put(ctx, operation, accesses, d)
	if err != nil && ctx.Err() == nil {
		c.approved.refuse(accesses, err)
	}
	return err
}

// put asks one question.
func (g *gate) put(ctx context.Context, operation string, accesses []permissions.Access, d permissions.Decision) error {
	c := g.call
	approval := Approval{
		ID:         rand.Text(),
		CallID:     c.use.ID,
		Tool:       c.tool.contract().Name,
		Plugin:     c.tool.source().plugin,
		Title:      c.title,
		Input:      c.input,
		Binding:    c.binding(),
		Capability: operation,
		Accesses:   accesses,
		Decision:   &d,
		Asked:      time.Now(),
	}
	c.event(Event{Kind: EventNeedsApproval, Approval: &approval, Capability: operation})
	reply, err := c.session().asker.Ask(ctx, approval)
	switch {
	case ctx.Err() != nil:
		return abi.Errorf(abi.CodeCancelled, "the call was cancelled while a person was asked: %w", context.Cause(ctx))
	case err != nil:
		return abi.Errorf(abi.CodeDenied, "the person could not be asked, so it is denied: %w", err)
	case reply.Answer == AnswerAllow:
		c.approved.add(accesses)
		return nil
	case reply.Answer == AnswerLater:
		return abi.Errorf(abi.CodeNeedsApproval, "a person must approve this first (approval %s); nothing was done", approval.ID)
	case reply.Message != "":
		return abi.Errorf(abi.CodeDenied, "the person denied this and says: %s", reply.Message)
	}
	return abi.Errorf(abi.CodeDenied, "the person denied this; do not try it again another way")
}

// binding identifies what is judged and approved: this input to this very tool.
func (c *call) binding() string {
	definition := c.tool.definition()
	sum := sha256.Sum256(append(definition[:], c.input...))
	return hex.EncodeToString(sum[:])
}

// do is the second gate: the function that a running call's capability calls
// go through.
func (g *gate) do(ctx context.Context, req abi.Request) (abi.Answer, error) {
	growStack() // the runner's goroutine for this request is new
	answer, err := g.perform(ctx, req)
	g.call.event(Event{Kind: EventCapability, Capability: req.Name, Err: err, Elapsed: g.call.elapsed()})
	return answer, err
}

func (g *gate) perform(ctx context.Context, req abi.Request) (abi.Answer, error) {
	name := g.call.tool.contract().Name
	claim, ok := g.call.tool.declares(req.Name)
	if !ok {
		return abi.Answer{}, abi.Errorf(abi.CodeUndeclared, "%s asked for %s, which its manifest does not declare", name, req.Name)
	}
	native, ok := g.call.session().host.capabilities[req.Name]
	if !ok {
		return abi.Answer{}, abi.Errorf(abi.CodeUnsupported, "this host has no capability %s", req.Name)
	}
	plan, err := native.Plan(ctx, capability.Scope{Cwd: g.view.cwd}, req)
	if err != nil {
		return abi.Answer{}, err
	}
	defer plan.Close()
	return g.carryOut(ctx, req, claim, plan)
}

// carryOut judges a plan and does it.
func (g *gate) carryOut(ctx context.Context, req abi.Request, claim abi.CapabilityClaim, plan capability.Plan) (abi.Answer, error) {
	accesses := plan.Accesses()
	scope, err := g.scope(claim)
	if err != nil {
		return abi.Answer{}, err
	}
	for _, a := range accesses {
		if err := g.consistent(a); err != nil {
			return abi.Answer{}, err
		}
		if !scope.Covers(a) {
			return abi.Answer{}, g.outOfScope(a, accesses, claim)
		}
	}
	if err := g.permit(ctx, req.Name, accesses); err != nil {
		return abi.Answer{}, err
	}
	if ctx.Err() != nil {
		return abi.Answer{}, cancelled(ctx)
	}
	return plan.Do(ctx, func(a permissions.Access) bool {
		return g.consistent(a) == nil && scope.Covers(a) && g.permitted(a)
	})
}

// scope is what the manifest limits a capability to.
func (g *gate) scope(claim abi.CapabilityClaim) (permissions.Scope, error) {
	if len(claim.Scope) == 0 {
		return g.view.policy.Scope(nil)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if scope, ok := g.scopes[claim.Name]; ok {
		return scope, nil
	}
	scope, err := g.view.policy.Scope(claim.Scope)
	if err != nil {
		return scope, abi.Errorf(abi.CodeLoad, "the scope that the manifest gives %s: %w", claim.Name, err)
	}
	if g.scopes == nil {
		g.scopes = make(map[string]permissions.Scope)
	}
	g.scopes[claim.Name] = scope
	return scope, nil
}

// outOfScope refuses an access for the scope it leaves, unless a rule denies it
// anyway: a directory is in every scope until it is searched, so the two
// refusals together would tell what lies behind a denied path.
func (g *gate) outOfScope(a permissions.Access, all []permissions.Access, claim abi.CapabilityClaim) error {
	d := g.decide(permissions.StageCapability, all, nil)
	if d.Verdict == permissions.Deny && !d.Headless {
		g.call.decided(claim.Name, d)
		return refusal(d)
	}
	return abi.Errorf(abi.CodeUndeclared, "%s is outside the scope %q that the manifest of %s gives %s",
		a.Target, claim.Scope, g.call.tool.contract().Name, claim.Name)
}

// permit lets accesses pass that the rules allow, that a person allowed this
// call already, or that a person allows now. The guest's clock stands still
// meanwhile.
func (g *gate) permit(ctx context.Context, operation string, accesses []permissions.Access) error {
	d := g.decide(permissions.StageCapability, accesses, nil)
	if d.Verdict == permissions.Allow {
		return nil
	}
	g.call.decided(operation, d)
	if d.Verdict == permissions.Ask {
		return g.ask(ctx, operation, accesses, d)
	}
	return refusal(d)
}

// permitted judges one more access of a running plan, without asking anybody. A
// tree that a person allowed lets pass what lies below it, except what a rule or
// a guarded place would have asked about by itself.
func (g *gate) permitted(a permissions.Access) bool {
	d := g.decide(permissions.StageCapability, []permissions.Access{a}, nil)
	asks := d.Verdict == permissions.Ask || d.Headless
	return d.Verdict == permissions.Allow || asks && d.Layer == permissions.LayerMode && g.call.approved.coversBelow(a)
}

// consistent holds a call to the traits it was scheduled by: what declared
// itself read-only does not write. It is not believed again in this session.
func (g *gate) consistent(a permissions.Access) error {
	if !g.call.traits.readOnly || a.Kind == permissions.AccessRead || a.Kind == permissions.AccessSession {
		return nil
	}
	name := g.call.tool.contract().Name
	g.call.session().demote(name)
	g.call.report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: fmt.Sprintf(
		"%s says that it is read-only and asked for %s on %s; it is treated as not read-only from now on", name, a.Kind, a.Target)}})
	return abi.Errorf(abi.CodeDenied, "%s declares itself read-only and asked for %s on %s; its author must correct read_only in the manifest", name, a.Kind, a.Target)
}
