package settings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

func TestShellFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"timeout":         {"[shell]\ndefault_timeout = 0\n", "f: line 2: shell.default_timeout: 0s is not over 0 and up to 24h0m0s"},
		"timeout in ms":   {"[shell]\ndefault_timeout = 120000\n", "f: line 2: shell.default_timeout: 33h20m0s is not over 0"},
		"most below":      {"[shell]\ndefault_timeout = '2m'\nmax_timeout = '1m'\n", "f: line 3: shell.max_timeout: it is less than the default of 2m0s"},
		"budget":          {"[shell]\nbudget = '-1s'\n", "f: line 2: shell.budget: -1s is not over 0"},
		"at limit":        {"[shell]\nat_limit = 'stop'\n", `f: line 2: shell.at_limit: "stop" is not known; write one of background, kill`},
		"all variables":   {"[shell]\nenvironment = ['A', '*']\n", "f: line 2: shell.environment[1]: it is all there are, secrets too"},
		"value":           {"[shell]\nenvironment = ['TOKEN=hush']\n", "f: line 2: shell.environment[0]: this is no name of an environment variable, such as GOPATH or NVM_*"},
		"glob":            {"[shell]\nenvironment = ['A*B']\n", "f: line 2: shell.environment[0]: this is no name"},
		"tasks":           {"[shell]\nmax_background = -1\n", "f: line 2: shell.max_background: -1 is not from 0 to 10000"},
		"output":          {"[shell]\nmax_output = '1B'\n", "f: line 2: shell.max_output: 1B is not from 1KiB to 1048576GiB"},
		"relative bash":   {"[shell]\nbash = 'bin/bash'\n", `f: line 2: shell.bash: "bin/bash" is neither a name without a directory nor an absolute path`},
		"no PowerShell":   {"[shell]\npowershell = ''\n", "f: line 2: shell.powershell: it names no program"},
		"unknown":         {"[shell]\ntimeout = 3\n", "f: line 2: shell.timeout: unknown key"},
		"mode":            {"[sandbox]\nmode = 'on'\n", `f: line 2: sandbox.mode: "on" is not known; write one of off, when-available, required`},
		"mode by truth":   {"[sandbox]\nmode = true\n", "f: line 2: sandbox.mode: found the boolean true, expected a string"},
		"network":         {"[sandbox]\nnetwork = 'some'\n", `f: line 2: sandbox.network: "some" is not known; write one of off, hosts, all`},
		"unasked":         {"[sandbox]\nunasked = 'auto'\n", `f: line 2: sandbox.unasked: "auto" is not known; write one of never, edits, always`},
		"contained":       {"[sandbox]\ncontained = 'auto'\n", `f: line 2: sandbox.contained: "auto" is not known; write one of off, ask, run`},
		"URL":             {"[sandbox]\nhosts = ['a.example', 'https://b.example']\n", `f: line 2: sandbox.hosts[1]: "https://b.example" is no host such as example.com`},
		"port":            {"[sandbox]\nhosts = ['b.example:443']\n", "f: line 2: sandbox.hosts[0]: \"b.example:443\" is no host"},
		"all hosts":       {"[sandbox]\nhosts = ['*']\n", `f: line 2: sandbox.hosts[0]: "*" is no host`},
		"host's capital":  {"[sandbox]\nhosts = ['Example.com']\n", `f: line 2: sandbox.hosts[0]: "Example.com" is no host`},
		"no host":         {"[sandbox]\nhosts = ['', '*.']\n", `f: line 2: sandbox.hosts[0]: "" is no host`},
		"relative":        {"[sandbox]\nwritable = ['build']\n", `f: line 2: sandbox.writable[0]: "build" is not an absolute path, nor one that begins with ~/`},
		"everything":      {"[sandbox]\nwritable = ['/tmp/..']\n", "f: line 2: sandbox.writable[0]: it is everything; write mode = \"off\""},
		"few processes":   {"[sandbox]\nmax_processes = 1\n", "f: line 2: sandbox.max_processes: 1 is not from 8 to 1000000000"},
		"little memory":   {"[sandbox]\nmax_memory = '1MiB'\n", "f: line 2: sandbox.max_memory: 1MiB is not from 16MiB to 1048576GiB"},
		"many open files": {"[sandbox]\nmax_open_files = 2_000_000\n", "f: line 2: sandbox.max_open_files: 2000000 is not from 64 to 1048576"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := settings.Parse(user, "f", []byte(tt.text))
			if err == nil || f != nil {
				t.Fatalf("no error: %+v", f)
			}
			if got := err.Error(); !strings.Contains(got, tt.want) || strings.Contains(got, "hush") {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// TestProjectsHaveNoSayInWhatCommandsReach: these keys are refused, trusted or not.
func TestProjectsHaveNoSayInWhatCommandsReach(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"shell.budget = 3", "shell.environment = ['A']", "shell.bash = 'sh'", "shell.powershell = 'sh'",
		"sandbox.hosts = []", "sandbox.writable = []", "sandbox.outside = []",
	} {
		key, _, _ := strings.Cut(text, " ")
		want := "f: line 1: " + key + ": a project has no say in this"
		for _, kind := range []permissions.SourceKind{project, permissions.SourceProjectLocal} {
			if _, err := settings.Parse(kind, "f", []byte(text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		if _, err := settings.Parse(user, "f", []byte(text+"\n")); err != nil {
			t.Errorf("a user's %s: %v", text, err)
		}
	}
}

// shellText are the keys of both tables that a project may set.
func shellText(timeout, limit, tasks, output, mode, network, processes, memory, files string) string {
	return fmt.Sprintf("[shell]\ndefault_timeout = '%s'\nmax_timeout = '%s'\nat_limit = '%s'\nmax_background = %s\nmax_output = '%s'\n"+
		"[sandbox]\nmode = '%s'\nnetwork = '%s'\nmax_processes = %s\nmax_memory = '%s'\nmax_open_files = %s\n",
		timeout, timeout, limit, tasks, output, mode, network, processes, memory, files)
}

// TestProjectsOnlyTighten holds what a project says against a user, and against the
// usual, whether or not it is trusted.
func TestProjectsOnlyTighten(t *testing.T) {
	t.Parallel()
	const keys = 10
	strict := shellText("1s", "kill", "2", "1MiB", "required", "off", "9", "64MiB", "100")
	loose := shellText("23h", "background", "9000", "900GiB", "off", "all", "90000", "900GiB", "1000000")
	middle := shellText("5m", "background", "30", "10GiB", "when-available", "hosts", "500", "8GiB", "2000")
	for name, tt := range map[string]struct {
		user, local, project string
		ofProjects, leftOut  int // settings
	}{
		"stricter than the user":     {middle, "", strict, keys, 0},
		"looser than the user":       {middle, "", loose, 0, keys - 1}, // background is what it is
		"as the user":                {middle, "", middle, 0, 0},
		"stricter than usual":        {"", "", strict, keys, 0},
		"looser than usual":          {"", "", loose, 0, keys - 1},
		"the strictest counts":       {loose, strict, middle, keys, keys},
		"the strictest counts first": {loose, middle, strict, 2*keys - 1 - (keys - 1), 0},
	} {
		for _, trusted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, trusted: %t", name, trusted), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.write(t, userFile, tt.user)
				p.write(t, localFile, tt.local)
				p.write(t, projectFile, tt.project)
				if trusted {
					p.trust(t)
				}
				l := p.load(t)
				ofProjects := 0
				for _, m := range l.Made() {
					if m.Source.Kind == project || m.Source.Kind == permissions.SourceProjectLocal {
						ofProjects++
					}
				}
				leftOut := strings.Count(p.warnings(l), "a project may only tighten it")
				if ofProjects != tt.ofProjects || leftOut != tt.leftOut {
					t.Errorf("%d of projects, %d left out\n%v\n%s", ofProjects, leftOut, l.Made(), p.warnings(l))
				}
				if strings.Contains(tt.project+tt.local, strict) && l.Shell.DefaultTimeout.Value != time.Second {
					t.Errorf("not the strictest: %v", l.Shell.DefaultTimeout)
				}
				if len(l.Brings) != 0 {
					t.Errorf("it needs trust: %v", l.Brings)
				}
			})
		}
	}
}

// TestShellIsMergedByKey: the weightiest has its way, the policy over all.
func TestShellIsMergedByKey(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, systemFile, "[sandbox]\nnetwork = 'hosts'\nhosts = ['a.example']\n[shell]\nenvironment = []\n")
	p.write(t, projectFile, "[sandbox]\nmode = 'required'\n")
	p.write(t, userFile, "[sandbox]\nmode = 'off'\nnetwork = 'all'\nhosts = ['b.example']\nwritable = ['~/x', '/y/']\n[shell]\nenvironment = ['A']\nbudget = '15s'\n")
	l := p.load(t)
	if s := l.Sandbox; s.Mode.Value != settings.SandboxRequired || s.Mode.Source.Kind != project || s.Network.Value != settings.NetworkHosts ||
		!slices.Equal(s.Hosts.Value, []string{"a.example"}) || !slices.Equal(s.Writable.Value, []string{p.path("home/x"), "/y"}) {
		t.Errorf("sandbox %+v", s)
	}
	if s := l.Shell; !s.Environment.Set || len(s.Environment.Value) > 0 || s.Budget.Value != 15*time.Second || s.MaxTimeout.Set {
		t.Errorf("shell %+v", s)
	}
}

