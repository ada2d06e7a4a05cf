package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// noTrialLeft fails if a session's scratch directory still has files of a trial.
func noTrialLeft(t *testing.T, s *host.Session) {
	t.Helper()
	for line := range strings.Lines(told(t, s, "bash -c 'echo $TMPDIR'")) {
		if dir := strings.TrimSpace(line); filepath.Base(dir) == "tmp" {
			soon(t, "the end of trials in "+dir, func() bool {
				left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "trial-*"))
				return err == nil && len(left) == 0
			})
			return
		}
	}
	t.Error("it is not known where trials lie")
}

// TestContainedConflict changes the tree while the person is asked: then a yes changes nothing.
func TestContainedConflict(t *testing.T) {
	t.Parallel()
	h := newTrying(t, "run")
	for name, test := range map[string]struct {
		change, want string
	}{
		"changed": {"echo mine > a.txt", "mine\n"},
		"removed": {"rm a.txt", ""},
		"made":    {"echo mine > c.txt", "one\n"},
	} {
		dir := settledFiles(t, map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
		p := &questions{}
		p.look = func() { script(t, dir, test.change) }
		s := session(t, h.Host, host.SessionOptions{Cwd: dir, Asker: p})
		got := s.Results(t.Context(), []abi.ToolUse{bash("1", "bash -c 'echo two >> a.txt; echo two >> b.txt; echo c > c.txt'")})[0]
		if !got.IsError || got.Error.Code != abi.CodeChanged || !strings.Contains(got.Text(), "nothing was changed") {
			t.Errorf("%s: the model is told %q", name, got.Text())
		}
		if text, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(text) != test.want {
			t.Errorf("%s: the file holds %q", name, text)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(text) != "b\n" {
			t.Errorf("%s: the other one holds %q, %v", name, text, err)
		}
		p.look = nil
		noTrialLeft(t, s)
	}
}

// TestContainedPart changes a file while the approved changes are being made: the model is told how many
// were made, and the history undoes them.
func TestContainedPart(t *testing.T) {
	t.Parallel()
	const many = 700 // more than are put in place together
	dir := settledFiles(t, map[string]string{"make.sh": fmt.Sprintf("for i in {1001..%d}; do echo $i > f$i; done", 1000+many)})
	before := testenv.Tree(t, dir)
	last := filepath.Join(dir, "f"+strconv.Itoa(1000+many))
	p := &questions{look: func() {
		go func() {
			for t.Context().Err() == nil {
				if _, err := os.Lstat(filepath.Join(dir, "f1001")); err == nil {
					_ = os.WriteFile(last, []byte("mine\n"), 0o600)
					return
				}
			}
		}()
	}}
	s := session(t, newTrying(t, "run").Host, host.SessionOptions{Cwd: dir, Asker: p})
	got := s.Results(t.Context(), []abi.ToolUse{bash("1", "bash make.sh")})[0]
	made := len(testenv.Tree(t, dir)) - len(before) - 1 // one is the person's
	if want := fmt.Sprintf("but only %d were made", made); !got.IsError || got.Error.Code != abi.CodeChanged || made <= 0 || made >= many || !strings.Contains(got.Text(), want) {
		t.Errorf("%d were made, and the model is told %q", made, got.Text())
	}
	_, err := s.History().Restore(t.Context(), history.Selection{Call: "1"}, history.RestoreOptions{})
	must(t, err)
	if text, err := os.ReadFile(last); err != nil || string(text) != "mine\n" {
		t.Errorf("the person's file holds %q, %v", text, err)
	}
	must(t, os.Remove(last))
	if d := testenv.TreeDiff(before, testenv.Tree(t, dir)); d != "" {
		t.Errorf("undone it is not as before:\n%s", d)
	}
}

// TestContainedDoneAlready makes the changes that the person is asked about before they answer: then a
// yes has nothing left to apply, and the call succeeds.
func TestContainedDoneAlready(t *testing.T) {
	t.Parallel()
	const change = "echo two >> a.txt; mkdir d; echo c > d/c; rm b"
	dir := settledFiles(t, map[string]string{"a.txt": "one\n", "b": "b\n"})
	p := &questions{look: func() { script(t, dir, change) }}
	s := session(t, newTrying(t, "run").Host, host.SessionOptions{Cwd: dir, Asker: p})
	if got := s.Results(t.Context(), []abi.ToolUse{bash("1", "bash -c 'echo said; "+change+"'")})[0]; got.IsError || !strings.Contains(got.Text(), "said") || len(p.asked) != 1 {
		t.Errorf("asked %d times, the model is told %q", len(p.asked), got.Text())
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	p.look = nil
	noTrialLeft(t, s)
}

// TestContainedFails tries commands that fail, perhaps for lack of something that a trial does not
// provide: the person is asked, since only a yes lets the command run with it.
func TestContainedFails(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	python := testenv.NeedTool(t, "python3")
	dir := repository(t)
	must(t, os.WriteFile(filepath.Join(dir, ".env"), []byte("secret\n"), 0o600))
	script(t, dir, "git add -f .env && "+commit)
	connect := python + ` -c 'import socket; socket.create_connection(("127.0.0.1", 9), 2)'`
	for name, test := range map[string]struct{ deny, command, why string }{
		"a server":        {command: connect, why: "servers of other commands"},
		"which it needs":  {command: connect + "; true"},
		"a configuration": {command: "git config user.nickname a", why: "git's configuration"},
		"its history":     {deny: "Read(.env)", command: "bash -c 'git status'", why: "does not see " + dir + "/.git"},
		"else":            {deny: "Read(.env)", command: "bash -c 'git status; true'"},
	} {
		p := &questions{}
		h := newTrying(t, "run", func(o *host.Options) { o.Permissions.Rules = rules(test.deny, "", "") })
		got := told(t, session(t, h.Host, host.SessionOptions{Cwd: dir, Asker: p}), test.command)
		switch {
		case test.why == "" && (len(p.asked) > 0 || !strings.Contains(got, "[contained]")):
			t.Errorf("%s: asked %+v, told %s", name, p.asked, got)
		case test.why != "" && (len(p.asked) != 1 || !strings.Contains(p.asked[0].Reasons[0], "it failed, and ") || !strings.Contains(p.asked[0].Reasons[0], test.why) || strings.Contains(got, "[contained]")):
			t.Errorf("%s: asked %+v, told %s", name, p.asked, got)
		}
	}
}

// TestContainedNames escapes file names that look like lines of a diff in the question to the person.
func TestContainedNames(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"try.sh": "mkdir $'d\nGIT binary patch\n+forged' z; echo x > f"})
	p := &questions{reply: host.AnswerDeny}
	told(t, session(t, newTrying(t, "run").Host, host.SessionOptions{Cwd: dir, Asker: p}), "bash try.sh")
	if len(p.asked) != 1 {
		t.Fatalf("it is asked %+v", p.asked)
	}
	shown := p.asked[0].Preview
	if strings.Contains(shown, "\n+forged") || !strings.Contains(shown, "forged: ") || !strings.Contains(shown, "/z: ") {
		t.Errorf("it is shown %s", shown)
	}
}

// TestContainedHistory records the changes of an approved trial in the history, under the call, and
// restores them.
func TestContainedHistory(t *testing.T) {
	t.Parallel()
	names := map[string]string{"a.txt": "one\n", "sub/b": "b\n", "gone": "g\n"}
	dir, other := settledFiles(t, names), settledFiles(t, names)
	before := testenv.Tree(t, dir)
	const change = "echo two >> a.txt; mkdir -p x/y; chmod 750 x; echo z > x/y/z; rm gone; mv sub/b c; ln -s a.txt l; chmod 755 a.txt"
	script(t, other, change)
	p := &questions{}
	s := session(t, newTrying(t, "run").Host, host.SessionOptions{Cwd: dir, Asker: p})
	if got := told(t, s, "bash -c '"+change+"'"); !strings.Contains(got, "[contained]") || len(p.asked) != 1 {
		t.Fatalf("asked %d times: %s", len(p.asked), got)
	}
	if d := testenv.TreeDiff(testenv.Tree(t, other), testenv.Tree(t, dir)); d != "" {
		t.Errorf("applied it is not as run:\n%s", d)
	}
	records, _, err := s.History().Records()
	must(t, err)
	for i := range records {
		if records[i].Call != "1" || records[i].Tool != "Bash" {
			t.Errorf("a record is of %s by %s", records[i].Call, records[i].Tool)
		}
	}
	if len(records) < 6 {
		t.Errorf("there are %d records", len(records))
	}
	_, err = s.History().Restore(t.Context(), history.Selection{Call: "1"}, history.RestoreOptions{})
	must(t, err)
	if d := testenv.TreeDiff(before, testenv.Tree(t, dir)); d != "" {
		t.Errorf("restored it is not as before:\n%s", d)
	}
}

// TestContainedFollows reports the commits of a trial that stands, and moves the session to its
// directory. A trial that was denied has no such effects.
func TestContainedFollows(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	h := newTrying(t, "run")
	p := &questions{reply: host.AnswerDeny}
	s := session(t, h.Host, host.SessionOptions{Cwd: dir, Asker: p})
	commits := func() int { return len(h.heard(host.EventGit)) }
	told(t, s, commit)
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "log").CombinedOutput(); err == nil || commits() != 0 {
		t.Errorf("after a no there is %s, and %d were told", out, commits())
	}
	p.reply = host.AnswerAllow
	p.look = func() {
		if commits() != 0 {
			t.Error("a commit is told while the person is asked")
		}
	}
	if got := told(t, s, commit); !strings.Contains(got, "[contained]") || commits() != 1 {
		t.Errorf("%d were told: %s; asked %+v", commits(), got, p.asked[len(p.asked)-1].Reasons)
	}
	p.look = nil
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "fsck", "--strict").CombinedOutput(); err != nil {
		t.Errorf("the repository: %s", out)
	}
	asked := len(p.asked)
	told(t, s, "cd sub && bash -c 'pwd'")
	if s.Cwd() != filepath.Join(dir, "sub") || len(p.asked) != asked {
		t.Errorf("the session is in %s, asked %d times", s.Cwd(), len(p.asked)-asked)
	}
	noTrialLeft(t, s)
}

