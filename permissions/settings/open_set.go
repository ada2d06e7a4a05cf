package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// CheckSet returns why a model may not set a setting to a value, or nil. Loaded is what counts
// now: a setting that something weightier than the user's file makes is fixed, and tools are
// only taken away. Errors have the codes of [Loaded.Get], or [abi.CodeInvalidInput] for the
// value.
func (l *Loaded) CheckSet(name string, value json.RawMessage) error {
	if _, err := l.Get(name); err != nil {
		return err
	}
	fixing := []string{name}
	if name == keyOnly || name == keyPreset {
		fixing = []string{keyOnly, keyPreset} // of which one counts: whichever the weightiest source has
	}
	for _, key := range fixing {
		if now, err := l.Get(key); err == nil && now.Value != nil && now.Source.Kind != permissions.SourceUser {
			return abi.Errorf(abi.CodeDisabled, "the setting %s is fixed by the %s, which weighs more than the user's settings", key, now.Source)
		}
	}
	entry, err := tomlEntry(name, value)
	if err != nil {
		return err
	}
	file, err := alone(name, entry)
	if err != nil {
		return err
	}
	return l.Tools.losesBy(name, &file.Tools)
}

// alone is a file that says nothing but one setting.
func alone(name, entry string) (*File, error) {
	dot := strings.LastIndexByte(name, '.')
	file, err := Parse(permissions.SourceUser, "", fmt.Appendf(nil, "[%s]\n%s = %s\n", name[:dot], name[dot+1:], entry))
	if err != nil {
		return nil, valueFault(name, err)
	}
	return file, nil
}

// tomlEntry is a value as it stands in a file.
func tomlEntry(name string, value json.RawMessage) (string, error) {
	if name != keyOnly {
		entry, err := tomlValue(value)
		if err != nil || entry == "" {
			return "", abi.Errorf(abi.CodeInvalidInput, "%s: the value is no string, number or boolean", name)
		}
		return entry, nil
	}
	var list string
	if err := json.Unmarshal(value, &list); err != nil {
		return "", abi.Errorf(abi.CodeInvalidInput, "%s: the value is no string; write names of tools with commas between them", name)
	}
	var names []string
	for tool := range strings.SplitSeq(list, ",") {
		if tool = strings.TrimSpace(tool); tool != "" {
			names = append(names, quoted(tool))
		}
	}
	return "[" + strings.Join(names, ", ") + "]", nil
}

// valueFault says what is wrong with a value, without the file and the line that it would
// stand in.
func valueFault(name string, err error) error {
	if fault, ok := errors.AsType[*Fault](err); ok {
		return abi.Errorf(abi.CodeInvalidInput, "%s: %s", name, fault.Message)
	}
	return abi.Errorf(abi.CodeInvalidInput, "%s: %w", name, err)
}

// losesBy refuses another choice of tools, by one setting, that has more than there are.
func (t *Tools) losesBy(name string, other *Tools) error {
	if name != keyOnly && name != keyPreset {
		return nil
	}
	now, chosen := t.chosen(), other.chosen()
	if len(now) == 0 {
		return nil
	}
	more := func(tool string) bool { return !slices.Contains(now, tool) }
	if len(chosen) == 0 || slices.ContainsFunc(chosen, more) {
		return abi.Errorf(abi.CodeDisabled, "%s may only take tools away, and there are %s now; the user can add others in their settings file", name, strings.Join(now, ", "))
	}
	return nil
}

// chosen are the tools that are offered; empty is all.
func (t *Tools) chosen() []string {
	if t.Preset.Value == PresetMinimal {
		return []string{"Bash", "Read", "Edit"}
	}
	return t.Only.Value
}

// Set sets a setting that a model may set in a file of the user's, as carefully as [AddRule].
// See [Loaded.CheckSet], which comes before it.
func Set(t Target, name string, value json.RawMessage) error {
	if t.Kind != permissions.SourceUser || strings.HasSuffix(t.Path, ".json") {
		return errors.New("settings are set in the user's settings.toml only")
	}
	entry, err := tomlEntry(name, value)
	if err != nil {
		return err
	}
	said, err := alone(name, entry)
	if err != nil {
		return err
	}
	_, err = t.change(true, func(w *writable) (bool, error) {
		// By the file as it is now: another process may have taken more away.
		if err := w.file.Tools.losesBy(name, &said.Tools); err != nil {
			return false, err
		}
		return w.setKey(strings.Split(name, "."), entry)
	})
	if manual, ok := errors.AsType[*ManualError](err); ok {
		if fault, ok := errors.AsType[*Fault](manual.Err); ok { // beside what else the file says
			return valueFault(name, fault)
		}
	}
	return err
}

// setKey puts a value at a path, and reports whether another one stood there.
func (w *writable) setKey(path []string, entry string) (changed bool, err error) {
	edit := newKeyEdit(w.body, path, entry)
	var faults error
	for _, after := range edit.candidates() {
		if verifyKey(w.body, after, path, entry) != nil {
			continue
		}
		file, err := w.format.parse(w.kind, w.path, after)
		if err != nil {
			faults = err
			continue
		}
		changed = string(after) != string(w.body)
		w.body, w.file = after, file
		return changed, nil
	}
	do := fmt.Sprintf("take %s out of the table [%s]", edit.key, edit.table())
	if entry != "" {
		do = fmt.Sprintf("write %s = %s into the table [%s]", edit.key, entry, edit.table())
	}
	return false, &ManualError{w.path, do, cmp.Or(faults, errDiffers)}
}
