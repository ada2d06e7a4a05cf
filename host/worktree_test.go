package host_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// withTree opens a host whose sessions may make worktrees, in a place of the host's own, and a
// repository with a commit of a file.
func withTree(t *testing.T, change ...func(o *host.Options)) (h *shelled, main string) {
	t.Helper()
	h = newShelled(t, append([]func(*host.Options){func(o *host.Options) {
		o.Storage.Worktrees = filepath.Join(o.Paths.Home, "state/worktrees")
	}}, change...)...)
	main, err := filepath.EvalSymlinks(files(t, map[string]string{"a.txt": "one\n", "secret/key": "hunter2\n"}))
	must(t, err)
	configured(t, main)
	gitIn(t, main, "add", "-A")
	gitIn(t, main, "commit", "-q", "-m", "one")
	return h, main
}

// entered has a session enter a worktree, and returns where that is.
func entered(t *testing.T, s *host.Session, input string) string {
	t.Helper()
	path, _ := fields(t, call(t, s, "EnterWorktree", input))["worktreePath"].(string)
	if s.Cwd() != path || path == "" {
		t.Fatalf("the session is in %s, and was to be in %q", s.Cwd(), path)
	}
	return path
}

// TestWorktreeInSandbox works in a worktree under the sandbox as a person would, keeps it, and
// removes another one.
func TestWorktreeInSandbox(t *testing.T) {
	t.Parallel()
	h, main := withTree(t)
	s := session(t, h.Host, host.SessionOptions{Cwd: main, Mode: permissions.ModeAcceptEdits, Asker: yes()})
	tree := entered(t, s, `{"name":"fix/login"}`)
	call(t, s, "Write", `{"file_path":"b.txt","content":"two\n"}`) // which the mode allows in there
	for _, step := range []struct{ command, want string }{
		{"pwd; git status --short", tree + "\n?? b.txt"},
		{"git add -A && git commit -qm two && git log --format=%s", "two\none"},
		{"git checkout -qb side && echo x > c.txt && git add c.txt && git commit -qm side && git checkout -q worktree/fix/login && echo y > d.txt && git add d.txt && git commit -qm three && git rebase -q worktree/fix/login side && git log --format=%s", "side\nthree\ntwo\none"},
		{"git checkout -q worktree/fix/login && echo z >> a.txt && git stash -q && cat a.txt && git stash pop -q && cat a.txt && git checkout -q a.txt", "one\none\nz"},
		{"git branch -D side && git branch --format='%(refname:short)'", "main\nworktree/fix/login"},
		{"d=$(printf %s " + filepath.Dir(tree) + "); ls -A $d; echo end", "fix+login\nend"},
		{"d=$(printf %s " + filepath.Join(main, ".git/hooks") + "); echo evil > $d/pre-commit || echo kept", "kept"},
		{"f=$(printf %s " + filepath.Join(main, "a.txt") + "); echo evil > $f; echo end", "end"},
	} {
		if got := told(t, s, step.command); !strings.Contains(got, step.want) {
			t.Errorf("%s\ngot  %q\nwant %q", step.command, got, step.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(main, "a.txt")); err != nil || string(got) != "one\n" {
		t.Errorf("a command changed the main worktree: %q, %v", got, err)
	}
	r, _ := one(t, s, "ExitWorktree", `{"action":"remove"}`)
	if !r.IsError || !strings.Contains(r.Text(), "2 committed nowhere else") || s.Cwd() != tree {
		t.Errorf("removed what would be lost: %s", r.Text())
	}
	r, events := one(t, s, "ExitWorktree", `{"action":"keep"}`)
	if got := fields(t, r); got["originalCwd"] != main || got["worktreeBranch"] != "worktree/fix/login" || s.Cwd() != main {
		t.Errorf("left for %s: %v", s.Cwd(), got)
	}
	if news := of(events, host.EventWorktree); len(news) != 1 || *news[0].Worktree != (capability.WorktreeNews{Change: capability.WorktreeKept, Path: tree, Branch: "worktree/fix/login"}) {
		t.Errorf("told %+v", news)
	}
	if changed := of(events, host.EventChanged); len(changed) != 1 || string(changed[0].Change.Value) != `"`+main+`"` {
		t.Errorf("told of changes: %+v", changed)
	}
	if got := told(t, s, "git log --format=%s worktree/fix/login; cat b.txt"); !strings.Contains(got, "three\ntwo\none") || strings.Contains(got, "\ntwo\n\n") {
		t.Errorf("back in the main worktree: %q", got)
	}

	entered(t, s, `{}`)
	call(t, s, "Write", `{"file_path":"b.txt","content":"two\n"}`)
	told(t, s, "git add b.txt && git commit -qm lost && echo x > c.txt")
	call(t, s, "Read", `{"file_path":"b.txt"}`)
	r = call(t, s, "ExitWorktree", `{"action":"remove","discard_changes":true}`)
	if strings.Contains(r.Text(), "changed since") {
		t.Errorf("the model is to read again what it removed: %s", r.Text())
	}
	if got := fields(t, r); got["discardedFiles"] != 1.0 || got["discardedCommits"] != 1.0 || s.Cwd() != main {
		t.Errorf("removed: %v", got)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(tree), "*")); err != nil || len(left) != 2 { // it and its record
		t.Errorf("there is %q, %v", left, err)
	}
}

// TestWorktreeRules has what is denied in the main worktree be denied in another one, for tools and
// commands, and what is allowed there mean the other one.
func TestWorktreeRules(t *testing.T) {
	t.Parallel()
	h, main := withTree(t, func(o *host.Options) {
		o.Permissions.Rules = rules("Read(./secret/**)", "", "")
		o.Permissions.Rules[0].Allow = permissions.RuleTexts("Bash", "Edit(./a.txt)", "EnterWorktree")
	})
	s := session(t, h.Host, host.SessionOptions{Cwd: main})
	tree := entered(t, s, `{"name":"x"}`)
	if r, _ := one(t, s, "Read", `{"file_path":"secret/key"}`); !r.IsError || !strings.Contains(r.Text(), "Read(./secret/**)") {
		t.Errorf("read what is denied: %s", r.Text())
	}
	if got := told(t, s, "f=$(printf key); cat secret/$f"); strings.Contains(got, "hunter2") {
		t.Errorf("a command read what is denied: %s", got)
	}
	call(t, s, "Read", `{"file_path":"a.txt"}`)
	call(t, s, "Edit", `{"file_path":"a.txt","old_string":"one","new_string":"two"}`)
	if got, err := os.ReadFile(filepath.Join(tree, "a.txt")); err != nil || string(got) != "two\n" {
		t.Errorf("the worktree has %q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(main, "a.txt")); err != nil || string(got) != "one\n" {
		t.Errorf("the main worktree has %q, %v", got, err)
	}
	for _, input := range []string{`{"file_path":"` + main + `/a.txt","content":"x"}`, `{"file_path":".git","content":"x"}`, `{"file_path":"` + filepath.Dir(tree) + `/x","content":"x"}`} {
		if r, _ := one(t, s, "Write", input); !r.IsError {
			t.Errorf("wrote %s", input)
		}
	}
	if r, _ := one(t, s, "Read", `{"file_path":"`+filepath.Join(h.home, "state/worktrees", filepath.Base(filepath.Dir(tree)), ".x.json")+`"}`); !r.IsError {
		t.Errorf("read a record of the host's: %s", r.Text())
	}
}

// TestWorktreeModes asks before a worktree is made or removed, as before an edit, and for nothing
// else.
func TestWorktreeModes(t *testing.T) {
	t.Parallel()
	h, main := withTree(t)
	for mode, want := range map[permissions.Mode]struct {
		enters bool
		asked  int
	}{
		permissions.ModeDefault: {true, 2}, permissions.ModeAcceptEdits: {true, 0}, permissions.ModePlan: {false, 0}, permissions.ModeDontAsk: {false, 0}, permissions.ModeBypass: {true, 0},
	} {
		asker := &recorder{answer: func(context.Context, host.Question) (host.Reply, error) { return yesReply, nil }}
		s := session(t, h.Host, host.SessionOptions{Cwd: main, Mode: mode, Asker: asker})
		r, _ := one(t, s, "EnterWorktree", `{}`)
		if r.IsError == want.enters {
			t.Errorf("%s: %s", mode, r.Text())
		}
		if want.enters {
			call(t, s, "ExitWorktree", `{"action":"keep"}`)
			call(t, s, "EnterWorktree", `{}`)
			left := fields(t, call(t, s, "ExitWorktree", `{"action":"remove"}`))
			if left["action"] != "remove" {
				t.Errorf("%s: %v", mode, left)
			}
			want.asked += min(want.asked, 1) // it entered twice
		}
		if n := len(asker.all); n > 0 && (!strings.Contains(asker.all[0].Approval.Preview, "on a new branch worktree/") || !strings.Contains(asker.all[n-1].Approval.Preview, "Nothing is lost with "+h.home)) {
			t.Errorf("%s: the person is told %q and %q", mode, asker.all[0].Approval.Preview, asker.all[n-1].Approval.Preview)
		}
		if got := len(asker.all); got != want.asked {
			t.Errorf("%s: asked %d times, not %d", mode, got, want.asked)
		}
	}
	s := session(t, h.Host, host.SessionOptions{Cwd: main})
	if r, _ := one(t, s, "EnterWorktree", `{}`); !r.IsError || !strings.Contains(r.Text(), "EnterWorktree") {
		t.Errorf("nobody was asked: %s", r.Text())
	}
}

// TestDiscardingIsAsked has a person asked before work is lost also where edits need no permission.
func TestDiscardingIsAsked(t *testing.T) {
	t.Parallel()
	h, main := withTree(t)
	asker := &recorder{answer: func(context.Context, host.Question) (host.Reply, error) { return yesReply, nil }}
	s := session(t, h.Host, host.SessionOptions{Cwd: main, Mode: permissions.ModeAcceptEdits, Asker: asker})
	entered(t, s, `{}`)
	call(t, s, "Write", `{"file_path":"b.txt","content":"two\n"}`)
	if len(asker.all) > 0 {
		t.Fatalf("asked %d times before", len(asker.all))
	}
	left := fields(t, call(t, s, "ExitWorktree", `{"action":"remove","discard_changes":true}`))
	if len(asker.all) != 1 || !strings.Contains(asker.all[0].Approval.Preview, "b.txt") || left["discardedFiles"] != 1.0 {
		t.Errorf("asked %d times: %v", len(asker.all), left)
	}
}

// TestWorktreeRefused refuses what cannot be, without asking anybody.
func TestWorktreeRefused(t *testing.T) {
	t.Parallel()
	h, main := withTree(t)
	asker := &recorder{answer: func(context.Context, host.Question) (host.Reply, error) { return yesReply, nil }}
	s := session(t, h.Host, host.SessionOptions{Cwd: main, Asker: asker})
	refused := func(tool, input, says string) {
		t.Helper()
		if r, _ := one(t, s, tool, input); !r.IsError || !strings.Contains(r.Text(), says) {
			t.Errorf("%s %s: %s; want %q", tool, input, r.Text(), says)
		}
	}
	refused("ExitWorktree", `{"action":"keep"}`, "in no worktree")
	refused("ExitWorktree", `{"action":"remove","discard_changes":true}`, "in no worktree")
	refused("ExitWorktree", `{"action":"lose"}`, "action")
	refused("EnterWorktree", `{"name":"../x"}`, "cannot be one of a worktree")
	refused("EnterWorktree", `{"name":"a\u001b[31mb"}`, "cannot be one of a worktree")
	refused("EnterWorktree", `{"name":"`+strings.Repeat("a", 65)+`"}`, "name")
	if len(asker.all) > 0 {
		t.Errorf("asked %d times", len(asker.all))
	}
	entered(t, s, `{"name":"x"}`)
	refused("EnterWorktree", `{"name":"y"}`, "already")
	other := session(t, h.Host, host.SessionOptions{Cwd: main, Asker: asker})
	if r, _ := one(t, other, "EnterWorktree", `{"name":"x"}`); !r.IsError || !strings.Contains(r.Text(), "choose another name") || other.Cwd() != main {
		t.Errorf("two sessions are in one worktree: %s", r.Text())
	}
	if r, _ := one(t, other, "ExitWorktree", `{"action":"remove"}`); !r.IsError {
		t.Errorf("left the worktree of another session: %s", r.Text())
	}
	if r, _ := one(t, session(t, h.Host, host.SessionOptions{Asker: asker}), "EnterWorktree", `{}`); !r.IsError || !strings.Contains(r.Text(), "no git repository") {
		t.Errorf("a worktree of nothing: %s", r.Text())
	}
}

// TestWorktreeOfBackground keeps a worktree while a background task runs that began in it.
func TestWorktreeOfBackground(t *testing.T) {
	t.Parallel()
	h, main := withTree(t)
	s := session(t, h.Host, host.SessionOptions{Cwd: main, Mode: permissions.ModeAcceptEdits})
	entered(t, s, `{}`)
	call(t, s, "Bash", `{"command":"sleep 600","run_in_background":true}`)
	r, _ := one(t, s, "ExitWorktree", `{"action":"remove","discard_changes":true}`)
	if !r.IsError || !strings.Contains(r.Text(), "background tasks run in the worktree") {
		t.Errorf("removed under a task: %s", r.Text())
	}
	_, err := s.StopTask(t.Context(), s.Tasks()[0].ID)
	must(t, err)
	call(t, s, "ExitWorktree", `{"action":"remove"}`)
}

// TestWorktreeResumed goes on in the worktree, with the next process, or says that it is gone.
func TestWorktreeResumed(t *testing.T) {
	t.Parallel()
	h, main := withTree(t)
	open := func() *host.Session {
		return session(t, h.Host, host.SessionOptions{ID: "one", Cwd: main, Mode: permissions.ModeAcceptEdits})
	}
	s := open()
	tree := entered(t, s, `{"name":"x"}`)
	must(t, s.Close(t.Context()))
	s = open()
	if s.Cwd() != tree {
		t.Fatalf("it goes on in %s", s.Cwd())
	}
	call(t, s, "Write", `{"file_path":"b.txt","content":""}`)
	if got := fields(t, call(t, s, "ExitWorktree", `{"action":"keep"}`))["originalCwd"]; got != main {
		t.Errorf("it goes back to %v", got)
	}
	must(t, s.Close(t.Context()))
	if s = open(); s.Cwd() != main {
		t.Errorf("it left, and goes on in %s", s.Cwd())
	}
	tree = entered(t, s, `{"name":"y"}`)
	must(t, s.Close(t.Context()))
	must(t, os.RemoveAll(tree))
	s = open()
	if s.Cwd() != main {
		t.Errorf("it is gone, and the session goes on in %s", s.Cwd())
	}
	if r := call(t, s, "Glob", `{"pattern":"*"}`); !strings.Contains(r.Text(), tree) || !strings.Contains(r.Text(), "as before: ") {
		t.Errorf("the model is not told: %s", r.Text())
	}
}

// TestWorktreeVanishes tells what is wrong where somebody has removed the worktree under a session,
// which can leave it.
func TestWorktreeVanishes(t *testing.T) {
	t.Parallel()
	h, main := withTree(t)
	s := session(t, h.Host, host.SessionOptions{Cwd: main, Mode: permissions.ModeAcceptEdits})
	for i, action := range []string{"keep", "keep", "remove", "remove"} {
		tree := entered(t, s, `{}`)
		gone := []string{tree, filepath.Dir(tree)}[i%2] // with the record
		must(t, os.RemoveAll(gone))
		if r, _ := one(t, s, "Bash", `{"command":"pwd"}`); !r.IsError || !strings.Contains(r.Text(), tree+" is gone") || !strings.Contains(r.Text(), "ExitWorktree") {
			t.Errorf("a command: %s", r.Text())
		}
		r := call(t, s, "ExitWorktree", `{"action":"`+action+`"}`)
		if stays := strings.Contains(r.Text(), "Somebody has removed its directory"); stays != (action == "keep") || s.Cwd() != main {
			t.Errorf("in %s: %s", s.Cwd(), r.Text())
		}
	}
}

// TestWorktreeHooks asks hooks: one that refuses undoes the worktree, one that comes too late is
// told.
func TestWorktreeHooks(t *testing.T) {
	t.Parallel()
	var seen []string
	say := host.HookOutput{}
	var failed error
	list := []host.Hook{}
	for _, e := range []host.HookEvent{host.WorktreeCreated, host.WorktreeRemoved} {
		list = append(list, host.Hook{Event: e, Name: "h", Func: func(_ context.Context, in host.HookInput) (host.HookOutput, error) {
			_, err := os.Stat(filepath.Join(in.Worktree.Path, "a.txt"))
			seen = append(seen, string(in.Event)+" "+in.Worktree.Name+" "+in.Worktree.Branch+" "+map[bool]string{true: "there", false: "gone"}[err == nil])
			return say, failed
		}})
	}
	hooks, err := host.CompileHooks(list, host.HookOptions{})
	must(t, err)
	h, main := withTree(t, func(o *host.Options) { o.Permissions.Hooks = hooks })
	s := session(t, h.Host, host.SessionOptions{Cwd: main, Mode: permissions.ModeAcceptEdits})
	say.Verdict, say.Reason = permissions.Deny, "not today"
	r, _ := one(t, s, "EnterWorktree", `{"name":"x"}`)
	if !r.IsError || !strings.Contains(r.Text(), "not today") || s.Cwd() != main {
		t.Errorf("entered against a hook: %s", r.Text())
	}
	say, failed = host.HookOutput{}, errors.New("broken")
	if r, _ := one(t, s, "EnterWorktree", `{"name":"x"}`); !r.IsError || !strings.Contains(r.Text(), "broken") {
		t.Errorf("entered past a hook that failed: %s", r.Text())
	}
	failed = nil
	entered(t, s, `{"name":"x"}`)
	say.Context = "mind the gap"
	if r := call(t, s, "ExitWorktree", `{"action":"remove"}`); !strings.Contains(r.Text(), "mind the gap") {
		t.Errorf("the hook is not heard: %s", r.Text())
	}
	want := []string{"WorktreeCreated x worktree/x there", "WorktreeCreated x worktree/x there", "WorktreeCreated x worktree/x there", "WorktreeRemoved x worktree/x gone"}
	if !slices.Equal(seen, want) {
		t.Errorf("hooks saw %q", seen)
	}
}

// TestWorktreeOffered offers the tools where there are a place and a git, and writes go to the disk.
func TestWorktreeOffered(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	h, main := withTree(t)
	none := open(t, host.Options{Builtins: true})
	for name, test := range map[string]struct {
		s    *host.Session
		want string
	}{
		"offered":  {session(t, h.Host, host.SessionOptions{Cwd: main}), ""},
		"staged":   {session(t, h.Host, host.SessionOptions{Cwd: main, Stage: true}), "staged"},
		"no place": {session(t, none, host.SessionOptions{Cwd: main}), "no place for worktrees"},
	} {
		r, _ := one(t, test.s, "ExitWorktree", `{"action":"keep"}`)
		if !r.IsError || !strings.Contains(r.Text(), test.want) || (test.want == "") != strings.Contains(r.Text(), "that it has entered") {
			t.Errorf("%s: %s", name, r.Text())
		}
	}
	if !abi.Closed(abi.CapSessionWorktree) {
		t.Error("strangers can have worktrees made")
	}
}

// TestWorktreeMadeByHook works in a directory that a hook made, where there is no repository. That
// opens no place of the host's own.
func TestWorktreeMadeByHook(t *testing.T) {
	t.Parallel()
	var made string
	var told []host.HookInput
	answer := func(_ context.Context, in host.HookInput) (host.HookOutput, error) {
		told = append(told, in)
		if in.Event == host.WorktreeRemoved {
			return host.HookOutput{}, os.RemoveAll(in.Worktree.Path)
		}
		return host.HookOutput{Worktree: made}, nil
	}
	hooks, err := host.CompileHooks([]host.Hook{{Event: host.WorktreeCreated, Func: answer}, {Event: host.WorktreeRemoved, Func: answer}}, host.HookOptions{})
	must(t, err)
	h, _ := withTree(t, func(o *host.Options) {
		o.Permissions.Hooks, o.Permissions.Rules = hooks, rules("", "", "ExitWorktree")
	})
	dir := files(t, map[string]string{"a.txt": "one\n"})
	made, err = filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	s := session(t, h.Host, host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits})
	r := call(t, s, "EnterWorktree", `{"name":"x"}`)
	if got := fields(t, r); got["worktreePath"] != made || got["worktreeBranch"] != nil || s.Cwd() != made {
		t.Fatalf("it entered %v", got)
	}
	call(t, s, "Write", `{"file_path":"b.txt","content":""}`)
	if r, _ := one(t, s, "ExitWorktree", `{"action":"remove"}`); !r.IsError || !strings.Contains(r.Text(), "a hook made it") {
		t.Errorf("removed: %s", r.Text())
	}
	call(t, s, "ExitWorktree", `{"action":"remove","discard_changes":true}`)
	if _, err := os.Lstat(made); err == nil || s.Cwd() == made || len(told) != 2 || told[0].Worktree.Path != "" || told[1].Worktree.Path != made {
		t.Errorf("in %s, hooks were told %d times", s.Cwd(), len(told))
	}
	made = filepath.Join(h.home, "state/worktrees")
	must(t, os.MkdirAll(made, 0o700))
	must(t, os.WriteFile(filepath.Join(made, "secret"), []byte("hunter2"), 0o600))
	call(t, s, "EnterWorktree", `{}`)
	if r, _ := one(t, s, "Read", `{"file_path":"secret"}`); !r.IsError {
		t.Errorf("the host's own place is open: %s", r.Text())
	}
}