// TestContainedDecisions logs a trial that stands as a layer of its own.
func TestContainedDecisions(t *testing.T) {
	t.Parallel()
	h := newTrying(t, "run")
	s := session(t, h.Host, host.SessionOptions{Cwd: files(t, nil), Asker: &questions{}})
	var got []string
	for e := range s.Run(t.Context(), []abi.ToolUse{bash("1", "bash -c true"), bash("2", "bash -c 'echo > a'")}) {
		if e.Kind == host.EventDecided && e.Capability == "" {
			got = append(got, e.CallID+" "+e.Decision.Verdict.String()+" "+string(e.Decision.Layer))
		}
	}
	if want := []string{"1 ask mode", "1 allow contained", "2 ask mode", "2 allow approval"}; !slices.Equal(got, want) {
		t.Errorf("decided is %q, want %q", got, want)
	}
}

// TestContainedRewritten has the person replace the command: the changes of the first one are dropped.
func TestContainedRewritten(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\n"})
	s := session(t, newTrying(t, "run").Host, host.SessionOptions{Cwd: dir, Asker: anyone(func(context.Context, host.Question) (host.Reply, error) {
		return host.Reply{Answer: host.AnswerAllow, Input: json.RawMessage(`{"command":"bash -c 'echo three > b.txt'"}`)}, nil
	})})
	if got := told(t, s, "bash -c 'echo two >> a.txt'"); strings.Contains(got, "[contained]") {
		t.Errorf("the model is told %q", got)
	}
	a, _ := os.ReadFile(filepath.Join(dir, "a.txt"))
	b, _ := os.ReadFile(filepath.Join(dir, "b.txt"))
	if string(a) != "one\n" || string(b) != "three\n" {
		t.Errorf("the files hold %q and %q", a, b)
	}
}

