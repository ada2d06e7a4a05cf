package host_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// searches are commands that go through a directory D, or through what D/* matches.
var searches = []string{
	"grep -rn NEEDLE D", "grep -rl NEEDLE D | sort", "cd D && grep -r NEEDLE .", "rg -uu NEEDLE D", "rg --hidden NEEDLE D || true",
	"find D -type f", "find D -name '*.go'", "ls -RA D", "du -a D", "timeout 5 grep -rc NEEDLE D",
	"grep -r NEEDLE D/*", "cat D/*", "wc -c D/*", "ls -R D/*",
}

// withheldName says which names the rules of TestSearches withhold.
func withheldName(name string) bool {
	return name == ".env" || name == ".token" || name == "secrets" || strings.HasSuffix(name, ".pem")
}

// forest makes a random tree, in which what is withheld holds CANARY, and returns its directories.
func forest(tb testing.TB, r *rand.Rand, top string) []string {
	tb.Helper()
	dirs := []string{"."}
	for range 12 {
		dir := filepath.Join(dirs[r.IntN(len(dirs))], []string{"a", "b", "node_modules", ".cache", "secrets"}[r.IntN(5)])
		must(tb, os.MkdirAll(filepath.Join(top, dir), 0o755))
		if !strings.Contains(dir, "secrets") {
			dirs = append(dirs, dir)
		}
		for _, name := range []string{"x.go", "y.txt", ".env", "key.pem", ".token"} {
			text := "NEEDLE\n"
			if withheldName(name) || strings.Contains(dir, "secrets") {
				text = "NEEDLE CANARY\n"
			}
			if r.IntN(6) == 0 || !withheldName(name) {
				must(tb, os.WriteFile(filepath.Join(top, dir, name), []byte(text), 0o644))
			}
		}
	}
	must(tb, os.WriteFile(filepath.Join(top, ".gitignore"), []byte("node_modules\n.env\n"), 0o644))
	return dirs
}

// meets reports whether a search comes upon something that is withheld: in all of a directory,
// or in what a pattern matches there.
func meets(tb testing.TB, dir, command string) bool {
	tb.Helper()
	globbed, below, met := strings.Contains(command, "D/*"), strings.Contains(command, "-r") || strings.Contains(command, "-R"), false
	must(tb, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		rest, _ := filepath.Rel(dir, path)
		first, _, deep := strings.Cut(rest, "/")
		if globbed && (strings.HasPrefix(first, ".") || deep && !below) {
			return nil
		}
		met = met || rest != "." && withheldName(filepath.Base(path))
		return err
	}))
	return met
}

// refused reports whether a command was not run, as nobody allows it.
func refused(r abi.ToolResult) bool {
	return r.IsError && r.Error != nil && (r.Error.Code == abi.CodeDenied || r.Error.Code == abi.CodeNeedsApproval)
}

// TestSearches has random trees searched. In a sandbox every search runs that names nothing
// which is withheld, and prints nothing of it. Without one those are refused that would meet
// it, and no others; also where an untrusted project brings the rules.
func TestSearches(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "rg")
	for seed := range uint64(4) {
		for _, mode := range []sandbox.Mode{sandbox.WhenAvailable, sandbox.Off} {
			t.Run(fmt.Sprint(mode, " ", seed), func(t *testing.T) {
				t.Parallel()
				r, top := rand.New(rand.NewPCG(seed, 0)), t.TempDir()
				dirs := forest(t, r, top)
				s := searching(t, top, mode, permissions.SourceProject, "Read(.env) | Read(*.pem) | Read(secrets/**)", "Read(.token)", "")
				for _, command := range searches {
					dir := dirs[r.IntN(len(dirs))]
					text := strings.ReplaceAll(command, "D", dir)
					text = strings.ReplaceAll(text, "NEE"+dir+"LE", "NEEDLE")
					result, _ := one(t, s, "Bash", fmt.Sprintf(`{"command":%q}`, text+"; cd "+top))
					want := meets(t, filepath.Join(top, dir), command)
					if mode != sandbox.Off && want {
						want = named(t, filepath.Join(top, dir), command)
					}
					if refused(result) != want {
						t.Errorf("%s: refused %v, want %v: %s", text, refused(result), want, result.Text())
					}
					if strings.Contains(result.Text(), "CANARY") {
						t.Errorf("%s prints %s", text, result.Text())
					}
				}
			})
		}
	}
}

// named reports whether the pattern of a command matches a name that is withheld.
func named(tb testing.TB, dir, command string) bool {
	tb.Helper()
	matches, err := filepath.Glob(filepath.Join(dir, "[^.]*"))
	must(tb, err)
	for _, match := range matches {
		if strings.Contains(command, "D/*") && withheldName(filepath.Base(match)) {
			return true
		}
	}
	return false
}

