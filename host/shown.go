package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// backgroundField is the input field that has a command run in the background.
const backgroundField = "run_in_background"

// taskOutput is the tool that waits for background tasks, which others point at.
const taskOutput = "TaskOutput"

// shown is the contract of a tool as the session's model is told it. Where nothing runs
// in the background they hear nothing of that.
func (s *Session) shown(t tool) (*abi.Tool, error) {
	contract := t.contract()
	if !builtIn(t) || s.backgrounds() {
		return contract, nil
	}
	without := *contract
	schema, err := withoutProperty(contract.InputSchema, backgroundField)
	if err != nil {
		return nil, fmt.Errorf("the input schema of %s: %w", contract.Name, err)
	}
	without.InputSchema = schema
	without.Description = withoutItems(withoutItems(contract.Description, backgroundField), taskOutput)
	without.InputExamples = slices.DeleteFunc(slices.Clone(contract.InputExamples), func(example string) bool {
		return strings.Contains(example, backgroundField)
	})
	return &without, nil
}

// withoutProperty takes one of the properties out of a JSON Schema, and leaves the
// others in the order in which their author has them.
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

// members reads an object. Each is told the key of a member and where the one before it
// ended, and reads the value.
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

// withoutItems takes those items of the lists in a text out that have a word in them. An
// item begins with a dash, and ends with the next one or an empty line.
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
