package self

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
)

// configPlan is one session.config. One that sets holds the settings file.
type configPlan struct {
	scope *capability.Scope
	args  abi.ConfigArgs
	file  *workspace.Node // nil where a setting is read
}

func planConfig(scope *capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.ConfigArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	if scope.Settings == nil {
		return nil, abi.Errorf(abi.CodeDisabled, "there are no settings here that a call may read or set")
	}
	p := &configPlan{scope: scope, args: args}
	if len(args.Value) == 0 {
		return p, nil
	}
	if err := scalar(args.Value); err != nil {
		return nil, err
	}
	// Before the person is asked, as their answer could change nothing about it.
	if err := scope.Settings.Check(args.Setting, args.Value); err != nil {
		return nil, err
	}
	if err := noRehearsal(scope, req); err != nil {
		return nil, err
	}
	var err error
	if p.file, err = workspace.Resolve("/", scope.Settings.File()); err != nil {
		return nil, err
	}
	return p, nil
}

// scalar refuses a value that is no string, boolean or number.
func scalar(value json.RawMessage) error {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return abi.Errorf(abi.CodeInvalidInput, "the value: %w", err)
	}
	switch v.(type) {
	case string, bool, float64:
		return nil
	}
	return abi.Errorf(abi.CodeInvalidInput, "a value is a string, a boolean or a number")
}

// Accesses are the session's settings and, where one is set, the file. That is protected, so
// that the person is asked.
func (p *configPlan) Accesses() []permissions.Access {
	all := capability.OfSession(targetConfig).Accesses()
	if p.file != nil {
		all = append(all, p.file.Access(permissions.AccessWrite, false))
	}
	return all
}

// Do reads the setting or sets it.
func (p *configPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	if p.file == nil {
		setting, err := p.scope.Settings.Get(p.args.Setting)
		if err != nil {
			return abi.Answer{}, err
		}
		return abi.Answer{OK: abi.ConfigOK{Value: setting.Value, Source: setting.Source}}, nil
	}
	if err := p.stays(); err != nil {
		return abi.Answer{}, err
	}
	before, now, err := p.scope.Settings.Set(ctx, p.args.Setting, p.args.Value)
	if err != nil {
		return abi.Answer{}, err
	}
	return abi.Answer{OK: abi.ConfigOK{Previous: before.Value, New: now.Value, Source: now.Source}}, nil
}

// stays fails if the settings file leads elsewhere than what was judged.
func (p *configPlan) stays() (err error) {
	now, err := workspace.Resolve("/", p.scope.Settings.File())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, now.Close()) }()
	if now.Real != p.file.Real {
		return abi.Errorf(abi.CodeChanged, "%s leads to another file than when the permission was asked for; set it again", p.file.Target)
	}
	return nil
}

// Close lets go of the file.
func (p *configPlan) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}
