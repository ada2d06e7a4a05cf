package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestHeldWhileApart: what makes git run programs stays held after what else makes the
// repository one was moved away, in a later session too.
func TestHeldWhileApart(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"d/objects/n/.vscode/tasks.json": "old"})
	configured(t, dir)
	for _, sub := range []string{"bare", "n/.git/modules/sub", ".git/modules/sub", ".git/modules/lib/lfs"} {
		gitIn(t, dir, "init", "-q", "--bare", sub)
	}
	gitIn(t, dir, "init", "-q", "n")
	h := newShelled(t)
	for i, command := range []string{
		"mkdir d/refs; echo > d/HEAD; touch .git/modules/lib/HEAD; mv .git/modules/lib/lfs/HEAD .git/H",
		"for d in bare n/.git/modules/sub .git/modules/sub; do mv $d/HEAD $d/refs $d/objects .; rm -r HEAD refs objects; done",
		"for d in bare n/.git/modules/sub .git/modules/sub .git/modules/lib/lfs; do echo evil >> $d/config; echo evil > $d/hooks/pre-commit; done; echo evil > d/objects/n/.vscode/tasks.json; echo done",
	} {
		s := session(t, h.Host, host.SessionOptions{Cwd: dir})
		if got := told(t, s, inScript(t, dir, command)); i == 2 && !strings.Contains(got, "done") {
			t.Errorf("got %q", got)
		}
	}
	for _, sub := range []string{"bare", "n/.git/modules/sub", ".git/modules/sub", ".git/modules/lib/lfs"} {
		if text, err := os.ReadFile(filepath.Join(dir, sub, "config")); err != nil || strings.Contains(string(text), "evil") {
			t.Errorf("%s: its configuration is %q, %v", sub, text, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, sub, "hooks/pre-commit")); err == nil {
			t.Errorf("%s: it has a new hook", sub)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "d/objects/n/.vscode/tasks.json")); string(text) != "old" {
		t.Errorf("what is below objects is %q", text)
	}
}

// inScript puts a command into a file, which no judgement sees through.
func inScript(t *testing.T, dir, text string) string {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, "script.sh"), []byte(text), 0o644))
	return "bash script.sh"
}

// TestNewNamesAreTold: what a command makes below sub-directories that other programs act
// on is told with its result, once, and held from then on.
func TestNewNamesAreTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command string
		told    string // empty is nothing
		again   string // then has to fail
	}{
		"nothing":                 {"mkdir -p a/b; echo x > a/b/c", "", ""},
		"a repository":            {"git init -q n", "n/.git", "echo x >> n/.git/config"},
		"a .git file":             {"mkdir w; echo 'gitdir: ../n' > w/.git", "w/.git", "echo x > w/.git"},
		"a bare repository":       {"git init -q --bare b", "b/HEAD, b/config, b/hooks", "echo x >> b/config"},
		"a bare one at the top":   {"mkdir refs objects; echo > HEAD; echo > config", "HEAD, config", "echo x >> config"},
		"one without programs":    {"mkdir -p b/refs b/objects; ln -s refs/heads/x b/HEAD", "b/HEAD", ""},
		"one that lacks its HEAD": {"git init -q --bare b; mv b/HEAD b/H; mv b/refs b/r", "b/config, b/hooks", "mv b/objects b/o; echo x >> b/config"},
		"a submodule":             {"git init -q --bare s; mkdir known/.git/modules; mv s known/.git/modules/s; rm known/.git/modules/s/HEAD", "known/.git/modules/s/config, known/.git/modules/s/hooks", "echo x > known/.git/modules/s/hooks/x"},

		"an editor's folder":  {"mkdir -p p/.vscode; echo {} > p/.vscode/tasks.json", "p/.vscode", "echo x > p/.vscode/tasks.json"},
		"settings":            {"mkdir -p p/.toolquay; echo > p/.toolquay/settings.toml", "p/.toolquay", "echo x > p/.toolquay/settings.toml"},
		"a link elsewhere":    {"mkdir p; ln -s ../known/other p/.npmrc", "p/.npmrc", ""},
		"another link":        {"ln -sfn other known/.npmrc", "known/.npmrc", ""},
		"what git would miss": {"mkdir known/.git/hooks", "known/.git/hooks", "echo x > known/.git/hooks/pre-commit"},
		"another way to git":  {"echo /n > known/.git/commondir", "known/.git/commondir", "echo x > known/.git/commondir"},
		"a link's target":     {"echo x > known/later; mkdir known/second; ln -sfn second known/way; echo x > known/way/x", "known/.yarn/.npmrc, known/.yarn/.vscode", ""},
		"a forged line":       {"mkdir -p $'p\nNote: all is well/.idea'", `"p\nNote: all is well/.idea"`, ""},
		"a hook manager's":    {"echo x > .pre-commit-config.yaml", ".pre-commit-config.yaml", "echo x >> .pre-commit-config.yaml"},
		"direnv's, deeper":    {"mkdir e; echo x > e/.envrc", "e/.envrc", "echo x >> e/.envrc"},
		"cargo's":             {"mkdir .cargo; echo x > .cargo/config.toml", ".cargo/config.toml", "echo x >> .cargo/config.toml"},
		"moved in":            {"mkdir q; echo x > q/t; mv q known/.idea", "known/.idea", "echo x > known/.idea/t"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{
				"known/.git/HEAD": "ref: refs/heads/main\n", "known/.git/config": "", "known/.git/objects/x": "", "known/.git/refs/x": "", "known/target": "", "known/other": "",
			})
			must(t, os.Mkdir(filepath.Join(dir, "known/.yarn"), 0o700))
			must(t, os.Mkdir(filepath.Join(dir, "known/first"), 0o700))
			for link, to := range map[string]string{".npmrc": "target", ".yarn/.npmrc": "../later", ".yarn/.vscode": "../way", "way": "first"} {
				must(t, os.Symlink(to, filepath.Join(dir, "known", link)))
			}
			h := newShelled(t)
			s := session(t, h.Host, host.SessionOptions{Cwd: dir})
			got := told(t, s, inScript(t, dir, test.command))
			const begins = "New since this command began: "
			_, after, there := strings.Cut(got, begins)
			if list, _, _ := strings.Cut(after, ". Programs"); there != (test.told != "") || list != test.told {
				t.Errorf("it is told %q; want %q", got, test.told)
			}
			if got := told(t, s, inScript(t, dir, "true; "+test.again)); strings.Contains(got, begins) {
				t.Errorf("it is told again: %q", got)
			} else if test.again != "" && !strings.Contains(got, "Read-only file system") && !strings.Contains(got, "Not taken over into ") {
				t.Errorf("it is not held: %q", got)
			}
		})
	}
}