// TestShellMade shows each key, in order.
func TestShellMade(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	_, tables, _ := strings.Cut(string(readTestdata(t, "full.toml")), "[shell]")
	tables, _, _ = strings.Cut(tables, "[mcp.")
	p.write(t, userFile, "[shell]"+tables)
	var got []string
	for _, m := range p.load(t).Made() {
		got = append(got, m.Text)
	}
	want := []string{
		"shell.default_timeout = 1m30s", "shell.max_timeout = 20m0s", "shell.budget = 15s", "shell.at_limit = kill",
		"shell.environment = [GOPATH NVM_*]", "shell.max_background = 8", "shell.max_output = 1GiB",
		"shell.bash = /usr/local/bin/bash", "shell.powershell = pwsh-preview",
		"sandbox.mode = required", "sandbox.network = hosts", "sandbox.hosts = [proxy.golang.org *.example.com 192.0.2.1]",
		"sandbox.writable = [" + p.path("home/.cache/build") + " /var/build]",
		"sandbox.outside = [docker:* git push:*]",
		"sandbox.unasked = always", "sandbox.contained = run",
		"sandbox.max_processes = 200", "sandbox.max_memory = 4GiB", "sandbox.max_open_files = 1024",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOutside takes the commands that may leave the sandbox of all files together, each with its
// place, and none of a project's.
func TestOutside(t *testing.T) {
	p := newPlace(t)
	p.write(t, systemFile, "[sandbox]\noutside = ['docker:*']\n")
	p.write(t, userFile, "[sandbox]\nnetwork = 'hosts'\noutside = ['git push:*', 'make x']\n")
	loaded := p.load(t)
	if want := []string{"docker:*", "git push:*", "make x"}; !slices.Equal(loaded.Sandbox.Outside.Value, want) {
		t.Errorf("got %q, want %q", loaded.Sandbox.Outside.Value, want)
	}
	var rules []string
	for _, set := range loaded.Rules {
		for _, entry := range set.Outside {
			rules = append(rules, fmt.Sprintf("%s %d %s", set.Source, entry.Line, entry.Text))
		}
	}
	if want := []string{"policy 2 docker:*", "user 3 git push:*", "user 3 make x"}; !slices.Equal(rules, want) {
		t.Errorf("got %q, want %q", rules, want)
	}
}

// TestAddOutside writes a command that may leave the sandbox to the user's file, and to no other.
func TestAddOutside(t *testing.T) {
	for before, after := range map[string]string{
		"":                                       "[sandbox]\noutside = [\n  \"docker:*\",\n]\n",
		"[sandbox]\nmode = \"required\"\n":       "[sandbox]\nmode = \"required\"\noutside = [\n  \"docker:*\",\n]\n",
		"[sandbox]\noutside = [\"a\"] # c\n":     "[sandbox]\noutside = [\"a\", \"docker:*\"] # c\n",
		"[permissions]\nallow = [\"Bash(x)\"]\n": "[permissions]\nallow = [\"Bash(x)\"]\n\n[sandbox]\noutside = [\n  \"docker:*\",\n]\n",
	} {
		p := newPlace(t)
		p.write(t, userFile, before)
		added, err := settings.AddOutside(p.user(), "docker:*")
		if got := p.read(t, userFile); !added || err != nil || got != after {
			t.Errorf("%q became %q, want %q (%t, %v)", before, got, after, added, err)
		}
		if added, err = settings.AddOutside(p.user(), "docker:*"); added || err != nil {
			t.Errorf("again: %t, %v", added, err)
		}
	}
	p := newPlace(t)
	if _, err := settings.AddOutside(p.project(projectFile), "docker:*"); err == nil {
		t.Error("a project's file took it")
	}
}

// TestContainedIsForbidden lets a policy and a project switch off what the user switched on. A project
// cannot switch it on.
func TestContainedIsForbidden(t *testing.T) {
	t.Parallel()
	const run, off = "[sandbox]\ncontained = 'run'\n", "[sandbox]\ncontained = 'off'\n"
	for name, tt := range map[string]struct{ policy, user, project, want string }{
		"the user's":       {"", run, "", "run"},
		"forbidden":        {off, run, "", "off"},
		"fixed":            {run, off, "", "run"},
		"project tightens": {"", run, off, "off"},
		"project loosens":  {"", "", run, ""},
		"past the policy":  {off, "", run, "off"},
	} {
		p := newPlace(t)
		for file, text := range map[string]string{systemFile: tt.policy, userFile: tt.user, projectFile: tt.project} {
			if text != "" {
				p.write(t, file, text)
			}
		}
		if got := p.load(t).Sandbox.Contained.Value; got != tt.want {
			t.Errorf("%s: it is %q, want %q", name, got, tt.want)
		}
	}
}
