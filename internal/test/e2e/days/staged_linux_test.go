package days

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// dated gives commits fixed dates, so that their hashes are the same each time.
var dated = []string{"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z"}

// TestStagedDays spends each day up to the push twice, the second time in a session whose writes are
// staged. Applied, they must leave the same tree as the first session. Then a person goes on with
// the push.
func TestStagedDays(t *testing.T) {
	testenv.SkipUnlessAsked(t, "TOOLQUAY_DAYS")
	testenv.NeedTool(t, "bwrap")
	t.Setenv("PATH", filepath.Dir(testenv.NeedTool(t, "go"))+":/usr/local/bin:/usr/bin:/bin")
	// If the person clones, the directory below the overlay is a whole project; otherwise it is empty.
	for name, person := range map[string]bool{"go": true, "rust": false, "node": true, "python": false} {
		t.Run(name, func(t *testing.T) {
			d := readDay(t, name)
			for _, tool := range d.Tools {
				testenv.NeedTool(t, tool)
			}
			p := &pair{day: d, registry: serveRegistry(t), top: filepath.Join(t.TempDir(), "day"), port: freePort(t), person: person}
			want, seconds := p.spend(t, false)
			if err := os.Rename(p.top, p.top+"-unstaged"); err != nil {
				t.Fatal(err)
			}
			got, staged := p.spend(t, true)
			differ(t, got, want)
			t.Logf("commands took %.1f s, and staged %.1f s: %.2fx", seconds, staged, staged/seconds)
		})
	}
}

// pair is a day that is spent twice in the same directory.
type pair struct {
	day
	registry  *registry
	top, port string
	// person says that the person clones the repository, before the session starts.
	person bool
}

// spend goes through the day up to the push, and returns the session's directory as [look] does.
func (p *pair) spend(t *testing.T, staged bool) (tree []string, seconds float64) {
	t.Helper()
	const name = "staged"
	if err := os.RemoveAll(filepath.Join(p.registry.repositories, name+".git")); err != nil {
		t.Fatal(err)
	}
	s := sideIn(t, p.registry, p.day, name, p.top, p.port, dated...)
	steps, rest := p.Steps, []step(nil)
	if at := slices.IndexFunc(steps, func(st step) bool { return !st.Person && strings.Contains(st.Run, "git push") }); at >= 0 {
		steps, rest = steps[:at], steps[at:]
	}
	if p.person {
		if a := s.on(t, s.fill(steps[0].Run)); a.state != "ok" {
			t.Fatal(a.text)
		}
		steps = steps[1:]
	}
	before := look(t, s)
	flags := []string{"--session", "day"}
	if staged {
		flags = append(flags, "--stage")
	}
	session := openSession(t, s, flags...)
	for i, st := range steps {
		if _, err := exec.LookPath(st.Needs); st.Needs != "" && err != nil || st.Here {
			continue
		}
		seconds += p.do(t, i+1, st, s, session)
	}
	session.end()
	if !staged {
		return look(t, s), seconds
	}
	differ(t, look(t, s), before)
	apply(t, s)
	tree = look(t, s)
	for i, st := range rest {
		if problem := (step{Wants: st.wantsAlone()}).outcome(s.bash(t, s.project(), s.fill(st.Run))); st.Run != "" && problem != "" {
			t.Errorf("step %d of the rest: %s: %s", i+1, st, problem)
		}
	}
	return tree, seconds
}

// do does one step, and returns how many seconds its command took.
func (p *pair) do(t *testing.T, n int, st step, s *side, session *session) float64 {
	t.Helper()
	if st.Person {
		if problem := st.outcome(s.bash(t, s.project(), s.fill(st.Run))); problem != "" {
			t.Errorf("step %d, the person's: %s: %s", n, st, problem)
		}
		return 0
	}
	tool, input := st.call(s.fill)
	a := session.call(t, tool, input)
	if id := taskID.FindString(a.text); st.Background && id != "" {
		s.task = id
	}
	report(t, n, st, a)
	if tool != "Bash" {
		return 0
	}
	return a.seconds
}

// apply applies what is staged, all at once.
func apply(t *testing.T, s *side) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program(t), "stage", "apply", "--session", "day")
	c.Dir, c.Env = s.dir, s.env
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// look lists the session's directory: each path with its kind, mode and content, and the output
// of git about the repository.
func look(t *testing.T, s *side) (tree []string) {
	t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if e.Name() == "incremental" && e.IsDir() {
			return filepath.SkipDir // its names differ each time
		}
		what, err := content(path, info)
		tree = append(tree, strings.TrimPrefix(path, s.dir)+" "+info.Mode().String()+" "+what)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !isDir(filepath.Join(s.project(), ".git")) {
		return tree
	}
	for _, command := range []string{
		"git ls-files --stage", "git --no-optional-locks status --porcelain=v2 --branch --ignored", "git log --all --format='%H %T %P %D %s'",
		"git fsck --full --strict 2>&1", "git stash list", "git config --list --local",
	} {
		a := s.bash(t, s.project(), command)
		tree = append(tree, command+": "+a.state+"\n"+a.text)
	}
	return tree
}

// content returns the size and hash of a file, or the target of a link. It is empty for files
// that differ each time: git's index and compiled files contain modification times.
func content(path string, info fs.FileInfo) (string, error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return os.Readlink(path)
	case !info.Mode().IsRegular() || strings.HasSuffix(path, "/.git/index") || strings.HasSuffix(path, ".pyc") || strings.Contains(path, "/target/"):
		return "", nil
	}
	b, err := os.ReadFile(path)
	return fmt.Sprintf("%d %x", len(b), sha256.Sum256(b)), err
}

// differ fails the test with the lines that only one of two trees has.
func differ(t *testing.T, got, want []string) {
	t.Helper()
	const most = 20
	n := 0
	for what, sides := range map[string][2][]string{"unexpected": {got, want}, "missing": {want, got}} {
		for _, line := range sides[0] {
			if !slices.Contains(sides[1], line) {
				if n++; n <= most {
					t.Errorf("%s: %s", what, line)
				}
			}
		}
	}
	if n > most {
		t.Errorf("and %d more", n-most)
	}
}
