package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// secret is in the environment that the commands of these tests get a part of.
const secret = "TOOLQUAY_TEST_SECRET=4711-marker"

// shelled is a host that runs real commands in a real sandbox, with all that its
// observer was told.
type shelled struct {
	*host.Host
	home, sessions string
	log            *syncBuffer

	mu     sync.Mutex
	events []host.Event
}

// newShelled opens a host whose rules, unless there are others, allow every command.
func newShelled(tb testing.TB, change ...func(o *host.Options)) *shelled {
	tb.Helper()
	testenv.NeedTool(tb, "bwrap")
	root, err := filepath.EvalSymlinks(tb.TempDir())
	must(tb, err)
	h := &shelled{home: filepath.Join(root, "home"), sessions: filepath.Join(root, "home/state/sessions"), log: &syncBuffer{}}
	must(tb, os.Mkdir(h.home, 0o700))
	o := host.Options{
		Builtins: true, Paths: host.PathOptions{Home: h.home, Host: []string{filepath.Join(h.home, "state")}}, Storage: host.StorageOptions{Sessions: h.sessions},
		Permissions: host.PermissionOptions{Rules: rules("", "", "Bash")}, Observe: host.ObserveOptions{Events: h.see, Logger: slog.New(slog.NewTextHandler(h.log, nil))},
		Shell: &host.Shell{
			Sandbox: host.SandboxOptions{State: filepath.Join(h.home, "state/sandbox")},
			Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.home, "LANG=C.UTF-8", secret},
		},
	}
	for _, c := range change {
		c(&o)
	}
	h.Host = open(tb, o)
	return h
}

func (h *shelled) see(e host.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

// heard is what the observer was told of a kind of event.
func (h *shelled) heard(kind host.EventKind) []host.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return of(h.events, kind)
}

// syncBuffer is a log.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// bash is a call of Bash.
func bash(id, command string, more ...map[string]any) abi.ToolUse {
	input := map[string]any{"command": command}
	for _, m := range more {
		maps.Copy(input, m)
	}
	text, err := json.Marshal(input)
	if err != nil {
		panic(err) // it is plain data
	}
	return abi.ToolUse{ID: id, Name: "Bash", Input: text}
}

var inBackground = map[string]any{"run_in_background": true}

// told runs one command, and returns what the model is told.
func told(tb testing.TB, s *host.Session, command string, more ...map[string]any) string {
	tb.Helper()
	results := s.Results(tb.Context(), []abi.ToolUse{bash("1", command, more...)})
	return strings.TrimRight(results[0].Text(), "\n")
}

// TestCommandEnvironment has a command see what is named, and nothing else.
func TestCommandEnvironment(t *testing.T) {
	t.Parallel()
	s := session(t, newShelled(t, func(o *host.Options) {
		o.Shell.Environment = []string{"TOOL_*"}
		o.Shell.Environ = append(o.Shell.Environ, "TOOL_CHAIN=go", "PAGER=less", "TERM=xterm", "LC_TIME=C")
	}).Host, host.SessionOptions{})
	got := told(t, s, "python3 -c 'import os; print(*sorted(os.environ.items()))' || env")
	for _, want := range []string{"TOOL_CHAIN", "LC_TIME", "dumb", "GIT_TERMINAL_PROMPT"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if strings.Contains(got, "4711-marker") || strings.Contains(got, "less") || strings.Contains(got, "xterm") {
		t.Errorf("a command got %s", got)
	}
}

// TestCwd has the session follow a shell that ends in another of its directories, and
// nowhere else. A link to its directory is one, too.
func TestCwd(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	root, further := files(t, map[string]string{"work/sub/a": "a"}), files(t, map[string]string{"deep/b": "b"})
	link := filepath.Join(root, "link")
	must(t, os.Symlink(filepath.Join(root, "work"), link))
	s := session(t, h.Host, host.SessionOptions{Cwd: link, AdditionalDirs: []string{further}})
	for _, step := range []struct{ command, want, cwd string }{
		{"pwd", root + "/work", link},
		{"cd .. && pwd", "outside the session's directories", link},
		{"cd sub; cat a", "a", "work/sub"},
		{"cat a; touch made", "a", "work/sub"},
		{"cd /", "outside the session's directories", "work/sub"},
		{"cd " + further + "/deep && cat b && touch c", "b", further + "/deep"},
		{"cd " + root + "/work", "", "work"},
	} {
		got := told(t, s, step.command)
		if !strings.Contains(got, step.want) {
			t.Errorf("%s: got %q", step.command, got)
		}
		cwd := step.cwd
		if !filepath.IsAbs(cwd) {
			cwd = filepath.Join(root, cwd)
		}
		if s.Cwd() != cwd {
			t.Errorf("%s: the session is in %s, not in %s", step.command, s.Cwd(), cwd)
		}
	}
}

// TestCwdOfFailure has the session follow a shell whose command fails, too, and the model
// told of another directory only where the next command begins there.
func TestCwdOfFailure(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) { o.Shell.Time.AtLimit = shell.LimitKill })
	for _, test := range []struct{ command, want, cwd string }{
		{"cd sub && false", "exit status 1", "sub"},
		{"cd sub; exit 3", "exit status 3", "sub"},
		{"(cd sub; exit 3)", "exit status 3", ""},
		{"cd sub; cat nonesuch", "exit status 1", "sub"},
		{"false && cd sub", "exit status 1", ""},
		{"tail -f a && cd sub", "ended at its time limit", ""},
		{"cd sub; tail -f a", "ended at its time limit", "*"}, // as far as the shell can still tell
		{"cd sub; kill -9 $$", "SIGKILL", ""},
	} {
		t.Run(test.command, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{"a": "a", "sub/a": "a"})
			s := session(t, h.Host, host.SessionOptions{Cwd: dir})
			var more []map[string]any
			if strings.Contains(test.want, "time limit") {
				more = append(more, map[string]any{"timeout": 300})
			}
			got, next := told(t, s, test.command, more...), told(t, s, "pwd")
			if !strings.Contains(got, test.want) || strings.Contains(got, "the working directory is now "+next) != (next != dir) {
				t.Errorf("the model is told %q, and the next command begins in %s", got, next)
			}
			if want := filepath.Join(dir, test.cwd); test.cwd != "*" && next != want {
				t.Errorf("the next command begins in %q, not in %q", next, want)
			}
		})
	}
}

