//go:build unix

package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// shell runs one line before a call, in a directory of its own.
func shell(t *testing.T, line string, change ...func(*hooks.Hook)) hooks.Outcome {
	t.Helper()
	testenv.NeedTool(t, "sh")
	h := hooks.Hook{Event: hooks.PreToolUse, Name: "h", Shell: line, Dir: t.TempDir()}
	for _, c := range change {
		c(&h)
	}
	set, err := hooks.Compile([]hooks.Hook{h}, hooks.Options{Environ: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	return set.PreToolUse(t.Context(), call())
}

func TestHowCommandsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line    string
		verdict permissions.Verdict
		exit    int
		reason  string
	}{
		{`true`, permissions.None, 0, ""},
		{`cat >/dev/null; echo '{"decision":"allow","reason":"fine"}'`, permissions.Allow, 0, "says allow: fine"},
		{`echo '{"decision":"allow"}'; exit 1`, permissions.Ask, 1, "exit status 1"},
		{`echo '{"decision":"allow"}'; echo why >&2; exit 2`, permissions.Deny, 2, "says deny: why"},
		{`exit 2`, permissions.Deny, 2, "and not why"},
		{`printf 'a\377b\n' >&2; exit 2`, permissions.Deny, 2, "a\uFFFDb"},
		{`echo oops >&2; exit 3`, permissions.Ask, 3, "(exit status 3): oops"},
		{`exit 127`, permissions.Ask, 127, "127"},
		{`kill -9 $$`, permissions.Ask, -1, "killed"},
		{`echo '{"decision":"allow"}'; kill -15 $$`, permissions.Ask, -1, "terminated"},
		{`echo all is well`, permissions.Ask, 0, "something else than an answer in JSON"},
		{`echo '{"decision":"allow"}'; echo trailing`, permissions.Ask, 0, "something else"},
		{`exec <&-; echo '{"decision":"allow"}'`, permissions.Allow, 0, "allow"},
		{`yes`, permissions.Ask, -1, "more than 1048576 bytes"},
		{`trap '' PIPE; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`, permissions.Ask, -1, "more than"},
		{`yes | head -c 200000 >&2; exit 2`, permissions.Deny, 2, "(cut: "},
	} {
		o := shell(t, c.line)
		if o.Verdict != c.verdict || !strings.Contains(o.Reason, c.reason) || o.Records[0].Exit != c.exit || len(o.Reason) > 64<<10 {
			t.Errorf("%s: got %v, exit %d, %.300q", c.line, o.Verdict, o.Records[0].Exit, o.Reason)
		}
	}
}

func TestCommandsAfterTheCall(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	var list []hooks.Hook
	for _, line := range []string{
		`echo tests fail >&2; exit 2`, `echo oops >&2; exit 1`, `echo nonsense`,
		`echo '{"decision":"block","reason":"style","hookSpecificOutput":{"updatedOutput":"new"}}'`,
	} {
		list = append(list, hooks.Hook{Event: hooks.PostToolUseFailure, Name: "h", Shell: line})
	}
	set, err := hooks.Compile(list, hooks.Options{Project: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	o := set.PostToolUseFailure(t.Context(), call())
	if fmt.Sprint(o.Feedback) != `[hook "h": tests fail hook "h": style]` || o.Verdict != permissions.None || len(o.UpdatedOutput) != 1 {
		t.Errorf("got %+v", o)
	}
	if len(o.Messages) != 2 || !strings.Contains(o.Messages[0], "exit status 1): oops") || !strings.Contains(o.Messages[1], "something else") {
		t.Errorf("messages %q", o.Messages)
	}
}

func TestCommandsThatCannotStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "not-executable")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*hooks.Hook){
		"no program":      func(h *hooks.Hook) { h.Command, h.Shell = []string{"toolquay-no-such-program"}, "" },
		"no directory":    func(h *hooks.Hook) { h.Dir = "/toolquay/no/such" },
		"not executable":  func(h *hooks.Hook) { h.Command, h.Shell = []string{file}, "" },
		"a NUL in a word": func(h *hooks.Hook) { h.Command, h.Shell = []string{"echo", "a\x00b"}, "" },
	} {
		o := shell(t, "true", change)
		if o.Verdict != permissions.Ask || !strings.Contains(o.Reason, "it cannot be started") || o.Records[0].Exit != -1 {
			t.Errorf("%s: got %v, %q", name, o.Verdict, o.Reason)
		}
	}
}