// searching is a session in a directory whose person cannot be asked.
func searching(tb testing.TB, dir string, mode sandbox.Mode, source permissions.SourceKind, deny, ask, allow string) *host.Session {
	tb.Helper()
	return session(tb, newShelled(tb, searchesIn(mode, source, deny, ask, allow)).Host, host.SessionOptions{Cwd: dir, Mode: permissions.ModeDontAsk})
}

func searchesIn(mode sandbox.Mode, source permissions.SourceKind, deny, ask, allow string) func(o *host.Options) {
	return func(o *host.Options) {
		o.Shell.Sandbox.Mode, o.Permissions.Rules = mode, rules(deny, ask, allow)
		o.Permissions.Rules[0].Source = source
	}
}

// TestHiddenIsNoFailure has searches succeed that could not read what is hidden from them,
// and only those. Several threads of ripgrep write into each other's lines.
func TestHiddenIsNoFailure(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "rg")
	dir := files(t, map[string]string{".env": "NEEDLE CANARY\n", "a.txt": "NEEDLE\n", "b.txt": "none\n"})
	for command, fails := range map[string]bool{
		"grep -r NEEDLE .": false, "rg -uu -j1 NEEDLE": false, "grep -r nothing .": false,
		"grep -r NEEDLE . nosuch": true, "grep -r '\\\\(' .": true, "grep -r NEEDLE . >a": true,
	} {
		s := searching(t, dir, sandbox.WhenAvailable, permissions.SourceUser, "Read(.env)", "", "")
		result, _ := one(t, s, "Bash", fmt.Sprintf(`{"command":"%s"}`, command))
		if result.IsError != fails || strings.Contains(result.Text(), "CANARY") {
			t.Errorf("%s: failed %v, want %v: %s", command, result.IsError, fails, result.Text())
		}
	}
}

// TestSearchesAreBounded asks where there is more to look through than is looked at.
func TestSearchesAreBounded(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a/1": "", "a/2": "", "b/1": "", "b/2": ""})
	for most, want := range map[int]bool{5: true, 6: false} {
		h := newShelled(t, searchesIn(sandbox.Off, permissions.SourceUser, "Read(.env)", "", ""))
		h.SearchAtMost(most)
		result, _ := one(t, session(t, h.Host, host.SessionOptions{Cwd: dir}), "Bash", `{"command":"find . -name x"}`)
		if refused(result) != want {
			t.Errorf("of %d names: refused %v: %s", most, refused(result), result.Text())
		}
	}
}

