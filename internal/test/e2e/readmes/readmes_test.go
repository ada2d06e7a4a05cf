//go:build unix && !race

package readmes

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/toolquay/toolquay/internal/testenv"
)

const (
	root = "../../../.."
	// address is the repository's, from which the README has people clone it.
	address = "https://github.com/toolquay/toolquay"
)

// readmes are the pages whose commands are typed, the folder of a clone that a reader is in
// when they begin ("" is an empty folder, ".." the one that the clone lies in), and the
// programs beside Go, git and bash that a page needs.
var readmes = map[string]struct {
	start string
	needs []string
}{
	"README.md":                                  {needs: []string{"bwrap", "python3"}},
	"sdk/go/README.md":                           {start: ".."},
	"sdk/rust/README.md":                         {start: "..", needs: []string{"cargo"}},
	"plugin-examples/csvquery/README.md":         {start: "plugin-examples/csvquery", needs: []string{"cargo"}},
	"plugin-examples/outline-go/README.md":       {start: "plugin-examples/outline-go"},
	"plugin-examples/wordcount-extism/README.md": {start: "plugin-examples/wordcount-extism"},
}

// TestReadmes types what the READMEs say to type, in a fresh clone at a terminal, and holds
// what is printed against what they show.
func TestReadmes(t *testing.T) {
	testenv.SkipUnlessThorough(t)
	for _, tool := range []string{"git", "bash", "go"} {
		testenv.NeedTool(t, tool)
	}
	command := testenv.GoProgram(t, root+"/cmd/host")
	origin, target := newOrigin(t), t.TempDir()
	for page, r := range readmes {
		t.Run(strings.ReplaceAll(page, "/", "_"), func(t *testing.T) {
			t.Parallel()
			for _, tool := range r.needs {
				testenv.NeedTool(t, tool)
			}
			source, err := os.ReadFile(filepath.Join(root, page))
			if err != nil {
				t.Fatal(err)
			}
			steps, err := readSteps(string(source))
			if err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			reader := newReader(t, origin, command, r.start)
			// Dependencies are built once, and nothing is made small or fast.
			reader.env = append(reader.env, "CARGO_TARGET_DIR="+target, "CARGO_PROFILE_DEV_DEBUG=0",
				"CARGO_PROFILE_RELEASE_OPT_LEVEL=0", "CARGO_PROFILE_RELEASE_LTO=off", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16")
			reader.follow(t, page, steps)
		})
	}
}

// TestReadmeSnippets finds the README's Go code in the example that it points to.
func TestReadmeSnippets(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile(filepath.Join(root, "examples/embed/main.go"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) == 0 {
		t.Fatal("the README shows no Go")
	}
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			if line = strings.TrimSpace(line); line != "..." && !strings.Contains(string(example), line) {
				t.Errorf("examples/embed/main.go has no line %q", line)
			}
		}
	}
}

// A step is one thing that a page has its reader do.
type step struct {
	line int
	// Script is typed into a shell; it must succeed unless Shows is set.
	script string
	// Shows is what the page shows as the script's output, "…" standing for anything.
	shows    string
	verifies bool
}

var (
	fence    = regexp.MustCompile("^```(\\w*)$")
	fileName = regexp.MustCompile("(add to )?`([~\\w./-]+)`:$")
)

// readSteps reads the steps out of a page: blocks of sh are scripts, those of console are
// commands behind "$ " with their output, and any other block is a file if the text before
// it ends in the file's name and a colon, or in "add to", the name and a colon.
func readSteps(page string) ([]step, error) {
	var steps []step
	var block []string
	inside, kind, before, begin := false, "", "", 0
	for i, line := range strings.Split(page, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case m != nil && !inside:
			inside, kind, block, begin = true, m[1], nil, i+1
		case m != nil:
			inside = false
			steps = append(steps, blockSteps(kind, before, block, begin)...)
		case inside:
			block = append(block, line)
		case strings.TrimSpace(line) != "":
			before = line
		}
	}
	if inside {
		return nil, fmt.Errorf("line %d: the block does not end", begin)
	}
	return steps, nil
}

func blockSteps(kind, before string, block []string, line int) []step {
	text := strings.Join(block, "\n") + "\n"
	switch file := fileName.FindStringSubmatch(before); {
	case kind == "sh":
		return []step{{line: line, script: text}}
	case kind == "console":
		return transcript(block, line)
	case file != nil:
		to := ">"
		if file[1] != "" {
			to = ">>"
		}
		folder := "mkdir -p " + filepath.Dir(file[2]) + "\n"
		return []step{{line: line, script: folder + "cat " + to + file[2] + " <<'END-OF-FILE'\n" + text + "END-OF-FILE\n"}}
	}
	return nil
}

func transcript(block []string, line int) []step {
	var steps []step
	for i, l := range block {
		if command, ok := strings.CutPrefix(l, "$ "); ok {
			steps = append(steps, step{line: line + 1 + i, script: command + "\n", verifies: true})
		} else if n := len(steps); n > 0 {
			steps[n-1].shows += l + "\n"
		}
	}
	return steps
}

