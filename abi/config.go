package abi

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ConfigType says what a configuration value may be.
type ConfigType string

// The types. A key without a type takes a value of any of them.
const (
	ConfigString  ConfigType = "string"
	ConfigInteger ConfigType = "integer"
	ConfigNumber  ConfigType = "number"
	ConfigBoolean ConfigType = "boolean"
)

// Parse reads a value as a person writes it, such as 10 or true, and returns it as
// JSON. Text of a key without a type, or of one that is unknown, is a string.
func (t ConfigType) Parse(text string) (json.RawMessage, error) {
	switch t {
	case ConfigInteger, ConfigNumber, ConfigBoolean:
		value := json.RawMessage(strings.TrimSpace(text))
		if err := t.Check(value); err != nil {
			return nil, err
		}
		return value, nil
	}
	return json.Marshal(text)
}

// Check reports whether a JSON value is of the type.
func (t ConfigType) Check(value json.RawMessage) error {
	var v any
	if err := Unmarshal(value, &v); err != nil {
		return t.fault(value)
	}
	ok := true
	switch t {
	case ConfigString:
		_, ok = v.(string)
	case ConfigBoolean:
		_, ok = v.(bool)
	case ConfigNumber:
		ok = isNumber(value)
	case ConfigInteger:
		_, err := strconv.ParseInt(string(value), 10, 64)
		ok = err == nil
	}
	if !ok {
		return t.fault(value)
	}
	return nil
}

func isNumber(value json.RawMessage) bool {
	var n float64
	return json.Unmarshal(value, &n) == nil && string(value) != "null"
}

func (t ConfigType) fault(value json.RawMessage) error {
	words := map[ConfigType]string{
		ConfigString: "a string", ConfigInteger: "an integer, such as 10", ConfigNumber: "a number, such as 2.5", ConfigBoolean: "true or false",
	}
	const most = 40
	shown := string(value)
	if len(shown) > most {
		shown = shown[:most] + "..."
	}
	return Errorf(CodeInvalidInput, "%q is not %s", shown, words[t])
}
