package settings

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
)

// Setting is a setting as it counts.
type Setting struct {
	// Value is a JSON string, boolean or number; nil where nobody made the setting.
	Value json.RawMessage
	// Source is where it was made.
	Source permissions.Source
}

// open are the settings that a model may read and set: none of them lets a call do more than
// before, or lets data out. All others are closed.
var open = map[string]func(*Loaded) Setting{
	"scheduler.mode":           func(l *Loaded) Setting { return settingOf(l.Scheduler.Mode, asIs) },
	"scheduler.max_concurrent": func(l *Loaded) Setting { return settingOf(l.Scheduler.MaxConcurrent, asIs) },
	"scheduler.max_calls":      func(l *Loaded) Setting { return settingOf(l.Scheduler.MaxCalls, asIs) },
	"scheduler.max_per_plugin": func(l *Loaded) Setting { return settingOf(l.Scheduler.MaxPerPlugin, asIs) },
	"scheduler.cascade":        func(l *Loaded) Setting { return settingOf(l.Scheduler.Cascade, asIs) },
	"results.max_chars":        func(l *Loaded) Setting { return settingOf(l.Results.MaxChars, charsText) },
	"results.max_turn_chars":   func(l *Loaded) Setting { return settingOf(l.Results.MaxTurnChars, charsText) },
	"results.strategy":         func(l *Loaded) Setting { return settingOf(l.Results.Strategy, asIs) },
	"results.duplicates":       func(l *Loaded) Setting { return settingOf(l.Results.Duplicates, asIs) },
	"shell.default_timeout":    func(l *Loaded) Setting { return settingOf(l.Shell.DefaultTimeout, spanText) },
	"shell.max_timeout":        func(l *Loaded) Setting { return settingOf(l.Shell.MaxTimeout, spanText) },
	"shell.budget":             func(l *Loaded) Setting { return settingOf(l.Shell.Budget, spanText) },
	"shell.at_limit":           func(l *Loaded) Setting { return settingOf(l.Shell.AtLimit, asIs) },
	keyPreset:                  func(l *Loaded) Setting { return settingOf(l.Tools.Preset, asIs) },
	keyOnly:                    func(l *Loaded) Setting { return settingOf(l.Tools.Only, namesText) },
	"tools.defer":              func(l *Loaded) Setting { return settingOf(l.Tools.Defer, asIs) },
	"tools.defer_over_tools":   func(l *Loaded) Setting { return settingOf(l.Tools.DeferOverTools, asIs) },
	"tools.defer_over_chars":   func(l *Loaded) Setting { return settingOf(l.Tools.DeferOverChars, asIs) },
}

// The settings by which tools are taken away.
const (
	keyPreset = "tools.preset"
	keyOnly   = "tools.only"
)

// toolResults are the open settings of a table [results.tools.NAME].
var toolResults = map[string]func(ToolResults) Setting{
	"max_chars": func(t ToolResults) Setting { return settingOf(t.MaxChars, charsText) },
	"strategy":  func(t ToolResults) Setting { return settingOf(t.Strategy, asIs) },
}

// OpenSettings lists the settings that a model may read and set; NAME is that of a tool.
func OpenSettings() []string {
	names := slices.Collect(maps.Keys(open))
	for key := range toolResults {
		names = append(names, "results.tools.NAME."+key)
	}
	slices.Sort(names)
	return names
}

// Get returns a setting that a model may read, as it counts. The error says by its code
// whether the setting is closed ([abi.CodeDisabled]) or there is none of that name
// ([abi.CodeNotFound]).
func (l *Loaded) Get(name string) (Setting, error) {
	if get, ok := open[name]; ok {
		return get(l), nil
	}
	if tool, key, ok := ofTool(name); ok {
		return toolResults[key](l.Results.Tools[tool]), nil
	}
	return Setting{}, notOpen(name)
}

// ofTool takes the name of a setting of a table [results.tools.NAME] apart.
func ofTool(name string) (tool, key string, ok bool) {
	rest, ok := strings.CutPrefix(name, "results.tools.")
	tool, key, dotted := strings.Cut(rest, ".")
	if !ok || !dotted || toolResults[key] == nil || !toolName().MatchString(tool) {
		return "", "", false
	}
	return tool, key, true
}

// notOpen says why a name is none of an open setting.
func notOpen(name string) error {
	table, _, _ := strings.Cut(name, ".")
	ofTool := strings.HasPrefix(name, "results.tools.") // of which all are open that there are
	if !ofTool && closed(reflect.TypeFor[format](), strings.Split(name, ".")) {
		why := "it may let calls do more, or let data out"
		if table == "tools" {
			why = "it may turn tools on"
		}
		return abi.Errorf(abi.CodeDisabled, "the setting %s is not open to tools: %s. The user can change it in their settings file", visible.Name(name), why)
	}
	hint := stricttoml.DidYouMean(name, OpenSettings())
	if hint == "" {
		hint = "; there are " + strings.Join(OpenSettings(), ", ")
	}
	return abi.Errorf(abi.CodeNotFound, "there is no setting %s%s", visible.Name(name), hint)
}

// closed reports whether settings have a key, or a table, of a path.
func closed(t reflect.Type, path []string) bool {
	if len(path) == 0 {
		return true
	}
	switch t.Kind() {
	case reflect.Map:
		return closed(t.Elem(), path[1:])
	case reflect.Interface:
		return true // what stands below it is a plugin's
	case reflect.Struct:
		for field := range t.Fields() {
			if field.Tag.Get("toml") == path[0] {
				return closed(field.Type, path[1:])
			}
		}
	}
	return false
}

// settingOf returns a setting as it counts, written as text has it.
func settingOf[T any](k Key[T], text func(T) any) Setting {
	if !k.Set {
		return Setting{}
	}
	value, _ := json.Marshal(text(k.Value)) // a string, a number or a boolean: it cannot fail
	return Setting{value, k.Source}
}

func asIs[T any](v T) any { return v }

func spanText(d time.Duration) any { return d.String() }

func charsText(n int) any {
	if n == Unlimited {
		return unlimited
	}
	return n
}

func namesText(names []string) any { return strings.Join(names, ", ") }