// TestContainedCancelled cancels a call while its command is tried, and while the person is asked.
func TestContainedCancelled(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\n"})
	before := snapshot(t, dir)
	asked := make(chan struct{}, 1)
	p := anyone(func(ctx context.Context, _ host.Question) (host.Reply, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return host.Reply{}, ctx.Err()
	})
	s := session(t, newTrying(t, "run").Host, host.SessionOptions{Cwd: dir, Asker: p})
	for _, command := range []string{"bash -c 'echo two >> a.txt; sleep 15'", "bash -c 'echo two >> a.txt'"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			select {
			case <-asked:
			case <-time.After(time.Second):
			}
			cancel()
		}()
		began := time.Now()
		if got := s.Results(ctx, []abi.ToolUse{bash("1", command)})[0]; !got.IsError || time.Since(began) > 10*time.Second {
			t.Errorf("%s: after %v the model is told %q", command, time.Since(began), got.Text())
		}
		cancel()
	}
	noTrialLeft(t, s)
	if now := snapshot(t, dir); now != before {
		t.Errorf("there is %s", now)
	}
}

// TestContainedNot runs commands that are never tried, even with the setting on.
func TestContainedNot(t *testing.T) {
	t.Parallel()
	h := newTrying(t, "run")
	for name, test := range map[string]struct {
		options host.SessionOptions
		more    map[string]any
	}{
		"in the background":  {more: inBackground},
		"where it stages":    {options: host.SessionOptions{Stage: true}},
		"out of the sandbox": {more: map[string]any{"dangerouslyDisableSandbox": true}},
	} {
		p := &questions{reply: host.AnswerDeny}
		test.options.Cwd, test.options.Asker = settledFiles(t, map[string]string{"a.txt": "one\n"}), p
		told(t, session(t, h.Host, test.options), "bash -c 'echo two >> a.txt'", test.more)
		if len(p.asked) != 1 || strings.Contains(strings.Join(p.asked[0].Reasons, " "), "contained") {
			t.Errorf("%s: asked %+v", name, p.asked)
		}
	}
}

