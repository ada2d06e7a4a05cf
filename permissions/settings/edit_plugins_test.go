package settings_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// TestSetPluginConfig writes url = "X" for the plugin weather, or takes the key out, and
// leaves all else as it was. Where after is empty a person has to do it.
func TestSetPluginConfig(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before, after string
		unset         bool
	}{
		"empty":            {"", "[plugins.weather]\nurl = \"X\"\n", false},
		"other tables":     {"# mine\n[permissions]\nallow = [] # a", "# mine\n[permissions]\nallow = [] # a\n\n[plugins.weather]\nurl = \"X\"\n", false},
		"isolation":        {"[plugins]\nisolation = \"process\" # why\n", "[plugins]\nisolation = \"process\" # why\n\n[plugins.weather]\nurl = \"X\"\n", false},
		"dotted isolation": {"plugins.isolation = \"process\"\n", "plugins.isolation = \"process\"\n\n[plugins.weather]\nurl = \"X\"\n", false},
		"other plugin":     {"[plugins.other]\nurl = \"Y\"\n[log]\n", "[plugins.other]\nurl = \"Y\"\n[log]\n\n[plugins.weather]\nurl = \"X\"\n", false},
		"table":            {"[plugins.weather] # w\n  days = 3 # d\n\n[log]\n", "[plugins.weather] # w\n  days = 3 # d\n  url = \"X\"\n\n[log]\n", false},
		"value":            {"[plugins.weather]\nurl = 'old' # keep\ndays = 3\n", "[plugins.weather]\nurl = \"X\" # keep\ndays = 3\n", false},
		"long value":       {"[plugins.weather]\nurl = '''\nold'''\n", "[plugins.weather]\nurl = \"X\"\n", false},
		"inline":           {"[plugins]\nweather = { days = 3 }\n", "[plugins]\nweather = { days = 3, url = \"X\" }\n", false},
		"inline value":     {"plugins = { weather = { url = 'a', days = 3 } }\n", "plugins = { weather = { url = \"X\", days = 3 } }\n", false},
		"inline all":       {"plugins = { isolation = 'process' }\n", "plugins = { isolation = 'process', weather = { url = \"X\" } }\n", false},
		"dotted in table":  {"[plugins]\nweather.days = 3 # d\n", "[plugins]\nweather.days = 3 # d\nweather.url = \"X\"\n", false},
		"dotted":           {"plugins.weather.days = 3\n[log]\n", "plugins.weather.days = 3\nplugins.weather.url = \"X\"\n[log]\n", false},
		"CRLF":             {"[log]\r\n", "[log]\r\n\r\n[plugins.weather]\r\nurl = \"X\"\r\n", false},
		"unset":            {"[plugins.weather]\n# about\nurl = 'a' # c\ndays = 3\n", "[plugins.weather]\n# about\ndays = 3\n", true},
		"unset the last":   {"[plugins.weather]\nurl = 'a'\n[log]\n", "[plugins.weather]\n[log]\n", true},
		"unset dotted":     {"plugins.weather.url = 'a'\nplugins.isolation = 'process'\n", "plugins.isolation = 'process'\n", true},
		"unset inline":     {"[plugins]\nweather = { url = 'a', days = 3 }\n", "", true},
		"unset nothing":    {"[plugins.weather]\ndays = 3\n", "[plugins.weather]\ndays = 3\n", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(t, userFile, tt.before)
			value := json.RawMessage(`"X"`)
			if tt.unset {
				value = nil
			}
			changed, err := settings.SetPluginConfig(p.user(), "weather", "url", value)
			if manual, ok := errors.AsType[*settings.ManualError](err); ok && tt.after == "" {
				if !strings.Contains(manual.Text, "[plugins.weather]") || p.read(t, userFile) != tt.before {
					t.Errorf("got %v, %q", manual, p.read(t, userFile))
				}
				return
			}
			if err != nil || changed != (tt.before != tt.after) {
				t.Fatalf("got %t, %v", changed, err)
			}
			if got := p.read(t, userFile); got != tt.after {
				t.Errorf("got\n%q, want\n%q", got, tt.after)
			}
			if again, err := settings.SetPluginConfig(p.user(), "weather", "url", value); again || err != nil {
				t.Errorf("doing it twice: %t, %v", again, err)
			}
		})
	}
}

// TestSetPluginConfigValues of every type, and keys that need quotes.
func TestSetPluginConfigValues(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, step := range []struct{ key, value, line string }{
		{"a", `3`, "a = 3\n"}, {"a", `-2.5`, "a = -2.5\n"}, {"a", `true`, "a = true\n"}, {"a", `"q\"\u202e\\"`, `a = "q\"\u202e\\"` + "\n"},
		{"server.url", `"x"`, `"server.url" = "x"` + "\n"}, {"server.url", `"y"`, `"server.url" = "y"` + "\n"},
	} {
		if _, err := settings.SetPluginConfig(p.user(), "one", step.key, json.RawMessage(step.value)); err != nil {
			t.Fatal(err)
		}
		if got := p.read(t, userFile); !strings.Contains(got, step.line) || strings.Count(got, "[plugins.one]") != 1 {
			t.Errorf("%s = %s: got %q", step.key, step.value, got)
		}
	}
	for name, bad := range map[string]func() error{
		"an array": func() error {
			_, err := settings.SetPluginConfig(p.user(), "one", "a", json.RawMessage(`[1]`))
			return err
		},
		"a project": func() error {
			_, err := settings.SetPluginConfig(p.project("proj/.toolquay/settings.local.toml"), "one", "a", json.RawMessage(`1`))
			return err
		},
	} {
		if bad() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestPluginConfigIsMerged value by value: a policy outweighs the user, and a project
// has no say, which is told with file and line.
func TestPluginConfigIsMerged(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, systemFile, "[plugins.weather]\nurl = 'policy'\n")
	p.write(t, userFile, "[plugins]\nisolation = 'process'\nweather = { url = 'user', days = 3, metric = true, scale = 1.5 }\n")
	p.write(t, projectFile, "[permissions]\ndeny = ['Read(x)']\n[plugins.weather]\ntoken = 'project'\n")
	loaded := p.load(t)
	got := make(map[string]string)
	for key, value := range loaded.PluginConfig["weather"] {
		got[key] = string(value.Value) + " " + value.Source.Kind.String()
	}
	want := map[string]string{"url": `"policy" policy`, "days": "3 user", "metric": "true user", "scale": "1.5 user"}
	for key := range want {
		if got[key] != want[key] || len(got) != len(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if loaded.Isolation.Value != "process" {
		t.Errorf("the isolation is %q", loaded.Isolation.Value)
	}
	if len(loaded.Warnings) != 1 || loaded.Warnings[0].Source.Line != 3 || loaded.Warnings[0].Source.Kind != permissions.SourceProject ||
		!strings.Contains(loaded.Warnings[0].Message, "plugins.weather has no effect: a project has no say") {
		t.Errorf("got %v", loaded.Warnings)
	}
	for _, b := range loaded.Brings {
		if strings.Contains(b.Text, "weather") {
			t.Errorf("trust would show %s", b)
		}
	}
}
