package pipeline

import (
	"context"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/rules"
)

var _ capability.PlanMode = rules.PlanMode{}

// planFile is the file that a session's plan lies in, as a call of the session sees it.
type planFile struct{ *world }

var _ capability.PlanFile = planFile{}

// Path names it, and makes the directory that it lies in.
func (p planFile) Path() (string, error) { return p.session().PlacePlan() }

// PlacePlan names the file that the session's plan lies in, and makes its directory: where a
// tool made that, it would not be as the session's must be.
func (s *Session) PlacePlan() (string, error) {
	if file := s.Rules.PlanFile(); file.Path != "" {
		return file.Path, s.Storage.MakeFor(file.Path)
	}
	path, err := s.Storage.PlanFile()
	if err != nil {
		return "", err
	}
	return path, s.Rules.PlacePlan(path)
}

// Read returns the plan.
func (p planFile) Read() (string, error) {
	return p.session().Storage.ReadPlan(p.session().Rules.PlanFile())
}

// Write replaces the plan.
func (p planFile) Write(ctx context.Context, plan string) error {
	return p.session().Storage.WritePlan(ctx, p.session().Rules.PlanFile(), p.identity(), plan)
}
