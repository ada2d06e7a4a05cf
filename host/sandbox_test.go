package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// agreeing says yes to every question. What a person does not see in a command's words
// they cannot have allowed: the sandbox holds it all the same.
func agreeing() *asker { return &asker{reply: host.Reply{Answer: host.AnswerAllow}} }

// TestSandboxPolicy has commands find what rules say in their sandbox, also where the rules
// cannot see in their words what they do.
func TestSandboxPolicy(t *testing.T) {
	t.Parallel()
	content := map[string]string{
		".env": "SECRET", "deep/er/.env": "SECRET", "deep/er/a.txt": "plain", "keys/k.txt": "SECRET",
		"fixed.txt": "fixed", "asked.txt": "SECRET",
	}
	for name, test := range map[string]struct {
		command string
		mode    permissions.Mode
		further bool   // that the directory shared is one to work in
		want    string // in what the model is told
		file    string // is not changed by it, or made
	}{
		"what is denied":            {command: `f=$(printf %s .en); cat "${f}v"`, want: "Permission denied"},
		"deep":                      {command: `cd deep/er; f=$(printf %s .en); cat a.txt ${f}v`, want: "cat: .env: Permission denied"},
		"by a link":                 {command: `d=$(printf %s deep/er); ln -s $d/.en? l; x=$(printf %s l); cat $x`, want: "Permission denied"},
		"by a program":              {command: `python3 -c 'print(open("." + "env").read())'`, want: "Permission"},
		"moved away":                {command: `python3 -c 'import os; os.rename("deep", "deeper")'; d=$(printf %s deeper); cat $d/er/.e*`, want: "Device or resource busy"},
		"what would ask":            {command: `f=$(printf %s asked); cat $f.txt`, want: "Permission denied"},
		"a tree":                    {command: `f=$(printf %s keys); ls $f; cat $f/k.txt`, want: "denied"},
		"a change":                  {command: `f=$(printf %s fixed); echo more >> $f.txt`, want: "Read-only file system", file: "fixed.txt"},
		"what is guarded":           {command: `h=$(printf %s .git/hooks); mkdir -p $h; echo evil > $h/post-commit`, file: ".git/hooks/post-commit"},
		"guarded and bypassed":      {command: `mkdir .git; echo x > .git/made && cat .git/made`, mode: permissions.ModeBypass, want: "x"},
		"denied, though bypassed":   {command: `f=$(printf %s .en); cat "${f}v"`, mode: permissions.ModeBypass, want: "Permission denied"},
		"another directory":         {command: `cat ~/shared/s.txt; h=$(printf %s ~/shared); echo x > $h/made`, want: "Read-only"},
		"an additional one":         {command: `h=$(printf %s ~/shared); echo x > $h/made && cat $h/made`, further: true, want: "x"},
		"the place for temporaries": {command: `echo x > /tmp/made && cat /tmp/made`, mode: permissions.ModeBypass, want: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, content)
			h := newShelled(t, func(o *host.Options) {
				o.Permissions.Rules = rules("Read(.env) | Read(keys/**) | Edit(fixed.txt)", "Read(asked.txt)", "Bash")
			})
			shared := filepath.Join(h.home, "shared")
			must(t, os.Mkdir(shared, 0o700))
			must(t, os.WriteFile(filepath.Join(shared, "s.txt"), []byte("shared"), 0o600))
			o := host.SessionOptions{Cwd: dir, Mode: test.mode, Asker: agreeing()}
			if test.further {
				o.AdditionalDirs = []string{shared}
			}
			s := session(t, h.Host, o)
			before, _ := os.ReadFile(filepath.Join(dir, test.file))
			got := told(t, s, test.command)
			if !strings.Contains(got, test.want) || strings.Contains(got, "SECRET") || strings.Contains(got, "tool_use_error") {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if test.file == "" {
				return
			}
			if after, _ := os.ReadFile(filepath.Join(dir, test.file)); string(after) != string(before) {
				t.Errorf("%s holds %q", test.file, after)
			}
		})
	}
}

// TestSandboxPolicyIsNew has each command find what rules say of files as they then are.
func TestSandboxPolicyIsNew(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"sub/a.txt": "a"})
	h := newShelled(t, func(o *host.Options) { o.Permissions.Rules = rules("Read(*.key)", "", "Bash") })
	s := session(t, h.Host, host.SessionOptions{Cwd: dir, Asker: agreeing()})
	const look = `for f in $(ls sub); do cat "sub/$f"; done`
	if got := told(t, s, look); got != "a" {
		t.Errorf("got %q", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, "sub/b.key"), []byte("SECRET"), 0o600))
	if got := told(t, s, look); !strings.Contains(got, "denied") || strings.Contains(got, "SECRET") {
		t.Errorf("a file that was made: %q", got)
	}
	must(t, h.Apply(host.Settings{Rules: rules("Read(sub/a.txt)", "", "Bash")}))
	if got := told(t, s, look); !strings.Contains(got, "a.txt: Permission denied") || !strings.Contains(got, "SECRET") {
		t.Errorf("a rule that came: %q", got)
	}
}