// TestWaitingIsNotAskedAbout refuses a command that begins with a sleep before a person
// is asked about it, and before hooks hear of it.
func TestWaitingIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	var hooked atomic.Int32
	h := newShelled(t, func(o *host.Options) {
		o.Permissions.Rules = nil
		o.Shell.PowerShell = "/bin/sh" // which is never reached
		o.Permissions.Hooks = hookSet(t, hooks.Hook{Event: hooks.PreToolUse, Func: func(context.Context, hooks.Input) (hooks.Output, error) {
			hooked.Add(1)
			return hooks.Output{}, nil
		}})
	})
	person := yes()
	s := session(t, h.Host, host.SessionOptions{Asker: person})
	for command, more := range map[string]map[string]any{
		"sleep 5":                  nil,
		"sleep 5; touch a":         nil,
		"sleep 5; cat /etc/passwd": {"run_in_background": false},
	} {
		got := told(t, s, command, more)
		if !strings.Contains(got, "call Sleep with a duration_ms of 5000") || person.asked.Load() != 0 || hooked.Load() != 0 {
			t.Errorf("%s: asked %d times, hooked %d times: %s", command, person.asked.Load(), hooked.Load(), got)
		}
	}
	r, _ := one(t, s, "PowerShell", `{"command":"Start-Sleep -Seconds 5; Remove-Item a"}`)
	if !strings.Contains(r.Text(), "call Sleep with a duration_ms of 5000") || person.asked.Load() != 0 || hooked.Load() != 0 {
		t.Errorf("PowerShell: asked %d times, hooked %d times: %s", person.asked.Load(), hooked.Load(), r.Text())
	}
	if got := told(t, s, "sleep 5; echo ended", inBackground); !strings.Contains(got, "as task b") || person.asked.Load() != 1 {
		t.Errorf("asked %d times: %s", person.asked.Load(), got)
	}
}

