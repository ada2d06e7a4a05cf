package message

import (
	"fmt"
	"maps"
	"slices"

	"github.com/toolquay/toolquay/abi"
)

// parseList reads a plain list of calls.
func parseList(doc []byte) (*Message, error) {
	m := &Message{Format: List}
	top := object{keys: map[string][]byte{"": doc}}
	err := top.each("", func(item object) error {
		call, err := listCall(item)
		m.Calls = append(m.Calls, call)
		return err
	})
	nameCalls(m.Calls, "call_")
	return m, err
}

// listCall reads one call of a plain list, whose keys are ours to hold strict.
func listCall(item object) (abi.ToolUse, error) {
	for _, key := range slices.Sorted(maps.Keys(item.keys)) {
		if !slices.Contains([]string{"id", "name", "input", "type"}, key) {
			return abi.ToolUse{}, invalid("%s: unknown key %q; a call has id, name and input", item.place, key)
		}
	}
	kind, err := item.text("type")
	if err != nil {
		return abi.ToolUse{}, err
	}
	if kind != "" && kind != "tool_use" {
		return abi.ToolUse{}, invalid("%s is of the type %q; a list of calls holds nothing else", item.place, kind)
	}
	call, err := item.call("id", "name")
	call.Input = item.keys["input"]
	return call, err
}

// nameCalls gives calls without an id one: the prefix and their place, or the next
// number that is free.
func nameCalls(calls []abi.ToolUse, prefix string) {
	used := make(map[string]bool, len(calls))
	for _, c := range calls {
		used[c.ID] = true
	}
	for i := range calls {
		if calls[i].ID != "" {
			continue
		}
		n := i + 1
		for used[fmt.Sprintf("%s%d", prefix, n)] {
			n += len(calls)
		}
		calls[i].ID = fmt.Sprintf("%s%d", prefix, n)
		used[calls[i].ID] = true
	}
}