// containedVictim is the variable that makes a test process a host to be killed while it asks. Its
// value is the working directory.
const containedVictim = "TOOLQUAY_TEST_CONTAINED_VICTIM"

// TestContainedKilled kills a host while it asks: nothing was changed, and the next host removes the
// files of the trial.
func TestContainedKilled(t *testing.T) {
	if dir := os.Getenv(containedVictim); dir != "" {
		p := &questions{look: func() {
			must(t, os.WriteFile(filepath.Join(filepath.Dir(dir), "asked"), nil, 0o600))
			time.Sleep(time.Hour)
		}}
		told(t, session(t, newTrying(t, permissions.ContainedRun).Host, host.SessionOptions{Cwd: dir, Asker: p}), "bash -c 'echo two >> a.txt; chmod 0 a.txt'")
		return
	}
	testenv.NeedTool(t, "bwrap")
	root := settledFiles(t, map[string]string{"work/a.txt": "one\n"})
	dir, temp := filepath.Join(root, "work"), t.TempDir()
	before := snapshot(t, dir)
	t.Setenv("TMPDIR", temp)
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), containedVictim+"="+dir)
	must(t, cmd.Start())
	soon(t, "the question", func() bool { _, err := os.Stat(filepath.Join(root, "asked")); return err == nil })
	trials, err := filepath.Glob(filepath.Join(temp, "toolquay-*", "trial-*"))
	must(t, err)
	if len(trials) != 1 {
		t.Errorf("there are the trials %q", trials)
	}
	must(t, cmd.Process.Kill())
	_, _ = cmd.Process.Wait()
	if now := snapshot(t, dir); now != before {
		t.Errorf("there is %s", now)
	}
	h := newTrying(t, "run")
	told(t, session(t, h.Host, host.SessionOptions{Cwd: dir, Asker: &questions{}}), "true")
	must(t, h.Close(context.Background()))
	soon(t, "the end of what was left", func() bool {
		trials, err := filepath.Glob(filepath.Join(temp, "toolquay-*", "trial-*"))
		return err == nil && len(trials) == 0
	})
	if now := snapshot(t, dir); now != before {
		t.Errorf("there is %s", now)
	}
}

// TestContainedCaches throws away what a trial adds to caches. It does not count as a change.
func TestContainedCaches(t *testing.T) {
	t.Parallel()
	caches := filepath.Join(t.TempDir(), "caches")
	h := newTrying(t, "run", func(o *host.Options) { o.Shell.Sandbox.Caches = caches })
	p := &questions{}
	s := session(t, h.Host, host.SessionOptions{Cwd: settledFiles(t, map[string]string{"try.sh": `mkdir -p "$GOCACHE" && echo x > "$GOCACHE/mine" && cat "$GOCACHE/mine"; echo "$GOCACHE"`}), Asker: p})
	got := told(t, s, "bash try.sh")
	if len(p.asked) > 0 || !strings.HasPrefix(got, "x\n"+caches) || !strings.Contains(got, "[contained]") {
		t.Errorf("asked %d times: %s", len(p.asked), got)
	}
	must(t, filepath.WalkDir(caches, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "mine" {
			t.Errorf("%s is left", path)
		}
		return err
	}))
}
