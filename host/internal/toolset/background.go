package toolset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// BackgroundField is the input field that makes a command run in the background.
const BackgroundField = "run_in_background"

// taskOutput is the tool that waits for background tasks. Descriptions of others name it.
const taskOutput = "TaskOutput"

// withoutBackground returns a contract that does not mention background commands.
func withoutBackground(contract *abi.Tool) (*abi.Tool, error) {
	without := *contract
	schema, err := withoutProperty(contract.InputSchema, BackgroundField)
	if err != nil {
		return nil, fmt.Errorf("the input schema of %s: %w", contract.Name, err)
	}
	without.InputSchema = schema
	without.Description = withoutItems(withoutItems(contract.Description, BackgroundField), taskOutput)
	without.InputExamples = slices.DeleteFunc(slices.Clone(contract.InputExamples), func(example string) bool {
		return strings.Contains(example, BackgroundField)
	})
	return &without, nil
}

// withoutProperty removes a property from a JSON Schema, and keeps the order of the
// others.
func withoutProperty(schema, name string) (string, error) {
	d := json.NewDecoder(strings.NewReader(schema))
	from, to := 0, 0
	err := members(d, func(key string, _ int) error {
		if key != "properties" {
			return skip(d)
		}
		first := true
		return members(d, func(key string, before int) error {
			err := skip(d)
			if end := int(d.InputOffset()); key == name {
				from, to = before, end
				if first { // the comma behind it goes too
					rest := strings.TrimLeft(schema[end:], " \t\r\n")
					to = len(schema) - len(strings.TrimPrefix(rest, ","))
				}
			}
			first = false
			return err
		})
	})
	return schema[:from] + schema[to:], err
}

// members reads an object. It calls each with the key of a member and the offset at which
// the previous one ended; each reads the value.
func members(d *json.Decoder, each func(key string, before int) error) error {
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		before := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		if err := each(key, before); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// skip reads a value.
func skip(d *json.Decoder) error {
	var value json.RawMessage
	return d.Decode(&value)
}

// withoutItems removes list items that contain a word from a text. An item begins with a
// dash and ends at the next one or at an empty line.
func withoutItems(text, word string) string {
	var kept, item strings.Builder
	end := func() {
		if !strings.Contains(item.String(), word) {
			kept.WriteString(item.String())
		}
		item.Reset()
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "- ") || strings.TrimSpace(line) == "" {
			end()
		}
		item.WriteString(line)
	}
	end()
	return kept.String()
}