// TestApprovedInTheSandbox shows a command what a person allowed this call to read, and
// the next one not.
func TestApprovedInTheSandbox(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"asked.txt": "shown\n"})
	h := newShelled(t, func(o *host.Options) { o.Permissions.Rules = rules("", "Read(asked.txt)", "Bash") })
	yes := asker{reply: host.Reply{Answer: host.AnswerAllow}}
	s := session(t, h.Host, host.SessionOptions{Cwd: dir, Asker: &yes})
	if got := told(t, s, "cat asked.txt"); got != "shown" || yes.asked.Load() != 1 {
		t.Errorf("got %q after %d questions", got, yes.asked.Load())
	}
	if got := told(t, s, "f=$(printf %s asked); cat $f.*"); strings.Contains(got, "shown") {
		t.Errorf("got %q", got)
	}
}

// TestHiddenWorkingDirectory runs nothing in a directory that may not be read.
func TestHiddenWorkingDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := newShelled(t, func(o *host.Options) { o.Permissions.Rules = rules(fmt.Sprintf("Read(/%s/**)", dir), "", "Bash") })
	result, _ := one(t, session(t, h.Host, host.SessionOptions{Cwd: dir}), "Bash", `{"command":"date"}`)
	wantError(t, result, abi.CodeDenied)
}

// TestPlanMode runs what only reads.
func TestPlanMode(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a.txt": "a"})
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir, Mode: permissions.ModePlan})
	if got := told(t, s, "cat a.txt"); got != "a" {
		t.Errorf("got %q", got)
	}
	result, _ := one(t, s, "Bash", `{"command":"touch b"}`)
	wantError(t, result, abi.CodeDenied)
}

// TestFoldersOfTheHost lets commands read their own session's folder, and neither change
// it nor see those of others, nor what else the host keeps.
func TestFoldersOfTheHost(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	keeping := func(id string) *host.Session {
		s := session(t, h.Host, host.SessionOptions{ID: id, Asker: agreeing()})
		must(t, os.MkdirAll(filepath.Join(s.Dir(), "tool-results"), 0o700))
		must(t, os.WriteFile(filepath.Join(s.Dir(), "tool-results", "r.txt"), []byte("kept by "+id), 0o600))
		return s
	}
	mine, other := keeping("mine"), keeping("other")
	state := filepath.Join(h.home, "state")
	must(t, os.WriteFile(filepath.Join(state, "grants.json"), []byte("GRANTS"), 0o600))
	for command, want := range map[string]string{
		"f=$(printf %s " + mine.Dir() + "); cat $f/tool-results/r.txt":              "kept by mine",
		"f=$(printf %s " + mine.Dir() + "); echo x > $f/tool-results/r.txt":         "Read-only file system",
		"f=$(printf %s " + other.Dir() + "); cat $f/tool-results/r.txt || ls $f/..": "No such file",
		"f=$(printf %s " + state + "); ls $f/sandbox":                               "No such file",
		"f=$(printf %s " + state + "); cat $f/grants.json":                          "No such file",
		"f=$(printf %s " + state + "); echo x > $f/grants.json; echo x > $f/made":   "Read-only file system",
	} {
		if got := told(t, mine, command); !strings.Contains(got, want) || strings.Contains(got, "kept by other") || strings.Contains(got, "GRANTS") {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

// BenchmarkSandboxPolicy is what it takes to find out what a command is held to, with a pattern
// that only a walk of all files tells.
func BenchmarkSandboxPolicy(b *testing.B) {
	for name, deny := range map[string]string{"places": "Read(./.env)", "walk": "Read(.env)"} {
		b.Run(name, func(b *testing.B) {
			content := make(map[string]string)
			for i := range 10_000 {
				content[fmt.Sprintf("d%d/f%d", i%100, i)] = ""
			}
			dir := files(b, content)
			h := newShelled(b, func(o *host.Options) { o.Permissions.Rules, o.Observe.Events = rules(deny, "", "Bash"), nil })
			s := session(b, h.Host, host.SessionOptions{Cwd: dir})
			for b.Loop() {
				if r := s.Results(context.Background(), []abi.ToolUse{bash("1", "cat d0/f0")}); r[0].IsError {
					b.Fatal(r[0].Text())
				}
			}
		})
	}
}
