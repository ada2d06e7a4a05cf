package programs

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
)

// together is how many examples run in one sandbox: starting it takes longest.
const together = 10

// Every example that is read-only is run for real, on a tree that it may write,
// where nothing else may be written: it must end, and change nothing.
func TestReadOnlyForReal(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux)
	bwrap := testenv.NeedTool(t, "bwrap")
	dir := scratch(t)
	before := state(t, dir)
	commands := realReads(t)
	if len(commands) < 300 {
		t.Errorf("only %d examples run", len(commands))
	}
	rand.Shuffle(len(commands), func(i, j int) { commands[i], commands[j] = commands[j], commands[i] })
	for group := range slices.Chunk(commands[:testenv.Sample(len(commands))], together) {
		text := "(" + strings.Join(group, "\n)\n(") + "\n)"
		out, err := inSandbox(bwrap, dir, text)
		if err != nil {
			t.Errorf("one of these does not end:\n%s", text)
		}
		if strings.Contains(out, "Read-only file system") || strings.Contains(out, "Network is unreachable") {
			t.Errorf("one of these tried more than to read:\n%s\n%.1000s", text, out)
		}
		if after := state(t, dir); after != before {
			t.Errorf("one of these changed its tree:\n%s", text)
			before = after
		}
	}
}

// realReads are the examples that are read-only by themselves; those of git have
// a test of their own.
func realReads(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, e := range examples(t) {
		if f := Judge(split(e.command)); f.ReadOnly && len(f.Inner) == 0 && !strings.HasPrefix(e.command, "git") {
			out = append(out, e.command)
		}
	}
	return out
}

// inSandbox runs a command in bash, and returns what it printed. It fails only
// where the command does not end.
func inSandbox(bwrap, dir, command string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), testenv.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net",
		"--unshare-pid", "--die-with-parent", "--bind", dir, dir, "--chdir", filepath.Join(dir, "work"),
		"bash", "--noprofile", "--norc", "-c", `x="a b" y=3`+"\n"+command)
	cmd.Env = environ(filepath.Join(dir, "home"))
	out, _ := cmd.CombinedOutput() // many have nothing to read, and fail
	return string(out), ctx.Err()
}

// scratch makes a tree with the files that examples name, and names that look
// like flags.
func scratch(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"work/a": "foo 1\nbar 2\n", "work/b": "foo 1\nbaz 3\n", "work/c": "c\n", "work/a.txt": "foo\n", "work/a.go": "package a\n",
		"work/src/x.go": "package src\n", "work/src/d/y.go": "package d\n", "work/pats": "foo\n", "work/list": "a\x00b\x00",
		"work/sums": "d41d8cd98f00b204e9800998ecf8427e  a\n", "work/-n": "n\n", "work/-o": "o\n", "work/--help": "h\n",
		"work/-rf": "r\n", "work/--output=out": "o\n", "work/a.gz": "no gzip", "work/a.zip": "no zip",
		"home/.jq": "def foo: .;", "home/.lesskey": "#env\nLESSOPEN=|touch x\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The test above means something: what changes the tree is noticed.
func TestChangesAreNoticed(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux)
	bwrap := testenv.NeedTool(t, "bwrap")
	for _, command := range []string{
		"touch a", "sort -o a b", "sed -i s/foo/x/ a", "cp a new", "rm b", "xxd a out", "uniq a out", "mkdir n", "chmod 600 a",
		"git init -q",
	} {
		dir := scratch(t)
		before := state(t, dir)
		if f := Judge(split(command)); f.ReadOnly {
			t.Errorf("%s is read-only", command)
		}
		name, _, _ := strings.Cut(command, " ")
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		if out, _ := inSandbox(bwrap, dir, command); state(t, dir) == before && !strings.Contains(out, "Read-only") {
			t.Errorf("%s is not noticed", command)
		}
	}
}
