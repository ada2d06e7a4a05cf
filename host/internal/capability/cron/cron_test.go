package cron_test

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/cron"
	"github.com/toolquay/toolquay/permissions"
)

// schedule notes what was done with it.
type schedule struct {
	fails error
	did   []abi.CronArgs
	since time.Time
}

func (s *schedule) Check(_ context.Context, args *abi.CronArgs) (string, time.Time, error) {
	return "words of " + args.Do, checked, s.fails
}

// checked is when the schedule was looked at.
var checked = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func (s *schedule) Do(_ context.Context, args *abi.CronArgs, since time.Time) (abi.CronOK, []abi.CronJob, error) {
	s.since, s.did = since, append(s.did, *args)
	return abi.CronOK{Job: &abi.CronJob{ID: "c1"}, Notes: []string{"note"}}, []abi.CronJob{{ID: "c1", Prompt: "x"}}, nil
}

func plan(t *testing.T, s capability.Cron, args string, rehearse bool) (capability.Plan, error) {
	t.Helper()
	return cron.New().Plan(t.Context(), capability.Scope{Cron: s, Rehearse: rehearse}, abi.Request{Name: abi.CapSessionCron, Args: json.RawMessage(args)})
}

// Making and deleting touches the schedule, which asks; a list touches nothing that does. The person
// is told in words, and nothing is done before.
func TestPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ do, target string }{{"create", permissions.SessionSchedule}, {"delete", permissions.SessionSchedule}, {"list", "scheduled prompts"}} {
		s := new(schedule)
		p, err := plan(t, s, `{"do":"`+c.do+`","cron":"* * * * *","prompt":"x","id":"c1"}`, false)
		if err != nil {
			t.Fatal(err)
		}
		if a := p.Accesses(); len(a) != 1 || a[0].Kind != permissions.AccessSession || a[0].Target != c.target || a[0].ChangesBeyond() != (c.do != "list") {
			t.Errorf("%s touches %v", c.do, a)
		}
		if words := p.(capability.Described).Describe(); words != "words of "+c.do || len(s.did) > 0 {
			t.Errorf("%s is described by %q, after %v", c.do, words, s.did)
		}
		answer, err := p.Do(t.Context(), nil)
		ok, is := answer.OK.(abi.CronOK)
		if err != nil || !is || len(ok.Notes) != 1 || len(s.did) != 1 || s.did[0].Do != c.do || s.did[0].ID != "c1" || s.did[0].Prompt != "x" || !s.since.Equal(checked) {
			t.Errorf("%s: %+v, %v, %+v", c.do, answer, err, s.did)
		}
		if (answer.Body != nil) != (c.do == "list") {
			t.Errorf("%s has the body %v", c.do, answer.Body)
		}
		if answer.Body == nil {
			continue
		}
		var jobs []abi.CronJob
		if raw, err := io.ReadAll(answer.Body); err != nil || json.Unmarshal(raw, &jobs) != nil || len(jobs) != 1 || answer.BodyType != abi.PartJSON || answer.Size != int64(len(raw)) {
			t.Errorf("the body is %s, %v", raw, err)
		}
	}
}

// TestPlanRefuses: what cannot be is refused before anybody is asked.
func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	bad := &schedule{fails: abi.Errorf(abi.CodeNotFound, "no such job")}
	for name, c := range map[string]struct {
		of       capability.Cron
		args     string
		rehearse bool
		want     abi.Code
	}{
		"nothing stays": {nil, `{"do":"list"}`, false, abi.CodeUnsupported},
		"no arguments":  {new(schedule), `[]`, false, abi.CodeInvalidInput},
		"what is wrong": {bad, `{"do":"delete"}`, false, abi.CodeNotFound},
		"a rehearsal":   {new(schedule), `{"do":"create"}`, true, abi.CodeUnsupported},
	} {
		if _, err := plan(t, c.of, c.args, c.rehearse); abi.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
