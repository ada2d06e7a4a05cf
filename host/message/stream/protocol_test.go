package stream

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// TestProtocol fixes the lines that go out: every type with every key. Who changes
// what one means has [Protocol] grow; who adds to them does not.
func TestProtocol(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	for _, line := range []struct {
		kind string
		of   any
	}{
		{"session", &Opening{}}, {"tools", &Tools{}}, {"plugin", &Plugin{}}, {"log", &Log{}}, {"task", &Task{}}, {"deed", &GitEvent{}}, {"error", &Fault{}}, {"queued", &Queued{}}, {"started", &Started{}}, {"finished", &Finished{}},
		{"progress", &Progress{}}, {"permission", &Permission{}}, {"question", &Question{}}, {"answered", &Answered{}}, {"persisted", &Persisted{}},
		{"result", &Result{}}, {"replaced", &Result{}}, {"discarded", &Discarded{}},
		{"interruptible", &Interruptible{}}, {"message", &Message{}}, {"todos", &Todos{}}, {"work", &Work{}}, {"worktree", &Worktree{}}, {"output", &Output{}}, {"mode", &Mode{}}, {"cron", &Cron{}}, {"done", &Done{}},
	} {
		v := reflect.ValueOf(line.of).Elem()
		complete(v, 0)
		v.FieldByName("Type").SetString(line.kind)
		if v.FieldByName("Protocol").IsValid() {
			v.FieldByName("Protocol").SetInt(Protocol)
		}
		if err := e.Encode(line.of); err != nil {
			t.Fatal(err)
		}
	}
	const golden = "testdata/protocol.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
	}
}

// TestProtocolKeeps holds the lines to those of earlier versions: every type and key that
// there was, with a value of its kind.
func TestProtocolKeeps(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("testdata/protocol.golden")
	if err != nil {
		t.Fatal(err)
	}
	now := protocolOf(t, golden)
	earlier, err := filepath.Glob("../../../internal/test/e2e/compat/testdata/*/protocol.jsonl")
	if err != nil || len(earlier) == 0 {
		t.Fatal(earlier, err)
	}
	for _, name := range earlier {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for kind, line := range protocolOf(t, content) {
			if missing := lacks(line, now[kind]); len(missing) > 0 {
				t.Errorf("the line %s of %s had %v", kind, name, missing)
			}
		}
	}
}

// protocolOf are lines by their type.
func protocolOf(t *testing.T, content []byte) map[any]any {
	t.Helper()
	found := make(map[any]any)
	for line := range bytes.Lines(content) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		found[fields["type"]] = fields
	}
	return found
}

// lacks lists the keys of a value that another one lacks, or has with a value of another kind.
func lacks(then, now any) (missing []string) {
	if list, ok := then.([]any); ok && len(list) > 0 {
		if other, ok := now.([]any); ok && len(other) > 0 {
			return lacks(list[0], other[0])
		}
	}
	if reflect.TypeOf(then) != reflect.TypeOf(now) {
		return []string{""}
	}
	fields, _ := then.(map[string]any)
	for key, value := range fields {
		for _, below := range lacks(value, now.(map[string]any)[key]) { //nolint:forcetypeassert // their types are the same
			missing = append(missing, "."+key+below)
		}
	}
	return missing
}

// complete gives every field a value, lists one entry, and what holds itself no
// second one.
func complete(v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2001, 2, 3, 4, 5, 6, 789_000_000, time.UTC)))
		return
	case json.RawMessage:
		v.SetBytes([]byte(`{}`))
		return
	}
	const deepest = 4
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		complete(v.Elem(), depth+1)
	case reflect.Slice:
		if depth < deepest {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			complete(v.Index(0), depth+1)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			complete(field, depth+1)
		}
	}
}