// TestSearchesHide looks at what a sandbox may fail to hide, and what no sandbox hides.
func TestSearchesHide(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	const write = "echo NEEDLE CANARY > "
	for name, test := range map[string]struct {
		made, command string
		mode          sandbox.Mode
		refused       bool
	}{
		"nested":                      {write + "sub/.env", "grep -r NEEDLE .", sandbox.WhenAvailable, false},
		"a link to it":                {write + ".env; ln -s .env l", "grep -r NEEDLE . ; find . -type l", sandbox.WhenAvailable, false},
		"a link that is named":        {write + ".env; ln -s .env l", "cat l", sandbox.WhenAvailable, true},
		"a link that matches":         {write + ".env; ln -s .env l", "cat *", sandbox.WhenAvailable, true},
		"it is a link":                {write + "sub/real; ln -s sub/real .env", "grep -r NEEDLE .", sandbox.WhenAvailable, false},
		"a hard link":                 {write + ".env; ln .env sub/other", "grep -r NEEDLE .", sandbox.WhenAvailable, false},
		"a hard link, in sight":       {write + ".env; ln .env sub/other", "grep -r NEEDLE sub", sandbox.Off, true},
		"a closed directory":          {"mkdir shut; " + write + "shut/.env; chmod 311 shut", "chmod 755 shut && grep -r NEEDLE .", sandbox.WhenAvailable, false},
		"named":                       {write + ".env", "grep -r NEEDLE . .env", sandbox.WhenAvailable, true},
		"named by a pattern":          {write + ".env", "cat .e*", sandbox.WhenAvailable, true},
		"named by a pattern, deep":    {write + "sub/.env", "cat */.env", sandbox.WhenAvailable, true},
		"a pattern without a match":   {write + "sub/.env", "cat .e* || true", sandbox.Off, false},
		"a pattern that passes it by": {write + ".env", "cat * [.]env ?env *env || true", sandbox.Off, false},
		"dotglob":                     {write + ".env", "shopt -s dotglob; cat *", sandbox.WhenAvailable, false},
		"dotglob, in sight":           {write + ".env", "shopt -s dotglob; cat *", sandbox.Off, true},
		"outside":                     {write + "$OUT/.env", "grep -r NEEDLE OUT", sandbox.Off, true},
		"of the machine alone":        {write + "$OUT/.env", "grep -r NEEDLE OUT", sandbox.WhenAvailable, false},
		"a link to a tree outside":    {write + "$OUT/.env; ln -s $OUT l", "grep -r NEEDLE l", sandbox.WhenAvailable, true},
		"links that are followed":     {write + "$OUT/.env; ln -s $OUT l", "grep -R NEEDLE .", sandbox.WhenAvailable, false},
		"links that stay inside":      {write + "sub/.env; ln -s sub l", "grep -R NEEDLE .", sandbox.WhenAvailable, false},
		"links to it in sight":        {write + "sub/.env; ln -s sub l", "grep -R NEEDLE l/.", sandbox.Off, true},
		"named through a link":        {write + "sub/key; ln -s sub by", "grep -r NEEDLE by/.", sandbox.Off, true},
		"fed by a list":               {write + "sub/.env", "find . -type f -print0 | xargs -0 cat", sandbox.WhenAvailable, false},
		"fed by a list, in sight":     {write + "sub/.env", "find . -type f -print0 | xargs -0 cat", sandbox.Off, true},
		"a pattern of links":          {write + "$OUT/.env; ln -s $OUT l", "grep -r NEEDLE *", sandbox.WhenAvailable, true},
		"a pattern with an escape":    {write + "$OUT/.env; ln -s $OUT/.env l.x", `cat *\\\\.x`, sandbox.Off, true},
		"copied through links":        {write + "$OUT/.env; ln -s $OUT sub/l", "cp -rL sub copy; find copy", sandbox.WhenAvailable, true},
		"packed through links":        {write + "$OUT/.env; ln -s $OUT sub/l", "tar -chf x.tar sub; tar -xOf x.tar", sandbox.WhenAvailable, false},
		"written before":              {"", "make -n && echo 'NEEDLE' > x && grep -r NEEDLE . || true", sandbox.WhenAvailable, false},
		"written before, in sight":    {"", "make -n; grep -r NEEDLE .", sandbox.Off, true},
		"plain writes, in sight":      {"", "mkdir d && grep -r NEEDLE . || true", sandbox.Off, false},
		"brought back by git":         {"", "git checkout HEAD~1 -- . ; grep -r NEEDLE .", sandbox.WhenAvailable, true},
		"started elsewhere":           {write + "$OUT/.env", "find OUT -maxdepth 0 -execdir grep -r NEEDLE . ';'", sandbox.WhenAvailable, false},
		"started elsewhere, in sight": {write + "$OUT/.env", "find OUT -maxdepth 0 -execdir grep -r NEEDLE . ';'", sandbox.Off, true},
		"out of the sandbox":          {write + ".env", `grep -r NEEDLE .","dangerouslyDisableSandbox":true,"description":"`, sandbox.WhenAvailable, true},
		"out of it, nothing there":    {"", `grep -r NEEDLE .","timeout":60000,"description":"`, sandbox.Off, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, out := t.TempDir(), filepath.Join(outside, strings.ReplaceAll(name, " ", "_"))
			must(t, os.Mkdir(out, 0o755))
			must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
			s := searching(t, dir, test.mode, permissions.SourceUser, "Read(.env) | Read(**/by/key)", "", "Bash")
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "shut"), 0o755) }) // most have none
			// The session is there already.
			script(t, dir, "OUT="+out+"; "+test.made)
			result, _ := one(t, s, "Bash", `{"command":"`+strings.ReplaceAll(test.command, "OUT", out)+`"}`)
			if refused(result) != test.refused || strings.Contains(result.Text(), "CANARY") {
				t.Errorf("refused %v: %s", refused(result), result.Text())
			}
		})
	}
}

// TestNativeSearches holds an embedder's own tool, whose commands no sandbox of the host's
// confines, to what is there.
func TestNativeSearches(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	for name, want := range map[string]abi.Code{".env": abi.CodeNeedsApproval, "env": ""} {
		var r ran
		dir := files(t, map[string]string{"sub/" + name: "x"})
		h := open(t, host.Options{Tools: []host.NativeTool{r.shell(runLine)}, Permissions: host.PermissionOptions{Rules: rules("Read(.env)", "", "")}})
		result, _ := one(t, session(t, h, host.SessionOptions{Cwd: dir}), "Bash", `{"command":"grep -rc x ."}`)
		if want != "" {
			wantError(t, result, want)
		} else if result.IsError || r.count() != 1 {
			t.Errorf("%s: %s", name, result.Text())
		}
	}
}

// script has bash make files in a directory.
func script(tb testing.TB, dir, text string) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), testenv.NeedTool(tb, "bash"), "-c", text)
	cmd.Dir, cmd.Env = dir, append(os.Environ(),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v\n%s", text, err, out)
	}
}