// TestCommandsSideBySide has commands that only read run beside each other, and others
// alone.
func TestCommandsSideBySide(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	for name, test := range map[string]struct {
		commands []string
		want     string // the calls' ids, by when they started and ended
	}{
		"reading":  {[]string{"cat fifo", "cat a"}, "1< 2< 2> 1>"},
		"moving":   {[]string{"cat a && cd sub", "cat a"}, "1< 1> 2< 2>"},
		"changing": {[]string{"touch b", "cat a"}, "1< 1> 2< 2>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{"a": "a", "sub/a": "a"})
			s := session(t, h.Host, host.SessionOptions{Cwd: dir})
			// A reader of the FIFO waits until the other call has ended, and somebody writes.
			if name == "reading" {
				fifo(t, filepath.Join(dir, "fifo"))
			}
			var got []string
			st := s.Stream(t.Context())
			heard := listen(t, st.Events())
			for i, command := range test.commands {
				must(t, st.Add(bash(string(rune('1'+i)), command)))
			}
			st.Close()
			if name == "reading" {
				heard.await(host.EventFinished, "2")
				must(t, os.WriteFile(filepath.Join(dir, "fifo"), []byte("x"), 0o600))
			}
			for _, e := range heard.all() {
				switch e.Kind {
				case host.EventStarted:
					got = append(got, e.CallID+"<")
				case host.EventFinished:
					got = append(got, e.CallID+">")
					if e.Result.IsError {
						t.Errorf("call %s: %s", e.CallID, e.Result.Text())
					}
				}
			}
			if name == "reading" {
				slices.SortFunc(got[:2], strings.Compare) // they start at once
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %v, want %s", got, test.want)
			}
		})
	}
}

// TestCommandsCascade has one command's failure end those beside it, and nothing else.
func TestCommandsCascade(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a": "a"})
	fifo(t, filepath.Join(dir, "fifo"))
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	results := s.Results(t.Context(), []abi.ToolUse{
		bash("1", "cat fifo"), bash("2", "cat missing"), use("3", "Read", `{"file_path":"a"}`),
	})
	wantError(t, results[0], abi.CodeCancelled, "Cancelled: parallel tool call Bash", "cat missing")
	if !results[1].IsError || results[2].IsError {
		t.Errorf("got %q and %q", results[1].Text(), results[2].Text())
	}
}

// nobody must not be asked.
type nobody struct{ testing.TB }

func (nobody) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (n nobody) Ask(context.Context, host.Question) (host.Reply, error) {
	n.Error("somebody was asked")
	return host.Reply{}, nil
}

// TestStaleAfterCommand tells the model that a command changed what it has read.
func TestStaleAfterCommand(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n"})
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits})
	answers(t, s, "Read", map[string]any{"file_path": "a.txt"})
	answers(t, s, "Read", map[string]any{"file_path": "b.txt"})
	got := told(t, s, "echo more >> a.txt")
	if !strings.Contains(got, "out of date: "+filepath.Join(dir, "a.txt")+". ") {
		t.Errorf("got %q", got)
	}
	edit := map[string]any{"file_path": "a.txt", "old_string": "one", "new_string": "1"}
	if got := answers(t, s, "Edit", edit); !strings.Contains(got, "ERROR") || !strings.Contains(got, "changed") {
		t.Errorf("it was edited: %q", got)
	}
	if got := told(t, s, "true"); got != "(Bash completed with no output)" {
		t.Errorf("it is told again: %q", got)
	}
}

// TestInterruptedCommand has the result of a call at once whose command does not heed
// signals, and the next turn when nothing of that command is left.
func TestInterruptedCommand(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	for name, end := range map[string]func(st *host.Stream, cancel func()){
		"interrupt": func(st *host.Stream, _ func()) { st.Interrupt() },
		"cancel":    func(_ *host.Stream, cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testenv.InTime(t, 100*time.Millisecond, func() time.Duration {
				dir := t.TempDir()
				s := session(t, h.Host, host.SessionOptions{Cwd: dir})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				st := s.Stream(ctx)
				heard := listen(t, st.Events())
				must(t, st.Add(bash("1", "trap '' TERM INT; touch begun; while :; do touch alive; sleep 0.01; done")))
				st.Close()
				appears(t, filepath.Join(dir, "begun"))
				ended := time.Now()
				end(st, cancel)
				heard.all()
				took := time.Since(ended)
				if got := told(t, s, "rm -f alive; sleep 0.1; ls"); got != "begun" {
					t.Errorf("after it: %q", got)
				}
				return took
			})
		})
	}
}

// appears waits for a file.
func appears(tb testing.TB, path string) {
	tb.Helper()
	soon(tb, path, func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// TestGitEvent tells of a commit as a part of its call.
func TestGitEvent(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) { o.Shell.Sandbox.Mode = sandbox.Off })
	dir := repository(t)
	s := session(t, h.Host, host.SessionOptions{Cwd: dir})
	events := slices.Collect(s.Run(t.Context(), []abi.ToolUse{bash("1", commit)}))
	var got []string
	for _, e := range events {
		if e.CallID == "1" && e.Kind != host.EventProgress && e.Kind != host.EventDecided {
			got = append(got, string(e.Kind))
		}
	}
	if want := "queued started deed capability finished result"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s: %s", got, want, resultsOf(events)["1"].Content[0].Text)
	}
	for _, e := range of(events, host.EventGit) {
		if d := e.Git; d.Kind != capability.GitCommit || d.Subject != "First of all" || d.Call.ID != "1" || e.Turn == "" {
			t.Errorf("the deed is %+v", d)
		}
	}
}

