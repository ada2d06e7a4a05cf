//go:build linux && (amd64 || arm64)

package host_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestOthersWorkBesideACommand has a person work in another terminal while a command runs in
// the background, and files made with the person's agreement: nothing ends the command, nothing
// is undone, and nothing lies about because it runs.
func TestOthersWorkBesideACommand(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	dir := realDir(t, files(t, map[string]string{"a.txt": "a", "src/b.txt": "b"}))
	git(t, dir, "git init -qb main; git add -A; git commit -qm one; git checkout -qb other; echo 2 > a.txt; echo c > c; git add -A; git commit -qm two; git checkout -q main")
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir, Asker: agreeing()})
	before := listing(t, dir)
	told(t, s, "trap 'rm -f runs' EXIT; touch runs; sleep 1000", inBackground)
	for end := time.Now().Add(testenv.Patience); !exists(filepath.Join(dir, "runs")) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if got := strings.Replace(listing(t, dir), "runs ", "", 1); got != before {
		t.Errorf("there are %s, and there were %s", got, before)
	}
	git(t, dir, `git add runs; git commit -qm runs; echo new > u; git stash -uq; git stash pop -q; git clean -fdq; git checkout -q other; git checkout -q main
		mv src s; mv s src; git mv a.txt d.txt; git commit -qm three; git branch -q -u main other; git config user.name me; git gc -q
		printf x > src/b.txt~; mv src/b.txt~ src/b.txt`)
	for _, path := range []string{".vscode/settings.json", ".npmrc"} {
		input, _ := json.Marshal(map[string]string{"file_path": filepath.Join(dir, path), "content": "{}"})
		if r, _ := one(t, s, "Write", string(input)); r.IsError {
			t.Errorf("%s: %s", path, r.Text())
		}
	}
	time.Sleep(300 * time.Millisecond) // what is moved is looked for every 250
	if tasks := s.Tasks(); len(tasks) != 1 || tasks[0].State != abi.TaskRunning {
		t.Errorf("the tasks %+v", tasks)
	}
	for _, path := range []string{".vscode/settings.json", ".npmrc", "src/b.txt", "d.txt"} {
		if !exists(filepath.Join(dir, path)) {
			t.Errorf("%s is gone", path)
		}
	}
}

// TestMissingNamesAreUndone: what a command makes at protected names is undone and told, whatever
// else it does, and a repository that it says it makes stays.
func TestMissingNamesAreUndone(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	dir := realDir(t, files(t, map[string]string{"a.txt": "a"}))
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir, Asker: agreeing()})
	got := told(t, s, inScript(t, dir, "mkdir -p .claude .git/hooks; echo {} > .claude/settings.json; ln -s a.txt .npmrc; echo done"))
	for _, name := range []string{".claude", ".git", ".npmrc"} {
		if exists(filepath.Join(dir, name)) || !strings.Contains(got, dir+"/"+name+" (now ") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := told(t, s, "git init -q . && echo done"); !strings.HasSuffix(got, "done") || !exists(filepath.Join(dir, ".git/HEAD")) {
		t.Errorf("got %s", got)
	}
}

// listing are the names in a directory.
func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var text strings.Builder
	for _, e := range entries {
		text.WriteString(e.Name() + " ")
	}
	return text.String()
}

// git runs shell text that uses git without this user's settings.
func git(t *testing.T, dir, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", text)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@test", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@test",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", text, err, out)
	}
}
