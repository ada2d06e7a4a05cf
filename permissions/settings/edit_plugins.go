package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// SetPluginConfig writes a value of a plugin's configuration to a settings.toml and
// reports whether the file changed. value is a JSON string, number or boolean; nil
// takes the key out. It is as careful with the rest of the file as [AddRule], and
// fails with a [*ManualError] where that cannot be had.
func SetPluginConfig(t Target, plugin, key string, value json.RawMessage) (changed bool, err error) {
	if strings.HasSuffix(t.Path, ".json") || projects(t.Kind) {
		return false, errors.New("plugins are configured in the user's settings.toml only")
	}
	text, err := tomlValue(value)
	if err != nil {
		return false, fmt.Errorf("the value of %s: %w", key, err)
	}
	return t.change(value != nil, func(w *writable) (bool, error) {
		old, there := w.file.PluginConfig[plugin][key]
		if there == (value != nil) && string(old.Value) == string(value) {
			return false, nil
		}
		return w.setKey([]string{"plugins", plugin, key}, text)
	})
}

// tomlValue writes a JSON value as TOML; nil is "".
func tomlValue(value json.RawMessage) (string, error) {
	if value == nil {
		return "", nil
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return quoted(v), nil
	case bool, float64:
		return string(value), nil
	}
	return "", errors.New("it is no string, number or boolean")
}