const commit = "git -c user.name=a -c user.email=a@example.com commit --allow-empty -m 'First of all'"

// repository makes an empty one.
func repository(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	must(tb, exec.Command(testenv.NeedTool(tb, "git"), "init", "-q", "-b", "main", dir).Run())
	return dir
}

// TestNoSandbox runs commands where none is needed, says once that there is none where
// one was wanted, and refuses them where one is required.
func TestNoSandbox(t *testing.T) {
	t.Parallel()
	none := func(mode sandbox.Mode) func(o *host.Options) {
		return func(o *host.Options) {
			o.Shell.Sandbox.Mode = mode
			o.Shell.Sandbox.State = filepath.Join(o.Paths.Home, "state/file/below") // where nothing can be made
		}
	}
	for mode, warnings := range map[sandbox.Mode]int{sandbox.Off: 0, sandbox.WhenAvailable: 1, sandbox.Required: 0} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			h := newShelled(t, none(mode))
			must(t, os.MkdirAll(filepath.Join(h.home, "state"), 0o700))
			must(t, os.WriteFile(filepath.Join(h.home, "state/file"), nil, 0o600))
			s := session(t, h.Host, host.SessionOptions{})
			for range 2 {
				result, _ := one(t, s, "Bash", `{"command":"echo hi"}`)
				if mode == sandbox.Required {
					wantError(t, result, abi.CodeDenied, "the settings require one")
				} else if got := strings.TrimSpace(result.Text()); got != "hi" {
					t.Errorf("got %q", got)
				}
			}
			if n := strings.Count(h.log.String(), "no command is confined"); n != warnings {
				t.Errorf("the log has %s", h.log)
			}
		})
	}
}

// TestZeroShell confines commands by default, and leaves nothing behind.
func TestZeroShell(t *testing.T) {
	testenv.NeedTool(t, "bwrap")
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	h := open(t, host.Options{Builtins: true, Permissions: host.PermissionOptions{Rules: rules("", "", "Bash")}, Shell: &host.Shell{}})
	s := session(t, h, host.SessionOptions{})
	result, _ := one(t, s, "Bash", `{"command":"touch /etc/made; touch /tmp/made && chmod 0 /tmp/made && mkdir /tmp/closed && touch /tmp/closed/a && chmod 0 /tmp/closed"}`)
	if !strings.Contains(result.Text(), "Read-only file system") {
		t.Errorf("got %q", result.Text())
	}
	must(t, h.Close(t.Context()))
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("%v was left, %v", left, err)
	}
}

// TestClosedWhileACommandRuns ends it with its session, and removes what it wrote to.
func TestClosedWhileACommandRuns(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	dir := t.TempDir()
	s := session(t, h.Host, host.SessionOptions{Cwd: dir})
	st := s.Stream(t.Context())
	heard := listen(t, st.Events())
	must(t, st.Add(bash("1", "trap '' TERM; touch alive begun; while :; do touch alive /tmp/a; rm /tmp/a; done")))
	appears(t, filepath.Join(dir, "begun"))
	must(t, s.Close(t.Context()))
	wantError(t, resultsOf(heard.all())["1"], abi.CodeCancelled)
	must(t, os.Remove(filepath.Join(dir, "alive")))
	time.Sleep(50 * time.Millisecond)
	if _, err := os.Stat(filepath.Join(dir, "alive")); err == nil {
		t.Error("the command runs on")
	}
	_, err := h.NewSession(host.SessionOptions{Cwd: dir})
	must(t, err)
}

// TestOpeningAndClosing makes and closes what commands take while others use it.
func TestOpeningAndClosing(t *testing.T) {
	t.Parallel()
	for range 5 {
		h := newShelled(t)
		s := session(t, h.Host, host.SessionOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		gaveUp := s.Results(ctx, []abi.ToolUse{bash("0", "touch a")})
		wantError(t, gaveUp[0], abi.CodeCancelled)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { s.Results(t.Context(), []abi.ToolUse{bash("1", "touch a"), bash("2", "cat a")}) })
		}
		all.Go(func() {
			if err := h.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
	}
}

// fifo makes a FIFO, for commands that wait.
func fifo(tb testing.TB, path string) {
	tb.Helper()
	must(tb, exec.Command(testenv.NeedTool(tb, "mkfifo"), path).Run())
}
