package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
)

// PluginConfig are the values of the tables [plugins.NAME]: what plugins are
// configured with, by plugin and key. Each value is a JSON string, number or boolean.
// Projects have no say in it.
type PluginConfig map[string]map[string]Key[json.RawMessage]

// isolationKey is the one key of [plugins] that is no plugin's.
const isolationKey = "isolation"

// readPlugins reads the table [plugins]: the isolation, and a table for each plugin.
func readPlugins(p *parser) {
	f := p.faults.file
	for _, name := range slices.Sorted(maps.Keys(p.in.Plugins)) {
		key := "plugins." + keyText(name)
		switch value := p.in.Plugins[name].(type) {
		case map[string]any:
			pluginTable(p, key, name, value)
		case string:
			if name != isolationKey {
				unknownPluginKey(p, key, name)
				continue
			}
			f.Isolation = keyOf(p, key, abi.Isolation(value))
			p.oneOf(key, value, string(abi.IsolationSandbox), string(abi.IsolationProcess))
		default:
			if name == isolationKey {
				p.fault(key, "expected a string, such as %q", abi.IsolationProcess)
				continue
			}
			unknownPluginKey(p, key, name)
		}
	}
}

func unknownPluginKey(p *parser, key, name string) {
	p.fault(key, "unknown key%s; a plugin is configured in a table [plugins.NAME]", stricttoml.DidYouMean(name, []string{isolationKey}))
}

// pluginTable reads the values for one plugin.
func pluginTable(p *parser, table, name string, values map[string]any) {
	f := p.faults.file
	if projects(f.Kind) {
		f.note(p.doc.Line(table), fmt.Sprintf("%s has no effect: a project has no say in how plugins are configured; write it to the user's settings: toolquay plugins config %s", table, keyText(name)))
		return
	}
	out := make(map[string]Key[json.RawMessage], len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key := table + "." + keyText(name)
		value, ok := configValue(values[name])
		if !ok {
			p.fault(key, "a value is a string, a number or a boolean; a name with dots is written in quotes")
			continue
		}
		out[name] = keyOf(p, key, value)
	}
	if f.PluginConfig == nil {
		f.PluginConfig = make(PluginConfig)
	}
	f.PluginConfig[name] = out
}

// configValue is a TOML value as JSON.
func configValue(v any) (json.RawMessage, bool) {
	switch v := v.(type) {
	case string, bool, int64:
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, false
		}
	default:
		return nil, false
	}
	text, err := json.Marshal(v)
	return text, err == nil
}

// fill takes the values that are not set yet.
func (c *PluginConfig) fill(other PluginConfig) {
	for plugin, values := range other {
		if *c == nil {
			*c = make(PluginConfig)
		}
		if (*c)[plugin] == nil {
			(*c)[plugin] = make(map[string]Key[json.RawMessage])
		}
		for name, value := range values {
			(*c)[plugin][name] = (*c)[plugin][name].Or(value)
		}
	}
}

// keyText is a key as it stands in TOML, and in paths of faults.
func keyText(key string) string {
	for _, r := range key {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' {
			return strconv.Quote(key)
		}
	}
	if key == "" {
		return `""`
	}
	return key
}
