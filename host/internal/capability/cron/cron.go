package cron

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// Capability answers session.cron. It is safe for concurrent use.
type Capability struct{}

var _ capability.Capability = Capability{}

// New returns the capability.
func New() Capability { return Capability{} }

// Names lists the operation.
func (Capability) Names() []string { return []string{abi.CapSessionCron} }

// targetList is what of the session a list reads.
const targetList = "scheduled prompts"

// Plan reads the arguments, and refuses what would fail before the person is asked about it; see
// [capability.Capability].
func (Capability) Plan(ctx context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.CronArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	if scope.Cron == nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "nothing stays here that could take a prompt when it comes due")
	}
	words, at, err := scope.Cron.Check(ctx, &args)
	if err != nil {
		return nil, err
	}
	target := capability.OfSession(targetList)
	if args.Do != abi.CronList {
		if scope.Rehearse {
			return nil, abi.Errorf(abi.CodeUnsupported, "%s cannot be rehearsed", req.Name)
		}
		target = permissions.SessionSchedule
	}
	return &plan{target, scope.Cron, args, words, at}, nil
}

// plan is one request.
type plan struct {
	capability.OfSession
	cron  capability.Cron
	args  abi.CronArgs
	words string
	at    time.Time // when it was checked
}

var _ capability.Described = (*plan)(nil)

// Describe says when the job comes due, and with what.
func (p *plan) Describe() string { return p.words }

// Do does it.
func (p *plan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	ok, jobs, err := p.cron.Do(ctx, &p.args, p.at)
	if err != nil || p.args.Do != abi.CronList {
		return abi.Answer{OK: ok}, err
	}
	text, err := json.Marshal(jobs)
	if err != nil {
		return abi.Answer{}, abi.Errorf(abi.CodeInternal, "encoding the scheduled prompts: %w", err)
	}
	return abi.Answer{OK: ok, Body: abi.Bytes(text), BodyType: abi.PartJSON, Size: int64(len(text))}, nil
}