func TestArgumentsAreNoShell(t *testing.T) {
	t.Parallel()
	o := shell(t, "", func(h *hooks.Hook) {
		h.Command = []string{"printf", "%s", `{"systemMessage":"$HOME; \"quoted\" *"}`}
	})
	if len(o.Messages) != 1 || !strings.HasSuffix(o.Messages[0], `$HOME; "quoted" *`) {
		t.Errorf("got %q, %v, %q", o.Messages, o.Verdict, o.Reason)
	}
}

func TestTheDocument(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	dir := t.TempDir()
	document := func(e hooks.Event, in hooks.Input) map[string]any {
		t.Helper()
		file := filepath.Join(dir, string(e))
		set, err := hooks.Compile([]hooks.Hook{{Event: e, Command: []string{"sh", "-c", `cat >"$0"`, file}}}, hooks.Options{Project: dir})
		if err != nil {
			t.Fatal(err)
		}
		run := map[hooks.Event]func(context.Context, hooks.Input) hooks.Outcome{
			hooks.PreToolUse: set.PreToolUse, hooks.PostToolUse: set.PostToolUse, hooks.PostToolUseFailure: set.PostToolUseFailure,
			hooks.TaskCreated: func(ctx context.Context, in hooks.Input) hooks.Outcome { return set.During(ctx, hooks.TaskCreated, in) },
			hooks.TaskCompleted: func(ctx context.Context, in hooks.Input) hooks.Outcome {
				return set.During(ctx, hooks.TaskCompleted, in)
			},
		}[e]
		if o := run(t.Context(), in); o.Records[0].Err != nil {
			t.Fatal(o.Records[0].Err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		return got
	}
	in := call()
	in.ToolInput = json.RawMessage(`{"command":"echo <a> && é"}`)
	in.Server, in.ServerTool = "box", "run it"
	common := map[string]any{
		"session_id": "s1", "turn_id": "t1", "agent": "a1", "team": "red", "chain": "ch", "parent": "p1", "depth": 2.0, "cwd": "/", "permission_mode": "default", "tool_name": "Bash",
		"tool_input": map[string]any{"command": "echo <a> && é"}, "tool_use_id": "c1", "plugin": "shell", "mcp_server": "box", "mcp_tool": "run it", "binding": "abc",
	}
	expect := func(got map[string]any, more map[string]any) {
		t.Helper()
		for _, part := range []map[string]any{common, more} {
			for key, want := range part {
				if fmt.Sprint(got[key]) != fmt.Sprint(want) {
					t.Errorf("%s is %v, not %v", key, got[key], want)
				}
			}
		}
		if len(got) != len(common)+len(more) {
			t.Errorf("got %v", got)
		}
	}
	expect(document(hooks.PreToolUse, in), map[string]any{"hook_event_name": "PreToolUse"})
	in.Task = &abi.WorkItem{ID: "3", Subject: "Fix <it>", Status: abi.WorkPending}
	expect(document(hooks.TaskCreated, in), map[string]any{"hook_event_name": "TaskCreated", "task_id": "3", "task_subject": "Fix <it>"})
	in.Task.Description, in.Task.Owner = "All\nof it", "eve"
	expect(document(hooks.TaskCompleted, in), map[string]any{
		"hook_event_name": "TaskCompleted", "task_id": "3", "task_subject": "Fix <it>", "task_description": "All\nof it", "task_owner": "eve",
	})
	in.Result = &abi.ToolResult{
		Content: []abi.Block{
			abi.TextBlock("out"), {Type: abi.BlockImage, MediaType: "image/png", Data: []byte{1, 2, 3}},
			{Type: abi.BlockText, Spilled: &abi.Spilled{Path: "/s/1.txt", Bytes: 5_000_000, Head: "begins", Tail: "ends"}},
		},
		Structured: json.RawMessage(`{"n":1}`), IsError: true,
	}
	in.Err = abi.Errorf(abi.CodeCancelled, "given up")
	expect(document(hooks.PostToolUse, in), map[string]any{
		"hook_event_name": "PostToolUse",
		"tool_response": map[string]any{
			"content": []any{
				map[string]any{"type": "text", "text": "out"},
				map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": "AQID"}},
				map[string]any{"type": "text", "text": "begins", "whole": map[string]any{"path": "/s/1.txt", "bytes": 5e6}},
			},
			"is_error": true, "structured": map[string]any{"n": 1},
		},
	})
	expect(document(hooks.PostToolUseFailure, in), map[string]any{
		"hook_event_name": "PostToolUseFailure", "error": "given up", "error_code": "cancelled", "is_interrupt": false,
	})
	in.Err = abi.Errorf(abi.CodeInterrupted, "the user interrupted")
	expect(document(hooks.PostToolUseFailure, in), map[string]any{
		"hook_event_name": "PostToolUseFailure", "error": "the user interrupted", "error_code": "interrupted", "is_interrupt": true,
	})
}

func TestTheEnvironment(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "env")
	dir := t.TempDir()
	set, err := hooks.Compile([]hooks.Hook{{
		Event: hooks.PreToolUse, Shell: "env >vars", Env: []string{"EXTRA", "ABSENT", "TOOLQUAY_TOOL"},
	}}, hooks.Options{Project: dir, Environ: []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C", "LC_ALL=C", "EXTRA=more", "API_KEY=secret", "LD_PRELOAD=x", "LC_SECRET=secret",
		"path=lower", "TOOLQUAY_TOOL=forged", "TOOLQUAY_KEY=secret", "nonsense",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if o := set.PreToolUse(t.Context(), call()); o.Verdict != permissions.None {
		t.Fatal(o.Reason)
	}
	data, err := os.ReadFile(filepath.Join(dir, "vars"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		got[name] = value
	}
	delete(got, "_")     // set by some shells
	delete(got, "SHLVL") // likewise
	delete(got, "OLDPWD")
	want := map[string]string{
		"PATH": os.Getenv("PATH"), "LANG": "C", "LC_ALL": "C", "EXTRA": "more", "PWD": dir,
		"TOOLQUAY_HOOK_EVENT": "PreToolUse", "TOOLQUAY_TOOL": "Bash", "TOOLQUAY_SESSION_ID": "s1",
		"TOOLQUAY_CWD": "/", "TOOLQUAY_PROJECT_DIR": dir,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// alive reports whether a process runs: one that only waits to be reaped does not.
func alive(t *testing.T, pid int) bool {
	t.Helper()
	if runtime.GOOS == "linux" {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return false
		}
		state := stat[bytes.LastIndexByte(stat, ')')+2]
		return state != 'Z' && state != 'X'
	}
	return syscall.Kill(pid, 0) == nil
}

// pids reads the process ids that a hook has written down.
func pids(t *testing.T, file string, n int) []int {
	t.Helper()
	for began := time.Now(); time.Since(began) < testenv.Patience; time.Sleep(5 * time.Millisecond) {
		data, _ := os.ReadFile(file) // it is not there at first
		if words := strings.Fields(string(data)); len(words) == n && bytes.HasSuffix(data, []byte("\n")) {
			out := make([]int, n)
			for i, word := range words {
				var err error
				if out[i], err = strconv.Atoi(word); err != nil {
					t.Fatal(err)
				}
			}
			return out
		}
	}
	t.Fatalf("%s does not come", file)
	return nil
}

// reaped fails where one of our children has ended and is still there.
func reaped(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the command is still there (%v)", err)
	}
}

func gone(t *testing.T, pid int) {
	t.Helper()
	for began := time.Now(); alive(t, pid); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > testenv.Patience {
			t.Fatalf("the process %d still runs", pid)
		}
	}
}

func TestTimeOutEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	const limit = 300 * time.Millisecond
	testenv.InTime(t, limit+time.Second, func() time.Duration {
		file := filepath.Join(t.TempDir(), "pids")
		var o hooks.Outcome
		took := testenv.Took(func() {
			// A grandchild holds the pipes; neither heeds a polite signal.
			o = shell(t, `trap '' TERM HUP INT; sleep 1000 & echo $$ $! >`+file+`; echo '{"decision":"allow"}'; wait`,
				func(h *hooks.Hook) { h.Timeout = limit })
		})
		if o.Verdict != permissions.Ask || !strings.Contains(o.Reason, "longer than its limit of 300ms") || o.Records[0].Exit != -1 {
			t.Errorf("got %v, %q", o.Verdict, o.Reason)
		}
		if ids, err := os.ReadFile(file); err == nil && len(ids) > 0 {
			p := pids(t, file, 2)
			reaped(t, p[0])
			gone(t, p[1])
		}
		return took
	})
}

func TestCancelEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	testenv.InTime(t, 100*time.Millisecond, func() time.Duration {
		file := filepath.Join(t.TempDir(), "pids")
		set, err := hooks.Compile([]hooks.Hook{{Event: hooks.PreToolUse, Shell: `sleep 1000 & echo $$ $! >` + file + `; wait`}},
			hooks.Options{Project: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan hooks.Outcome, 1)
		go func() { done <- set.PreToolUse(ctx, call()) }()
		p := pids(t, file, 2)
		var o hooks.Outcome
		took := testenv.Took(func() {
			cancel(errors.New("the user left"))
			o = <-done
		})
		if o.Verdict != permissions.Ask || !strings.Contains(o.Reason, "the user left") {
			t.Errorf("got %v, %q", o.Verdict, o.Reason)
		}
		reaped(t, p[0])
		gone(t, p[1])
		return took
	})
}

// What has left the group cannot be killed with it, and must not be waited for.
func TestAHeldPipeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "setsid")
	const timedOut = "timed out"
	for name, c := range map[string]struct {
		line, reason string
		verdict      permissions.Verdict
	}{
		timedOut:        {`setsid sleep 1000 & echo $! >%s; sleep 1000`, "longer than its limit", permissions.Ask},
		"ended":         {`sleep 1000 & echo $! >%s; echo '{"decision":"allow"}'`, "holds its output open", permissions.Ask},
		"said nothing":  {`sleep 1000 & echo $! >%s`, "holds its output open", permissions.Ask},
		"denied":        {`sleep 1000 & echo $! >%s; echo no >&2; exit 2`, "no", permissions.Deny},
		"in background": {`sleep 1000 >/dev/null 2>&1 & echo $! >%s; echo '{"decision":"allow"}'`, "", permissions.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testenv.InTime(t, 2*time.Second, func() time.Duration {
				file := filepath.Join(t.TempDir(), "pids")
				var o hooks.Outcome
				took := testenv.Took(func() {
					o = shell(t, fmt.Sprintf(c.line, file), func(h *hooks.Hook) {
						if h.Timeout = testenv.Patience; name == timedOut {
							h.Timeout = time.Second
						}
					})
				})
				if o.Verdict != c.verdict || !strings.Contains(o.Reason, c.reason) {
					t.Errorf("got %v, %q", o.Verdict, o.Reason)
				}
				if ids, _ := os.ReadFile(file); len(ids) == 0 && name == timedOut {
					return testenv.Patience // its time was over before it began
				}
				if err := syscall.Kill(pids(t, file, 1)[0], syscall.SIGKILL); err != nil && name != timedOut {
					t.Errorf("what runs in the background was ended: %v", err)
				}
				return took
			})
		})
	}
}

func TestNothingLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		shell(t, `sleep 1000`, func(h *hooks.Hook) { h.Timeout = 20 * time.Millisecond })
		shell(t, `echo '{}'`)
		shell(t, `yes`)
	}
	for began := time.Now(); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > testenv.Patience {
			t.Fatalf("%d goroutines became %d", before, runtime.NumGoroutine())
		}
	}
}

func TestALargeInputReachesAHookThatDoesNotRead(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	set, err := hooks.Compile([]hooks.Hook{{Event: hooks.PreToolUse, Shell: `echo '{"decision":"allow"}'`}}, hooks.Options{Project: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	in := call()
	in.ToolInput = json.RawMessage(`{"content":"` + strings.Repeat("x", 4<<20) + `"}`)
	if o := set.PreToolUse(t.Context(), in); o.Verdict != permissions.Allow {
		t.Errorf("got %v, %q", o.Verdict, o.Reason)
	}
}