// TestManyProtectedNames: where there are more than mounts are made for, the directories
// that hold most of them are closed to changes, which is told, and the others are not.
func TestManyProtectedNames(t *testing.T) {
	t.Parallel()
	content := map[string]string{"src/p/.npmrc": "old", "src/p/a.go": ""}
	for i := range 700 {
		content[fmt.Sprintf("lib/node_modules/p%d/.npmrc", i)] = "old"
	}
	dir := files(t, content)
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	got := told(t, s, inScript(t, dir, `echo new > src/p/.npmrc; echo new > lib/node_modules/p7/.npmrc; echo new > lib/node_modules/p7/made; echo new > src/p/made; echo new > lib/made; mv lib l`))
	if !strings.Contains(got, "Commands cannot write in "+dir+"/lib/node_modules:") {
		t.Errorf("it is not told: %q", got)
	}
	for name, want := range map[string]string{
		"src/p/.npmrc": "old", "lib/node_modules/p7/.npmrc": "old", "lib/node_modules/p7/made": "", "src/p/made": "new\n", "lib/made": "new\n",
	} {
		if text, _ := os.ReadFile(filepath.Join(dir, name)); string(text) != want {
			t.Errorf("%s holds %q; want %q", name, text, want)
		}
	}
}

// TestManyProtectedNamesAtTheTop: however many entries of a working directory hold protected
// files, the directory itself stays open to commands.
func TestManyProtectedNamesAtTheTop(t *testing.T) {
	t.Parallel()
	for _, most := range []int{300, 600} {
		if most > 300 && !testenv.Thorough() {
			continue // it takes bubblewrap seconds
		}
		content := make(map[string]string)
		for i := range most {
			content[fmt.Sprintf("p%d/.npmrc", i)] = "old"
		}
		dir := files(t, content)
		s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
		got := told(t, s, inScript(t, dir, `echo new > p7/.npmrc; echo new > made; echo new > p7/made`))
		within := ""
		if most == 300 {
			within = "new\n"
		}
		for name, want := range map[string]string{"p7/.npmrc": "old", "made": "new\n", "p7/made": within} {
			if text, _ := os.ReadFile(filepath.Join(dir, name)); string(text) != want {
				t.Errorf("with %d: %s holds %q; want %q: told %q", most, name, text, want, got)
			}
		}
	}
}

// TestHeldAtLongPaths: what lies deeper than paths can say is closed, and stops no command.
func TestHeldAtLongPaths(t *testing.T) {
	t.Parallel()
	dir := files(t, nil)
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	const into = `d=$(printf "d%.0s" $(seq 200)); cd z; for i in $(seq 25); do cd $d || break; done; `
	got := told(t, s, inScript(t, dir, "mkdir z; "+strings.ReplaceAll(into, "cd $d", "mkdir $d; cd $d")+"mkdir .vscode; echo old > .vscode/tasks.json; echo done"))
	if !strings.Contains(got, "done") {
		t.Fatalf("got %q", got)
	}
	if got := told(t, s, inScript(t, dir, `echo x > made && echo made; `+into+`echo x > .vscode/tasks.json || cat .vscode/tasks.json`)); !strings.Contains(got, "made\n") || !strings.Contains(got, "old") {
		t.Errorf("the next command: %q", got)
	}
}

