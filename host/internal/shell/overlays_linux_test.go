package shell_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// staged puts an overlay over the session's directory for its commands, until ended is closed.
func (s *session) staged(c *shell.Capability, ended <-chan struct{}) {
	s.tb.Helper()
	store := filepath.Join(filepath.Dir(s.dir), "stage")
	l := sandbox.Layer{Root: s.dir, Upper: filepath.Join(store, "upper"), Work: filepath.Join(store, "work")}
	for _, dir := range []string{l.Upper, l.Work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.tb.Fatal(err)
		}
	}
	if err := c.TryOverlay(s.tb.Context(), store); errors.Is(err, sandbox.ErrOverlay) {
		testenv.Missing(s.tb, err.Error())
	} else if err != nil {
		s.tb.Fatal(err)
	}
	s.stage = func(ctx context.Context, p *capability.SandboxPolicy) error {
		o, err := c.Stage(ctx, ended, []sandbox.Layer{l})
		if err != nil {
			return err
		}
		end := func() { _ = o.Close() } // it only gives the overlays back
		p.Ended, p.Staged, p.Discard, p.Made = ended, o, end, func() string {
			end()
			return ""
		}
		return nil
	}
}

// TestStagedCommands: commands see the staged changes of others of their session, also in directories
// that those made, and a later session sees them again.
func TestStagedCommands(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, s.sandboxed())
	ended := make(chan struct{})
	s.staged(c, ended)
	if r := s.bash(c, "echo x >made; mkdir sub; cd sub; echo y >below"); r.Exit != 0 || !r.Sandboxed || r.Cwd != filepath.Join(s.dir, "sub") {
		t.Errorf("got %+v", r)
	}
	if r := s.bash(c, "ln -s /usr away; cd away"); r.Cwd != "" || r.Refused != "/usr" {
		t.Errorf("got %+v", r)
	}
	if r := s.bash(c, "cat made */below"); r.out != "x\ny\n" {
		t.Errorf("got %+v", r)
	}
	stage := s.stage
	s.stage = func(ctx context.Context, p *capability.SandboxPolicy) error {
		p.HostsApproved, p.HostsOpened = true, true // so that it shares no network
		return stage(ctx, p)
	}
	if r := s.bash(c, "cat made; echo z >apart"); r.out != "x\n" {
		t.Errorf("got %+v", r)
	}
	close(ended)
	s.staged(c, make(chan struct{}))
	if r := s.bash(c, "cat made sub/below apart"); r.out != "x\ny\nz\n" {
		t.Errorf("got %+v", r)
	}
	if names := s.names(s.dir); len(names) > 0 {
		t.Errorf("in the directory lie %q", names)
	}
}

// names returns the names in a directory.
func (s *session) names(dir string) (names []string) {
	s.tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestCommitsThatAreStaged: a commit in an overlay is reported like any other.
func TestCommitsThatAreStaged(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	s := newSession(t)
	c := newShell(t, s.sandboxed())
	s.staged(c, t.Context().Done())
	const commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m "
	for _, command := range []string{
		"git init -q -b main .", commit + "first", "git worktree add -q linked",
		"cd linked && " + commit + "second", "git -C " + s.dir + "/linked -c user.name=a -c user.email=a@b commit -q --allow-empty -m third",
	} {
		if r := s.bash(c, command); r.Exit != 0 {
			t.Fatalf("%s: %+v", command, r)
		}
	}
	var got []string
	for _, e := range s.events {
		got = append(got, string(e.Kind)+" "+e.Branch+" "+e.Subject)
	}
	if want := []string{"commit main first", "branch linked ", "commit linked second", "commit linked third"}; !slices.Equal(got, want) {
		t.Errorf("reported %q, want %q", got, want)
	}
}

// TestStagedWithoutSandbox: without a sandbox there is no overlay.
func TestStagedWithoutSandbox(t *testing.T) {
	t.Parallel()
	c := newShell(t)
	if _, err := c.Stage(t.Context(), t.Context().Done(), nil); !errors.Is(err, sandbox.ErrOverlay) {
		t.Error(err)
	}
	if err := c.TryOverlay(t.Context(), t.TempDir()); !errors.Is(err, sandbox.ErrOverlay) {
		t.Error(err)
	}
}

// TestStagedDirectoriesAreRenamed renames directories that exist in the lower directory, also with programs
// that only call rename. All their files move along, and a rename that fails changes nothing.
func TestStagedDirectoriesAreRenamed(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	testenv.NeedTool(t, "python3")
	s := newSession(t)
	for path, text := range map[string]string{"d/a": "a", "d/sub/b": "b", "d/sub/deep/c": "c", "x/of x": "x", "full/f": "f", "k/protected/p": "p"} {
		path = filepath.Join(s.dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(s.dir, "d"), 0o750|fs.ModeSetgid|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	s.protected = append(s.protected, filepath.Join(s.dir, "k", "protected"))
	c := newShell(t, s.sandboxed())
	s.staged(c, t.Context().Done())
	for _, step := range []struct{ command, want string }{
		{"git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm one && git mv d e && git status --short | grep '^R' | wc -l", "3\n"},
		{"cat e/a e/sub/b e/sub/deep/c; ls d 2>&1 | wc -l; stat -c %a e e/sub", "abc1\n3750\n750\n"},
		{"git mv e d && ls d d/sub", "d:\na\nsub\n\nd/sub:\nb\ndeep\n"},
		{"ln -s d l && git add l && git mv l m && readlink m && ls d", "d\na\nsub\n"},
		{"python3 -c 'import os; os.rename(\"d\", \"full\")' 2>&1 | tail -1; ls d/sub full; ls -A | tr '\\n' ' '", "OSError: [Errno 39] Directory not empty: 'd' -> 'full'\nd/sub:\nb\ndeep\n\nfull:\nf\n.git d full k m x "},
		{"python3 -c 'import os; os.rename(\"k\", \"n\")' 2>&1 | tail -1; cat k/protected/p n/protected/p 2>/dev/null; ls -A | wc -l", "OSError: [Errno 16] Device or resource busy: 'k' -> 'n'\np6\n"},
		{"python3 -c 'import ctypes; print(ctypes.CDLL(None).renameat2(-100, b\"d\", -100, b\"x\", 2))'; ls x", "0\na\nsub\n"},
	} {
		if r := s.bash(c, step.command); r.out != step.want || r.Note != "" {
			t.Errorf("%s: got %q, want %q; %+v", step.command, r.out, step.want, r)
		}
	}
	if names := s.names(s.dir); len(names) != 4 {
		t.Errorf("in the directory lie %q", names)
	}
}
