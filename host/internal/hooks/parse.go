package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// The keys that are understood, at the answer's top and in its
// hookSpecificOutput.
var (
	topKeys      = []string{"continue", "stopReason", "systemMessage", "decision", "reason", specificKey}
	specificKeys = []string{
		"hookEventName", "permissionDecision", "permissionDecisionReason",
		"updatedInput", "updatedOutput", "additionalContext", "worktreePath",
	}
)

const specificKey = "hookSpecificOutput"

// parse reads what a command printed that ended with 0.
func parse(e Event, stdout []byte) (Output, error) {
	if len(bytes.TrimSpace(stdout)) == 0 {
		return Output{}, nil
	}
	canonical, err := abi.Canonical(stdout)
	if err != nil {
		return Output{}, fmt.Errorf("it printed something else than an answer in JSON: %w", err)
	}
	top := readFields("the answer", canonical)
	specific := fields{at: specificKey}
	if raw, ok := top.keys[specificKey]; ok {
		specific = readFields(specificKey, raw)
	}
	top.know(topKeys, specificKeys, "it belongs into "+specificKey)
	specific.know(specificKeys, topKeys, "it belongs to the top")
	specific.only(e)
	o := Output{
		Stop:         !top.flag("continue", true),
		StopReason:   top.text("stopReason"),
		Message:      top.text("systemMessage"),
		Context:      specific.text("additionalContext"),
		Worktree:     specific.text("worktreePath"),
		UpdatedInput: specific.keys["updatedInput"],
	}
	o.decide(top.verdict("decision", shortDecisions), top.text("reason"))
	o.decide(specific.verdict("permissionDecision", decisions), specific.text("permissionDecisionReason"))
	if raw, ok := specific.keys["updatedOutput"]; ok {
		o.UpdatedOutput, err = parseBlocks(raw)
		specific.fail(err)
	}
	if err := errors.Join(top.err, specific.err); err != nil {
		return Output{}, err
	}
	return o, nil
}

// decide joins one of the two decisions that an answer can have.
func (o *Output) decide(v permissions.Verdict, reason string) {
	switch {
	case v.Worse(o.Verdict):
		o.Verdict = v
		if reason != "" {
			o.Reason = reason
		}
	case o.Reason == "":
		o.Reason = reason
	}
}

var (
	decisions      = map[string]permissions.Verdict{"allow": permissions.Allow, "ask": permissions.Ask, "deny": permissions.Deny}
	shortDecisions = map[string]permissions.Verdict{
		"allow": permissions.Allow, "approve": permissions.Allow, "ask": permissions.Ask,
		"deny": permissions.Deny, "block": permissions.Deny,
	}
)

// fields reads an object by its exact keys and keeps the first fault: decoding
// into a struct would take keys of any case.
type fields struct {
	at   string
	keys map[string]json.RawMessage
	err  error
}

func readFields(at string, canonical []byte) fields {
	f := fields{at: at}
	if canonical[0] != '{' {
		f.err = fmt.Errorf("%s is not an object", at)
		return f
	}
	f.fail(json.Unmarshal(canonical, &f.keys))
	return f
}

func (f *fields) fail(err error) {
	if f.err == nil && err != nil {
		f.err = fmt.Errorf("%s: %w", f.at, err)
	}
}

// know refuses keys that somebody meant to be understood and that would not be:
// in another case, or where they do not belong.
func (f *fields) know(here, elsewhere []string, hint string) {
	for key := range f.keys {
		for _, known := range here {
			if key != known && strings.EqualFold(key, known) {
				f.fail(fmt.Errorf("unknown key %q; write %s", key, known))
			}
		}
		for _, known := range elsewhere {
			if strings.EqualFold(key, known) {
				f.fail(fmt.Errorf("the key %s is out of place: %s", known, hint))
			}
		}
	}
}

// only refuses what is for another event than e.
func (f *fields) only(e Event) {
	if _, named := f.keys["hookEventName"]; named {
		if name := f.text("hookEventName"); name != string(e) {
			f.fail(fmt.Errorf("hookEventName is %q at %s", name, e))
		}
	}
	if e == PreToolUse {
		return // an updatedOutput is refused when the answer is settled
	}
	if _, ok := f.keys["permissionDecision"]; ok {
		f.fail(fmt.Errorf("permissionDecision has no meaning at %s: the call has been made", e))
	}
}

// text reads a string; a key that is not there is empty.
func (f *fields) text(key string) string {
	raw, ok := f.keys[key]
	if !ok {
		return ""
	}
	var s string
	if raw[0] != '"' {
		f.fail(fmt.Errorf("%s is not a string", key))
		return ""
	}
	f.fail(json.Unmarshal(raw, &s))
	return s
}

func (f *fields) flag(key string, absent bool) bool {
	switch raw := string(f.keys[key]); raw {
	case "":
		return absent
	case "true", "false":
		return raw == "true"
	}
	f.fail(fmt.Errorf("%s is neither true nor false", key))
	return absent
}

func (f *fields) verdict(key string, words map[string]permissions.Verdict) permissions.Verdict {
	if _, ok := f.keys[key]; !ok {
		return permissions.None
	}
	word := f.text(key)
	v, known := words[word]
	if !known {
		f.fail(fmt.Errorf("%s is %.40q; there are allow, ask and deny", key, word))
	}
	return v
}