// pattern is a regular expression for an output as a page shows it. A line of "…" is any
// number of lines, and one within a line anything there. How wide the columns of a table
// are is left open.
func (s step) pattern() *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`^\s*`)
	for line := range strings.Lines(strings.TrimSpace(s.shows) + "\n") {
		line = strings.TrimRight(line, " \t\n")
		if line == "…" {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		line = strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
		b.WriteString(regexp.MustCompile(` {2,}`).ReplaceAllString(line, ` +`) + `\s*?\n`)
	}
	b.WriteString(`\s*$`)
	return regexp.MustCompile(b.String())
}

// newOrigin makes a repository of the files that git knows here, as they are now.
func newOrigin(t *testing.T) string {
	t.Helper()
	listed, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		testenv.Missing(t, "this is not a git checkout")
	}
	origin := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimRight(string(listed), "\x00"), "\x00") {
		from, to := filepath.Join(root, name), filepath.Join(origin, name)
		info, err := os.Lstat(from)
		if err != nil || !info.Mode().IsRegular() {
			continue // removed, and not committed yet
		}
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, content, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "--all"},
		{"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=all"},
	} {
		if out, err := exec.Command("git", append([]string{"-C", origin}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %s", args[0], out)
		}
	}
	return origin
}

// A reader is a person with a home of their own who reads a page at a terminal.
type reader struct {
	home, dir string
	env       []string
}

func newReader(t *testing.T, origin, command, start string) *reader {
	t.Helper()
	home, work := t.TempDir(), t.TempDir()
	r := &reader{home: home, dir: work}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.Fields(string(caches))
	kept := []string{"PATH=", "RUSTUP_HOME=", "CARGO_HOME=", "GOPROXY=", "GOTOOLCHAIN=", "HTTPS_PROXY=", "https_proxy="}
	for _, v := range os.Environ() {
		if slices.ContainsFunc(kept, func(k string) bool { return strings.HasPrefix(v, k) }) {
			r.env = append(r.env, v)
		}
	}
	own, _ := os.UserHomeDir()
	r.env = append([]string{"CARGO_HOME=" + filepath.Join(own, ".cargo"), "RUSTUP_HOME=" + filepath.Join(own, ".rustup")}, r.env...)
	r.env = append(
		r.env, "HOME="+home, "GOCACHE="+cache[0], "GOMODCACHE="+cache[1],
		// One page says to build without C. All pages do, so that everything is built once; the other
		// tests have built most of it.
		"CGO_ENABLED=0",
		"TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+origin+".insteadOf", "GIT_CONFIG_VALUE_0="+address,
	)
	if start == "" {
		return r
	}
	clone := filepath.Join(work, "toolquay")
	if out, err := exec.Command("git", "clone", "--quiet", origin, clone).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	bin := filepath.Join(home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(command, filepath.Join(bin, "toolquay")); err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	r.dir = filepath.Join(clone, start)
	return r
}

// follow types all steps of a page into one shell.
func (r *reader) follow(t *testing.T, page string, steps []step) {
	t.Helper()
	if len(steps) == 0 {
		t.Fatalf("%s says nothing to type", page)
	}
	var script strings.Builder
	for i, s := range steps {
		stop := "set -e"
		if s.verifies {
			stop = "set +e"
		}
		fmt.Fprintf(&script, "%s\nprintf '\\n@begin %d@\\n'\n%sprintf '\\n@end %d@\\n'\n", stop, i, s.script, i)
	}
	said := r.type_(t, script.String())
	for i, s := range steps {
		_, rest, begun := strings.Cut(said, fmt.Sprintf("\n@begin %d@\n", i))
		output, _, ended := strings.Cut(rest, fmt.Sprintf("\n@end %d@\n", i))
		if !begun || !ended {
			t.Fatalf("%s:%d: this fails:\n%s\nand prints:\n%s", page, s.line, s.script, output)
		}
		if s.verifies && !s.pattern().MatchString(output+"\n") {
			t.Errorf("%s:%d: %sis shown to print:\n%s\nand prints:\n%s", page, s.line, s.script, s.shows, output)
		}
	}
}

// type_ runs a script at a terminal, answers its questions with yes, and returns what was
// on the screen.
func (r *reader) type_(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "typed")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", file)
	c.Dir, c.Env = r.dir, r.env
	terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: 50, Cols: 300})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	var said bytes.Buffer
	chunk := make([]byte, 1<<16)
	for {
		n, err := terminal.Read(chunk)
		said.Write(chunk[:n])
		if bytes.HasSuffix(said.Bytes(), []byte("[y/N] ")) {
			if _, err := terminal.WriteString("y\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil { // the terminal's other end is closed
			break
		}
	}
	_ = c.Wait() // the missing end of a step tells
	return strings.NewReplacer("\r\n", "\n", r.home, "~").Replace(said.String())
}