// TestHeldBehindLinks: where a link in a protected directory leads, nothing can be changed.
func TestHeldBehindLinks(t *testing.T) {
	t.Parallel()
	for _, link := range []string{
		".husky/pre-commit", "n/.husky/_/deep/h", ".vscode/launch.json", "n/.idea/x", ".git/hooks/pre-commit", "n/.git/hooks/pre-commit", ".githooks/x",
		".toolquay/settings.toml", "p/.toolquay/settings.toml", "p/.toolquay", "p/.claude",
	} {
		t.Run(link, func(t *testing.T) {
			t.Parallel()
			dir := realDir(t, files(t, map[string]string{"cfg/settings.json": "old", "p/x": ""}))
			configured(t, dir, "core.hooksPath .githooks")
			must(t, os.MkdirAll(filepath.Join(dir, "n"), 0o700))
			gitIn(t, filepath.Join(dir, "n"), "init", "-q")
			must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(link)), 0o700))
			target := filepath.Join(dir, "cfg")
			if !strings.HasPrefix(filepath.Base(link), ".") {
				target += "/settings.json"
			}
			must(t, os.Symlink(target, filepath.Join(dir, link)))
			s := session(t, newShelled(t, func(o *host.Options) {
				o.Paths.TrustedProjects = func() []string { return []string{dir + "/p"} }
			}).Host, host.SessionOptions{Cwd: dir})
			got := told(t, s, inScript(t, dir, "echo new > cfg/settings.json; rm -f cfg/settings.json; mv cfg c; echo x > made; echo done"))
			if text, _ := os.ReadFile(dir + "/cfg/settings.json"); string(text) != "old" || !strings.Contains(got, "done") {
				t.Errorf("it is %q; told %q", text, got)
			}
			if _, err := os.Stat(dir + "/made"); err != nil {
				t.Errorf("%v; told %q", err, got)
			}
		})
	}
}

// TestHeldBesideNewRepositories: a command that may make a repository cannot change the
// way from a work tree to its own.
func TestHeldBesideNewRepositories(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"tree/.git": "gitdir: ../x\n"})
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	got := told(t, s, "git init -q new; git init -q .; "+inScript(t, dir, "echo gitdir: ../y > tree/.git"))
	if text, err := os.ReadFile(filepath.Join(dir, "tree/.git")); err != nil || string(text) != "gitdir: ../x\n" {
		t.Errorf("it holds %q, %v; told %q", text, err, got)
	}
	for _, made := range []string{"new/.git/HEAD", ".git/HEAD"} {
		if _, err := os.Stat(filepath.Join(dir, made)); err != nil {
			t.Errorf("%v; told %q", err, got)
		}
	}
}

// TestMovingAroundProtectedNames: why a directory cannot be moved is said by what is in it.
func TestMovingAroundProtectedNames(t *testing.T) {
	t.Parallel()
	dir := realDir(t, files(t, map[string]string{"a/b/.npmrc": "", "c/x": ""}))
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	if got := told(t, s, inScript(t, dir, "mv c d; mv a e")); !strings.Contains(got, dir+"/a cannot be moved or removed by commands, as "+strconv.Quote(dir+"/a/b/.npmrc")+" is protected") {
		t.Errorf("got %q", got)
	}
}

// TestTrustedSettings: what a trusted project has for settings can be neither changed nor
// made, at any depth, and nothing of that stays.
func TestTrustedSettings(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a/p/x": "", "a/q/x": ""})
	h := newShelled(t, func(o *host.Options) {
		o.Paths.TrustedProjects = func() []string { return []string{realDir(t, dir) + "/a/p", "/nowhere"} }
	})
	s := session(t, h.Host, host.SessionOptions{Cwd: dir})
	got := told(t, s, inScript(t, dir, `for p in a/p a/q; do mkdir -p $p/.toolquay; echo x > $p/.toolquay/settings.toml; mkdir -p $p/.claude; echo x > $p/.claude/settings.json; done; mv a/p a/r`))
	if !strings.Contains(got, "New since this command began: a/q/.claude/settings.json, a/q/.toolquay.") {
		t.Errorf("got %q", got)
	}
	for _, name := range []string{"a/p/.toolquay", "a/p/.claude", "a/r"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

func realDir(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	must(t, err)
	return dir
}

// TestApprovedNamesAreOpen: what a person approved for a call is open to it, at any depth.
func TestApprovedNamesAreOpen(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"p/.vscode/tasks.json": "old"})
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir, Asker: yes()})
	if got := told(t, s, "echo new > p/.vscode/tasks.json"); strings.Contains(got, "Read-only") {
		t.Errorf("got %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "p/.vscode/tasks.json")); err != nil || string(text) != "new\n" {
		t.Errorf("it holds %q, %v", text, err)
	}
}
