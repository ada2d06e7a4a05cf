//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// usual are names that are protected in a project, whether or not they are there.
func usual(dir string) []string {
	return under(dir, ".bashrc", ".profile", ".zshrc", ".npmrc", ".mcp.json", ".gitmodules", ".gitconfig", ".husky/", ".vscode/", ".toolquay/")
}

// identity has git commit, whatever this user's settings are: nothing can be in its home.
var identity = []string{
	"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@test", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@test",
}

// outside runs shell text without a sandbox.
func outside(t *testing.T, dir, text string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", text)
	cmd.Dir, cmd.Env = dir, identity
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", text, err, out)
	}
	return string(out)
}

// What holds the place of names that are not there is in nobody's commit and in nobody's
// archive, inside and outside.
func TestPlaceholdersAreNoContent(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	testenv.NeedTool(t, "tar")
	for name, where := range map[string]func(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec, text string) string{
		"inside": func(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec, text string) string {
			t.Helper()
			out, err := run(t, s, spec, identity, text)
			if err != nil {
				t.Error(err)
			}
			return out
		},
		"outside": func(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec, text string) string {
			t.Helper()
			startIn(t, s, spec, "sleep 60")
			return outside(t, spec.Cwd, text)
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, "w/f", "w/d/f", "t/f")
			s := find(t, sandbox.Options{State: root + "/state"})
			outside(t, root+"/w", "git init -q")
			spec := sandbox.Spec{
				Writable: under(root, "w", "t"), Cwd: root + "/w", Bind: []sandbox.Bind{{Source: root, Target: root}},
				Protected: append(usual(root+"/w"), under(root, "w/.git/hooks/", "w/.git/config", "w/d/.git", "w/d/.bashrc")...),
			}
			got := where(t, s, spec, "git status --porcelain && git add -A && git commit -qm one && git ls-files && git -C d status --porcelain &&"+
				"git submodule status && git stash -uq 2>&1 && git clean -n -e '.*/' && tar -c . 2>/dev/null | tar -t | grep -v '/$' | grep -v '^./.git/' | sort")
			want := "?? d/\n?? f\nd/f\nf\n./d/f\n./f\n"
			if strings.ReplaceAll(got, "Would skip repository .git/\n", "") != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A folder that is no repository is none to anybody because its .git may not be made.
func TestNoRepository(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	testenv.NeedTool(t, "go")
	root := tree(t, "w/f")
	for dir := filepath.Dir(root); dir != "/"; {
		if dir = filepath.Dir(dir); exists(filepath.Join(dir, ".git")) {
			testenv.Missing(t, "a folder for temporary files that is in no repository: there is a .git in "+dir)
		}
	}
	s := find(t, sandbox.Options{State: root + "/state"})
	for name, content := range map[string]string{"go.mod": "module example.test/m\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(root+"/w/"+name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{
		Writable: under(root, "w"), Cwd: root + "/w", Protected: append(usual(root+"/w"), root+"/w/.git"),
	}
	const text = "export HOME=$PWD/home GOCACHE=$PWD/cache GOPATH=$PWD/go GOFLAGS=-buildvcs=auto GOTOOLCHAIN=local; go build -n . > commands && git status; git init"
	for name, got := range map[string]string{
		"inside": func() string { out, _ := run(t, s, spec, identity, text); return out }(),
		"outside": func() string {
			startIn(t, s, spec, "sleep 60")
			return outside(t, root+"/w", strings.TrimSuffix(text, "git init")+"true")
		}(),
	} {
		if !strings.Contains(got, "fatal: not a git repository") || exists(root+"/w/.git/config") {
			t.Errorf("%s it printed\n%s", name, got)
		}
	}
}
