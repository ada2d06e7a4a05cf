package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// said writes down the lines of a call, without what is another one each time.
func said(t *testing.T, out *strings.Builder, s *host.Session, n int, tool, input string) abi.ToolResult {
	t.Helper()
	var result abi.ToolResult
	fmt.Fprintf(out, "%s %s\n", tool, input)
	for e := range s.Run(t.Context(), []abi.ToolUse{use(fmt.Sprint("c", n), tool, input)}) {
		if e.Kind == host.EventResult {
			result = *e.Result
		}
		switch e.Kind {
		case host.EventQueued, host.EventStarted, host.EventFinished:
			fmt.Fprintf(out, "  %-8s %s\n", e.Kind, e.Line)
		}
	}
	return result
}

var changing = regexp.MustCompile(`\bb[0-9a-z]{8}\b`)

var slept = regexp.MustCompile(`\b[0-9]+ ms\b`)

// linesGolden compares lines with a golden file, without the directory that they are about.
func linesGolden(t *testing.T, name, dir string, out *strings.Builder) {
	t.Helper()
	text := strings.ReplaceAll(out.String(), dir, "DIR")
	text = slept.ReplaceAllString(changing.ReplaceAllString(text, "bTASK"), "N ms")
	file := filepath.Join("testdata", name+".golden")
	if *updateGolden {
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if text != string(want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

const oneCell = `{"cells":[{"cell_type":"code","id":"c1","metadata":{},"outputs":[],"execution_count":null,"source":["1"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}`

// TestLinesOfFiles has every built-in tool for files, searches and waiting say what it does.
func TestLinesOfFiles(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{
		"a.go": "package a\n\n// TODO\n", "src/b.go": "// TODO\n// TODO\n", "n.ipynb": oneCell, "long.txt": strings.Repeat("x\n", 3000),
	})
	h := open(t, host.Options{
		Builtins: true, Tools: []host.NativeTool{hinted("LSP", "definition", "Asks a language server.")},
		Model:       host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways}},
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Deny: permissions.RuleTexts("Read(./secret)", "Edit(./secret)"), Allow: permissions.RuleTexts("Edit(./**)")}}},
	})
	s := session(t, h, host.SessionOptions{Cwd: root})
	var out strings.Builder
	for i, call := range [][2]string{
		{"Read", `{"file_path":"` + root + `/a.go"}`},
		{"Read", `{"file_path":"long.txt","offset":100,"limit":1}`},
		{"Read", `{"file_path":"long.txt"}`},
		{"Read", `{"file_path":"n.ipynb"}`},
		{"Read", `{"file_path":"gone\u001b[2J\u202etxt"}`},
		{"Read", `{"file_path":"secret"}`},
		{"Read", `{"file_path":7}`},
		{"Write", `{"file_path":"new.txt","content":"1\n2\n"}`},
		{"Write", `{"file_path":"new.txt","content":"1\n"}`},
		{"Write", `{"file_path":"secret","content":""}`},
		{"Edit", `{"file_path":"a.go","old_string":"TODO","new_string":"done"}`},
		{"Read", `{"file_path":"src/b.go","limit":5}`},
		{"Edit", `{"file_path":"src/b.go","old_string":"TODO","new_string":"done","replace_all":true}`},
		{"Edit", `{"file_path":"secret","old_string":"a","new_string":"b"}`},
		{"Grep", `{"pattern":"TODO|done"}`},
		{"Grep", `{"pattern":"d(on)e","path":"` + root + `/src","output_mode":"content","head_limit":1,"glob":"*.go","type":"go"}`},
		{"Grep", `{"pattern":"("}`},
		{"Glob", `{"pattern":"**/*.go"}`},
		{"Glob", `{"pattern":"*.rs","path":"src"}`},
		{"ToolSearch", `{"query":"select:NotebookEdit,LSP"}`},
		{"NotebookEdit", `{"notebook_path":"n.ipynb","cell_id":"c1","new_source":"2"}`},
		{"NotebookEdit", `{"notebook_path":"n.ipynb","cell_id":"c1","new_source":"# Hi","cell_type":"markdown","edit_mode":"insert"}`},
	} {
		said(t, &out, s, i, call[0], call[1])
	}
	linesGolden(t, "lines-files", root, &out)
}

// TestLinesOfCommands is the same for commands and background tasks.
func TestLinesOfCommands(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) {
		o.Permissions.Rules = []permissions.RuleSet{{Deny: permissions.RuleTexts("Bash(rm:*)"), Allow: permissions.RuleTexts("Bash", "TaskOutput", "TaskStop")}}
	})
	dir := t.TempDir()
	s := session(t, h.Host, host.SessionOptions{Cwd: dir})
	var out strings.Builder
	for i, call := range [][2]string{
		{"Bash", `{"command":"echo a; echo b","description":"Say it"}`},
		{"Bash", `{"command":"true"}`},
		{"Bash", `{"command":"grep x /dev/null"}`},
		{"Bash", `{"command":"mkdir sub && cd sub"}`},
		{"Bash", `{"command":"printf 'no\\nway\\n' >&2; exit 3"}`},
		{"Bash", `{"command":"rm -rf\n/\u001b[1A"}`},
		{"Sleep", `{"duration_ms":1}`},
	} {
		said(t, &out, s, i, call[0], call[1])
	}
	r := said(t, &out, s, 90, "Bash", `{"command":"sleep 600","run_in_background":true}`)
	id := changing.FindString(string(r.Structured))
	said(t, &out, s, 91, "TaskOutput", `{"task_id":"`+id+`","block":false,"filter":"x"}`)
	said(t, &out, s, 92, "TaskStop", `{"task_id":"`+id+`"}`)
	said(t, &out, s, 93, "TaskStop", `{"task_id":"b00000000"}`)
	linesGolden(t, "lines-commands", dir, &out)
}
