package pipeline

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
)

// journal is a desk as it takes the decisions about its call, for the operator's log and
// for those who are told. It implements [gate.Log].
type journal desk

// Unheard is as [gate.Log] has it.
func (j *journal) Unheard() bool {
	return !j.tell.Listens() && j.session().Host.Log == nil
}

// Record is as [gate.Log] has it: it logs a decision, and tells of it.
func (j *journal) Record(s *gate.Subject, d *permissions.Decision, by string) error {
	if err := j.append(s, d, by); err != nil {
		return err
	}
	j.tell.Decided(s.Operation, *d)
	return nil
}

// append puts a decision in the operator's log.
func (j *journal) append(s *gate.Subject, d *permissions.Decision, by string) error {
	o := j.session().Host
	if o.Log == nil {
		return nil
	}
	e := audit.Of(d)
	e.Judged(s.Accesses)
	e.Session, e.Turn, e.Call, e.Caller = j.session().ID, j.turn.ID(), j.use.ID, j.turn.Caller()
	e.Plugin, e.Server, e.ServerTool, e.Capability = s.Call.Origin.Plugin, s.Call.Origin.Server, s.Call.Origin.Tool, s.Operation
	e.Mode, e.Binding, e.By = (*desk)(j).Policy().Mode(), s.Call.Binding(), by
	if s.Operation == "" {
		e.Input, e.Inputs = o.LogInputs.Of(j.input.json)
	}
	err := o.Log.Append(e)
	if err == nil {
		return nil
	}
	j.core.Logger().Error("a decision is missing in the log", "error", err)
	if o.LogRequired && d.Verdict != permissions.Deny {
		return abi.Errorf(abi.CodeIO, "the decision could not be logged, and may not take effect unlogged: %w", err)
	}
	return nil
}

// Warn is as [gate.Log] has it.
func (j *journal) Warn(text string) { j.core.Warn("%s", text) }
