package plugins

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/plugins/internal/discovery"
)

// ConfigError says what is wrong with what the operator set of a plugin's
// configuration, for which it offers nothing.
type ConfigError struct {
	Plugin string
	// Missing are required values that are not set.
	Missing []string
	// Faults say all of it, and what to do.
	Faults []string
}

// Error is the faults, a line each.
func (e *ConfigError) Error() string { return strings.Join(e.Faults, "\n") }

// Configure replaces the configuration values by plugin and key. They count from the
// next [Set.Reload] on, which finds another plugin where they differ.
func (s *Set) Configure(config map[string]map[string]json.RawMessage) {
	s.lineage.mu.Lock()
	defer s.lineage.mu.Unlock()
	s.lineage.config = config
}

func (l *lineage) configOf(plugin string) map[string]json.RawMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.config[plugin]
}

// configured reports whether the plugin has the values that now count.
func (g *generation) configured() bool {
	return sameConfig(g.given, g.lineage.configOf(g.name()))
}

func sameConfig(a, b map[string]json.RawMessage) bool {
	return maps.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

// configure joins the manifest's defaults and the operator's values.
func configure(c discovery.Candidate, plugin string, keys []abi.ConfigKey, values map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	if len(keys) == 0 && len(values) == 0 {
		return nil, nil
	}
	config := make(map[string]json.RawMessage, len(keys))
	wrong := &ConfigError{Plugin: plugin}
	names, set := make([]string, len(keys)), c.Command("plugins config "+plugin)
	for i, key := range keys {
		names[i] = key.Name
		value, ok := values[key.Name]
		switch {
		case ok:
			config[key.Name] = value
			if err := key.Type.Check(value); err != nil {
				wrong.add("its configuration value %q: %v; set another with: %s", key.Name, err, set+" "+key.Name+" VALUE")
			}
		case key.Default != "":
			config[key.Name], _ = key.Type.Parse(key.Default) // the manifest was checked
		case key.Required:
			wrong.Missing = append(wrong.Missing, key.Name)
			wrong.add("its configuration value %q%s is required and not set; set it with: %s",
				key.Name, parenthesised(key.Description), set+" "+key.Name+" VALUE")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) {
			wrong.add("it has no configuration value %q%s; it has %s; take it out of the settings with: toolquay plugins config %s --unset %s",
				name, stricttoml.DidYouMean(name, names), cmp.Or(strings.Join(names, ", "), "none"), plugin, visible.Short(name, maxShownName))
		}
	}
	if len(wrong.Faults) == 0 {
		return config, nil
	}
	if n := len(wrong.Faults) - maxConfigFaults; n > 0 {
		wrong.Faults = append(wrong.Faults[:maxConfigFaults], fmt.Sprintf("and %d more", n))
	}
	return config, wrong
}

func (e *ConfigError) add(format string, args ...any) {
	e.Faults = append(e.Faults, fmt.Sprintf(format, args...))
}

// maxConfigFaults bounds how many faults of a configuration are told.
const maxConfigFaults = 10

// maxShownName bounds a name that a command is told with, in bytes.
const maxShownName = 80

func parenthesised(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}
