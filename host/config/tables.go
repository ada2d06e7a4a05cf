package config

import (
	"cmp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/permissions/audit"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/scheduler"
)

// setTables sets the options of the settings tables scheduler, results, sessions, tools
// and tasks.
func setTables(o *host.Options, dirs Dirs, l *settings.Loaded) error {
	s := &l.Scheduler
	o.Limits.MaxConcurrent, o.Limits.MaxCalls, o.Limits.MaxPerPlugin = s.MaxConcurrent.Value, s.MaxCalls.Value, s.MaxPerPlugin.Value
	o.Limits.PlainBatches = s.Mode.Value == settings.ByBatch
	o.Limits.Cascade = cascades[s.Cascade.Value]
	o.Results = resultsOf(&l.Results)
	o.Storage.Sessions = cmp.Or(l.Sessions.Directory.Value, dirs.Sessions())
	o.Storage.KeepSessions = l.Sessions.Keep.Value
	o.Storage.Keep, o.Storage.Max = l.Storage.Keep.Value, int64(l.Storage.Max.Value)
	if l.Log.Inputs.Set {
		var err error
		if o.Observe.DecisionInputs, err = audit.ParseInputs(l.Log.Inputs.Value); err != nil {
			return err
		}
	}
	o.Storage.NoHistory = l.Sessions.History.Set && !l.Sessions.History.Value
	o.Storage.History = history.Options{MaxBytes: int64(l.Sessions.HistoryMax.Value), MaxAge: l.Sessions.HistoryKeep.Value}
	if l.Sessions.HistoryExcept.Set {
		o.Storage.History.Except = append([]string{}, l.Sessions.HistoryExcept.Value...)
	}
	if l.Sessions.Directory.Set { // the usual one lies in a protected directory already
		o.Paths.Host = append(o.Paths.Host, o.Storage.Sessions)
	}
	o.Storage.Teams, o.Storage.Cron, o.Model.Todos = dirs.Teams(), dirs.Cron(), l.Tasks.Kind.Value == settings.KindTodo
	o.Storage.Worktrees = dirs.Worktrees()
	var err error
	o.Model.Toolset, err = offeringOf(&l.Tools)
	return err
}

// LogOptions are those of the log of decisions.
func LogOptions(l *settings.Loaded) audit.Options {
	return audit.Options{
		SegmentBytes: int64(l.Log.RotateAt.Value), SegmentAge: l.Log.RotateAfter.Value,
		Keep: l.Log.Keep.Value, MaxBytes: int64(l.Log.Max.Value),
	}
}

// cascades are the reaches of a failure by their names in settings.
var cascades = map[string]scheduler.Cascade{
	settings.CascadeBatch: scheduler.CascadeBatch,
	settings.CascadeTurn:  scheduler.CascadeTurn,
	settings.CascadeOff:   scheduler.CascadeOff,
}

func resultsOf(s *settings.Results) results.Options {
	o := results.Options{
		MaxChars:     s.MaxChars.Value,
		MaxTurnChars: s.MaxTurnChars.Value,
		Strategy:     results.Strategy(s.Strategy.Value),
		Duplicates:   s.Duplicates.Value,
		Tools:        make(map[string]results.ToolOptions, len(s.Tools)),
	}
	for name, t := range s.Tools {
		o.Tools[name] = results.ToolOptions{MaxChars: t.MaxChars.Value, Strategy: results.Strategy(t.Strategy.Value)}
	}
	return o
}

func offeringOf(s *settings.Tools) (host.ToolsetOptions, error) {
	o := host.ToolsetOptions{
		Only:           s.Only.Value,
		Also:           s.Also.Value,
		Defer:          host.Deferral(s.Defer.Value),
		DeferOverTools: s.DeferOverTools.Value,
		DeferOverChars: s.DeferOverChars.Value,
	}
	var err error
	if s.Preset.Set {
		o.Only, err = host.Preset(s.Preset.Value)
	}
	return o, err
}
