package shell

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// readsOfGit are forms that run programs of the repository that [evilRepository] makes,
// where nothing keeps them from it.
var readsOfGit = []string{"git status", "git diff", "git log -p -1", "git show HEAD", "git --no-pager diff --stat"}

// A read of git that needs no permission runs nothing that its repository names, whatever
// stands around it. The commands run as the host runs them.
func TestGitIsAlwaysRestrained(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	testenv.NeedTool(t, "git")
	bash := testenv.NeedTool(t, "bash")
	data, err := os.ReadFile("testdata/restrained.txt")
	if err != nil {
		t.Fatal(err)
	}
	restrained, mixed, turn := 0, 0, rand.IntN(9)
	dir := evilRepository(t)
	for line := range strings.Lines(string(data)) {
		around := strings.TrimSuffix(line, "\n")
		if around == "" || around[0] == '#' {
			continue
		}
		for _, read := range readsOfGit {
			if turn++; !testenv.Thorough() && turn%9 > 0 {
				continue
			}
			text := strings.ReplaceAll(around, "@", read)
			c := Analyse(text, Place{Cwd: dir, Home: filepath.Dir(dir), Working: []string{dir}})
			if c.Fault != "" || !slices.ContainsFunc(c.Parts, func(p permissions.Part) bool { return unasked(&p, read) }) {
				continue // somebody is asked
			}
			if c.Restrained {
				restrained++
			} else {
				mixed++
			}
			if ran := runsPrograms(t, bash, dir, text, hostEnvironment(&c, dir)); ran != "" {
				t.Errorf("%s ran %s", text, ran)
			}
		}
	}
	if enough := testenv.Sample(10); restrained < enough || mixed < enough {
		t.Errorf("only %d commands ran under the environment, and %d under functions", restrained, mixed)
	}
}

// unasked reports whether a part is the read of git, and passes as it only reads.
func unasked(p *permissions.Part, read string) bool {
	if p.Inner || !p.ReadOnly && !p.Bounded() {
		return false
	}
	words := make([]string, len(p.Words))
	for i, w := range p.Words {
		words[i] = w.Text
	}
	return strings.Join(words, " ") == read
}

// hostEnvironment is what the host runs a command with.
func hostEnvironment(c *permissions.Command, dir string) []string {
	out := []string{"PATH=" + dir + "/../bin:" + os.Getenv("PATH"), "HOME=" + filepath.Dir(dir), "GIT_CONFIG_NOSYSTEM=1"}
	if !c.Restrained {
		return append(out, Functions(c)...)
	}
	for _, setting := range Environment() {
		if strings.Contains(setting, "=") {
			out = append(out, setting)
		}
	}
	return out
}

// The test above means something: without the environment each read runs a program.
func TestReadsOfGitRunPrograms(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	testenv.NeedTool(t, "git")
	bash := testenv.NeedTool(t, "bash")
	dir := evilRepository(t)
	for _, read := range readsOfGit {
		env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(dir), "GIT_CONFIG_NOSYSTEM=1"}
		if runsPrograms(t, bash, dir, read, env) == "" {
			t.Errorf("%s runs nothing", read)
		}
	}
}

// runsPrograms runs a command, and returns which programs of the repository ran.
func runsPrograms(t *testing.T, bash, dir, text string, env []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "--noprofile", "--norc", "-c", text)
	cmd.Dir, cmd.Env = dir, env
	_ = cmd.Run() // what it ends with is no matter
	trace := filepath.Join(filepath.Dir(dir), "ran")
	ran, _ := os.ReadFile(trace)
	_ = os.Remove(trace)
	return string(ran)
}

// evilRepository makes a repository whose settings name programs that leave a trace, and
// a program `allowed` on the PATH of [hostEnvironment].
func evilRepository(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "repo")
	program := filepath.Join(base, "program")
	for file, text := range map[string]string{
		"program": "#!/bin/sh\necho \"$0 $*\" >> '" + base + "/ran'\ncat\n", "bin/allowed": "#!/bin/sh\n",
		"repo/a.txt": "one\n", "repo/sub/b.txt": "two\n", "repo/.gitattributes": "*.txt diff=evil filter=evil\n",
	} {
		name := filepath.Join(base, file)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		testenv.WriteProgram(t, name, []byte(text))
	}
	settings := []string{
		"core.fsmonitor", "diff.evil.textconv", "diff.external", "filter.evil.clean", "filter.evil.process", "core.pager", "pager.diff",
	}
	script := "git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm one && echo more >> a.txt && " +
		"for s in " + strings.Join(settings, " ") + "; do git config $s '" + program + "' || exit 1; done"
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_ = os.Remove(filepath.Join(base, "ran"))
	return dir
}
