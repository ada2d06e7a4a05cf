package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/results"
)

// TestEditWhatWasShown has Edit change what Grep or a Read of a part has shown, and
// nothing else.
func TestEditWhatWasShown(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "line %d: alpha %s\n", i, strings.Repeat("x", 600*(i%2)))
	}
	text := b.String()
	grep := func(more string) abi.ToolUse {
		return use("g", "Grep", `{"pattern":"line (7|8|9):","output_mode":"content"`+more+`}`)
	}
	edit := func(old, replaced, more string) abi.ToolUse {
		return use("e", "Edit", fmt.Sprintf(`{"file_path":"a.txt","old_string":%q,"new_string":%q%s}`, old, replaced, more))
	}
	read := func(more string) abi.ToolUse { return use("r", "Read", `{"file_path":"a.txt"`+more+`}`) }
	for name, c := range map[string]struct {
		before  []abi.ToolUse
		since   func(path string) error
		results results.Options
		edit    abi.ToolUse
		code    abi.Code
	}{
		"a line of Grep's":           {before: []abi.ToolUse{grep("")}, edit: edit("line 8: alpha", "line eight: alpha", "")},
		"two that follow each other": {before: []abi.ToolUse{grep(`,"-A":1`)}, edit: edit("alpha \nline 9", "beta\nline 9", "")},
		"what a cut line shows":      {before: []abi.ToolUse{grep("")}, edit: edit("line 7: alpha xxx", "line 7: beta xxx", "")},
		"what it does not show":      {before: []abi.ToolUse{grep("")}, edit: edit("x\nline 8", "\nline 8", ""), code: abi.CodeNotRead},
		"context":                    {before: []abi.ToolUse{grep(`,"-B":1`)}, edit: edit("line 6: alpha", "six", "")},
		"another line":               {before: []abi.ToolUse{grep("")}, edit: edit("line 20: alpha", "x", ""), code: abi.CodeNotRead},
		"every place, of which some": {before: []abi.ToolUse{grep("")}, edit: edit("alpha", "beta", `,"replace_all":true`), code: abi.CodeNotRead},
		"every place that there is":  {before: []abi.ToolUse{grep(`,"-i":true`)}, edit: edit("line 8", "8", `,"replace_all":true`)},
		"not unique":                 {before: []abi.ToolUse{grep("")}, edit: edit("alpha", "beta", ""), code: abi.CodeNotUnique},
		"names of files alone":       {before: []abi.ToolUse{use("g", "Grep", `{"pattern":"alpha"}`)}, edit: edit("line 8: alpha", "x", ""), code: abi.CodeNotRead},
		"counts":                     {before: []abi.ToolUse{use("g", "Grep", `{"pattern":"alpha","output_mode":"count"}`)}, edit: edit("line 8: alpha", "x", ""), code: abi.CodeNotRead},
		"a file that changed since": {before: []abi.ToolUse{grep("")}, since: func(path string) error {
			return os.WriteFile(path, []byte(strings.Replace(text, "line 8: a", "line 8: A", 1)), 0o600)
		}, edit: edit("line 8: A", "x", ""), code: abi.CodeChanged},
		"changed behind what was seen": {before: []abi.ToolUse{grep("")}, since: func(path string) error { return os.WriteFile(path, []byte(text+"more\n"), 0o600) }, edit: edit("line 8: alpha", "x", "")},
		"a result that did not fit":    {before: []abi.ToolUse{grep("")}, results: results.Options{Tools: map[string]results.ToolOptions{"Grep": {MaxChars: 100}}}, edit: edit("line 8: alpha", "x", ""), code: abi.CodeNotRead},
		"part of a file":               {before: []abi.ToolUse{read(`,"offset":9,"limit":1`)}, edit: edit("line 8: alpha", "x", "")},
		"another part":                 {before: []abi.ToolUse{read(`,"offset":9,"limit":1`)}, edit: edit("line 9: alpha", "x", ""), code: abi.CodeNotRead},
		"a part and lines of Grep's":   {before: []abi.ToolUse{read(`,"offset":7,"limit":2`), grep("")}, edit: edit("x\nline 8", "x\neight", ""), code: ""},
		"Write needs all of it":        {before: []abi.ToolUse{grep("")}, edit: use("w", "Write", `{"file_path":"a.txt","content":"x"}`), code: abi.CodeNotRead},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{"a.txt": text})
			h := open(t, host.Options{Builtins: true, Permissions: host.PermissionOptions{Rules: rules("", "", "Edit | Write")}, Results: c.results})
			s := session(t, h, host.SessionOptions{Cwd: dir})
			for _, u := range c.before {
				if r, _ := one(t, s, u.Name, string(u.Input)); r.IsError {
					t.Fatal(r.Text())
				}
			}
			path := filepath.Join(dir, "a.txt")
			if c.since != nil {
				if err := c.since(path); err != nil {
					t.Fatal(err)
				}
			}
			r, _ := one(t, s, c.edit.Name, string(c.edit.Input))
			if c.code != "" {
				wantError(t, r, c.code)
			} else if r.IsError {
				t.Error(r.Text())
			}
		})
	}
}

// TestEditOfLongLines changes text in the part of a line that Read has shown of it.
func TestEditOfLongLines(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"min.js": "var begin=1;" + strings.Repeat("x();", 200_000) + "var end=2;\n"})
	s := session(t, open(t, host.Options{Builtins: true, Permissions: host.PermissionOptions{Rules: rules("", "", "Edit")}}), host.SessionOptions{Cwd: dir})
	if r, _ := one(t, s, "Read", `{"file_path":"min.js"}`); r.IsError {
		t.Fatal(r.Text())
	}
	if r, _ := one(t, s, "Edit", `{"file_path":"min.js","old_string":"begin=1","new_string":"begin=7"}`); r.IsError {
		t.Error(r.Text())
	}
	r, _ := one(t, s, "Edit", `{"file_path":"min.js","old_string":"end=2","new_string":"end=7"}`)
	wantError(t, r, abi.CodeNotRead)
}
