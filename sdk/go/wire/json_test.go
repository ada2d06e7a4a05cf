package wire_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/sdk/go/wire"
)

func TestStringsAsEncodingJSON(t *testing.T) {
	for name, s := range map[string]string{
		"plain":   "abc",
		"empty":   "",
		"escapes": "\"\\/\b\f\n\r\t\x00\x1f\x7f",
		"wide":    "é日本🦀\u2028",
		"broken":  "a\xffb\xc0\xafc",
	} {
		t.Run(name, func(t *testing.T) {
			b := wire.AppendString(nil, s)
			var want string
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatalf("%s: %v", b, err)
			}
			if want != strings.ToValidUTF8(s, "\uFFFD") && utf8.ValidString(s) {
				t.Errorf("%q was written as %s", s, b)
			}
			if got := wire.NewDecoder(b).String(); got != want {
				t.Errorf("read back as %q, want %q", got, want)
			}
		})
	}
}

func TestDecoderRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":           ``,
		"array":             `[]`,
		"trailing":          `{} x`,
		"cut":               `{"path":"a`,
		"no colon":          `{"path" "a"}`,
		"trailing comma":    `{"path":"a",}`,
		"wrong type":        `{"path":1}`,
		"fraction":          `{"size":1.5}`,
		"out of range":      `{"size":9223372036854775808}`,
		"lone surrogate":    `{"path":"\ud83e"}`,
		"broken surrogate":  `{"path":"\ud83ex"}`,
		"control character": "{\"path\":\"a\nb\"}",
		"unknown escape":    `{"path":"\x41"}`,
		"bytes":             "{\"path\":\"\xff\"}",
		"deep":              `{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`,
		"unknown word":      `{"x":nul}`,
	} {
		t.Run(name, func(t *testing.T) {
			var v wire.ReadOK
			err := wire.Unmarshal([]byte(text), &v)
			if err == nil {
				t.Fatalf("%s was read as %+v", text, v)
			}
			if !strings.Contains(err.Error(), "byte") {
				t.Errorf("%q does not say where", err)
			}
		})
	}
}

// FuzzDecode holds the decoder to encoding/json: what both accept they read
// alike, and what this one accepts is JSON.
func FuzzDecode(f *testing.F) {
	f.Add(`{"pattern":"a","globs":["b","\u00e9"],"before":-1,"multiline":true}`)
	f.Add(`{"x":{"y":[1,2,{"z":null}]},"pattern":"\ud83e\udd80"}`)
	f.Add(`{"limit":1e2}`)
	f.Fuzz(func(t *testing.T, text string) {
		var got, want wire.ContentsArgs
		if wire.Unmarshal([]byte(text), &got) != nil {
			return
		}
		if strings.Count(text, `"globs"`) > 1 || strings.Contains(text, `\u`) {
			return // duplicate keys; and keys are compared unescaped
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			if json.Valid([]byte(text)) {
				return // encoding/json matches keys whatever their case
			}
			// Numbers are looked at no closer than their use needs.
			if strings.ContainsAny(text, "0123456789") {
				return
			}
			t.Fatalf("%q was accepted; encoding/json says %v", text, err)
		}
		if strings.ToLower(text) != text {
			return
		}
		if len(got.Globs) == 0 && len(want.Globs) == 0 {
			got.Globs, want.Globs = nil, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q was read as %+v, encoding/json reads %+v", text, got, want)
		}
	})
}
