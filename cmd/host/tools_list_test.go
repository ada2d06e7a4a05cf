package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions/settings"
)

// TestOneListOfTools asks for the tools in all ways that there are, which agree: tools in
// every format, the first line of run --stream, and an embedder's session.
func TestOneListOfTools(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings string
		args     []string
		change   func(*host.SessionOptions)
		want     string
		overlay  bool // needs a system that can mount overlays
	}{
		"as it comes":   {want: "Bash CronCreate CronDelete CronList Edit EnterWorktree ExitWorktree Glob Grep NotebookEdit Read Sleep TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate Write"},
		"minimal":       {settings: "[tools]\npreset = 'minimal'", want: "Bash Edit Read"},
		"only":          {settings: "[tools]\nonly = ['Bash', 'TaskOutput', 'TaskStop']", want: "Bash TaskOutput TaskStop"},
		"no background": {settings: "[shell]\nmax_background = 0", want: "Bash CronCreate CronDelete CronList Edit EnterWorktree ExitWorktree Glob Grep NotebookEdit Read Sleep TaskCreate TaskGet TaskList TaskUpdate Write"},
		"denied":        {settings: "[permissions]\ndeny = ['Grep', 'Bash']", want: "CronCreate CronDelete CronList Edit EnterWorktree ExitWorktree Glob NotebookEdit Read Sleep TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate Write"},
		"staged": {
			args: []string{"--stage"}, change: func(o *host.SessionOptions) { o.Stage = true }, overlay: true,
			want: "Bash CronCreate CronDelete CronList Edit Glob Grep NotebookEdit Read Sleep TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate Write",
		},
		"staged, no sandbox": {
			settings: "[sandbox]\nmode = 'off'",
			args:     []string{"--stage"}, change: func(o *host.SessionOptions) { o.Stage = true },
			want: "CronCreate CronDelete CronList Edit Glob Grep NotebookEdit Read Sleep TaskCreate TaskGet TaskList TaskUpdate Write",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.overlay {
				testenv.Permitted(t, testenv.Overlay)
			}
			u := newUser(t, test.settings)
			check := func(way string, got []string) {
				if slices.Sort(got); strings.Join(got, " ") != test.want {
					t.Errorf("%s: %s\nwant %s", way, strings.Join(got, " "), test.want)
				}
			}
			inBackground := strings.Contains(test.want, "Bash") && strings.Contains(test.want, "TaskStop")
			formats := []string{"json", "anthropic"}
			if name == "as it comes" || testenv.Thorough() {
				formats = append(formats, "openai", "openai-responses", "gemini", "mcp")
			}
			for _, format := range formats {
				out := u.run(t, "", append([]string{"tools", "--format", format}, test.args...)...)
				check(format, namesIn(t, out))
				if got := strings.Contains(out, "run_in_background"); format != "json" && got != inBackground {
					t.Errorf("%s: run_in_background is told of: %v", format, got)
				}
			}
			var opening struct {
				Tools []string `json:"tools"`
			}
			stream := func(approval string) []string {
				first, _, _ := strings.Cut(u.run(t, `{"type":"end"}`, append([]string{"--approval", approval, "run", "--stream"}, test.args...)...), "\n")
				if err := json.Unmarshal([]byte(first), &opening); err != nil {
					t.Fatal(err)
				}
				return opening.Tools
			}
			check("run --stream", stream("never"))
			// Where a person is asked, there are the tools that ask one, too.
			asking := stream("auto")
			listed := namesIn(t, u.run(t, "", append([]string{"--approval", "pipe", "tools", "--format", "anthropic"}, test.args...)...))
			if slices.Sort(listed); !slices.Equal(asking, listed) {
				t.Errorf("with a person: %v, and listed are %v", asking, listed)
			}
			check("an embedder", u.embedded(t, test.change))
		})
	}
}

// user is a home directory, and a working directory beside it: a staged session whose working
// directory contains that of sessions has no commands.
type user struct{ home, work string }

func newUser(t *testing.T, settings string) user {
	t.Helper()
	u := user{t.TempDir(), t.TempDir()}
	if err := os.MkdirAll(filepath.Join(u.home, "config/toolquay"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(u.home, "config/toolquay/settings.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return u
}

// run is what the command prints.
func (u user) run(t *testing.T, in string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "toolquay", args...)
	c.Dir, c.Stdin = u.work, strings.NewReader(in)
	c.Env = append(os.Environ(), "HOME="+u.home, "XDG_CONFIG_HOME="+u.home+"/config", "XDG_STATE_HOME="+u.home+"/state", "XDG_CACHE_HOME="+testenv.CacheHome())
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != exitNoCalls) {
		t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}

// embedded are the tools of a session that a program opens with the user's settings.
func (u user) embedded(t *testing.T, change func(*host.SessionOptions)) []string {
	t.Helper()
	dirs := config.Dirs{
		Home: u.home, Config: filepath.Join(u.home, "config/toolquay"), State: filepath.Join(u.home, "state/toolquay"),
		Cache: filepath.Dir(testenv.CompileCache()),
	}
	loaded, err := settings.Load(config.UserSettings(dirs, config.Project{}))
	if err != nil {
		t.Fatal(err)
	}
	o, err := config.ForUser(dirs, config.Project{}, loaded)
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	so := host.SessionOptions{Prompts: true, Cwd: u.work}
	if change != nil {
		change(&so)
	}
	s, err := h.NewSession(so)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Definitions(host.FormatAnthropic)
	if err != nil {
		t.Fatal(err)
	}
	return namesIn(t, string(list))
}

// namesIn are the names in a list of tools, in whichever format it is.
func namesIn(t *testing.T, list string) (names []string) {
	t.Helper()
	type named struct{ Name string }
	var tools []struct {
		named

		Function     named
		Declarations []named `json:"functionDeclarations"`
	}
	if err := json.Unmarshal([]byte(list), &tools); err != nil {
		t.Fatalf("%v: %s", err, list)
	}
	for _, tool := range tools {
		for _, n := range append(tool.Declarations, tool.named, tool.Function) {
			if n.Name != "" {
				names = append(names, n.Name)
			}
		}
	}
	return names
}
