package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// manyCopies is how much larger than Go's own sources the large tree is.
const manyCopies = 8

// mostFiles is more than any tree here has: 0 would be the host's bound, at which a
// search ends.
const mostFiles = 1_000_000

// classes are the kinds of pattern that searches by content are measured with, in
// a syntax that both sides share.
var classes = []struct{ name, pattern, flag string }{
	{"a rare literal", "ErrUnexpectedEOF", ""},
	{"a common literal", "return", ""},
	{"a literal in either case", "errunexpectedeof", "-i"},
	{"a regular expression with a literal", `func \w+\(ctx context`, ""},
	{"one without", `[A-Z]{4,}_[a-z]+\d`, ""},
	{"words before a literal", `\w+Reader\s+struct`, ""},
	{"an alternation of four", "Sprintf|Fatalf|Unmarshal|Mutex", ""},
	{"no match", "zq_nowhere_qz", ""},
}

// searchRows set Grep and Glob against ripgrep and fd, as calls of a running host
// and as whole processes. Both sides look at every file: Grep counts, because
// that is the mode in which neither stops at a first match.
func searchRows() []row {
	var rows []row
	for _, copies := range []int{1, manyCopies} {
		tree := "Go's sources"
		if copies > 1 {
			tree = fmt.Sprintf("%d copies of them", copies)
		}
		glob, _ := json.Marshal(map[string]any{"pattern": "**/*.go"})
		rows = append(rows, compared(row{
			name: "Glob for Go files over " + tree, baseline: "fd", needs: fdName(), limit: "at most 0.6x", sibling: copies > 1,
			theirs: outside(copies, fdName(), "--hidden", "--no-ignore", "--type=f", "--glob", "*.go"),
		}, copies, "Glob", string(glob))...)
		rows = append(rows, row{
			name: "Glob for Go files over " + tree + ", a call, equal work", compare: ratio, limit: "-", sibling: true,
			ours: called(copies, "Glob", string(glob)), baseline: "fd that looks at times", needs: fdName(),
			theirs: outside(copies, fdName(), "--hidden", "--no-ignore", "--type=f", "--changed-within=50years", "--glob", "*.go"),
		})
		for i, c := range classes {
			input, _ := json.Marshal(map[string]any{"pattern": c.pattern, "output_mode": "count", "head_limit": mostFiles, "-i": c.flag != ""})
			args := append(slices.DeleteFunc([]string{c.flag}, func(s string) bool { return s == "" }),
				"--no-config", "--hidden", "--glob=!.git", "--count", "-e", c.pattern, ".")
			rows = append(rows, compared(row{
				name: "Grep for " + c.name + " over " + tree, average: "Grep over " + tree, baseline: "rg", needs: "rg", limit: "at most 1.5x, 1.0x on average", sibling: copies > 1 || i > 0,
				theirs: outside(copies, "rg", args...),
			}, copies, "Grep", string(input))...)
		}
	}
	return append(rows, row{
		name: "Read of 2,000 lines deep in 10 MB, a whole process", ours: deepRead, needs: "sed",
		baseline: "sed -n", theirs: deepSed, compare: ratio, limit: "at most 3x",
	})
}

// compared is a row as it was given for a call of a running host, and for a whole
// process.
func compared(r row, copies int, tool, input string) []row {
	r.compare = ratio
	inside, whole := r, r
	inside.name, inside.ours = r.name+", a call", called(copies, tool, input)
	if r.average != "" {
		inside.average, whole.average = r.average+", a call", r.average+", a whole process"
	}
	whole.name, whole.ours = r.name+", a whole process", func(b *testing.B, l *lab) {
		l.process(b, "--cwd", l.tree(b, copies), "call", tool, input)
	}
	return []row{inside, whole}
}

// fdName is what fd is called here: Debian's name for it is another.
func fdName() string {
	if _, err := exec.LookPath("fdfind"); err == nil {
		return "fdfind"
	}
	return "fd"
}

// outside runs a program in a tree. That nothing was found, which some programs
// tell as a failure, is none.
func outside(copies int, program string, args ...string) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		dir := l.tree(b, copies)
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), program, args...)
			cmd.Dir = dir
			_, err := cmd.Output()
			if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
				b.Fatalf("%s %q: %v", program, args, err)
			}
		}
	}
}

// called makes one call of a built-in tool after the other, in a session whose
// working directory is the tree.
func called(copies int, tool, input string) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		ctx := context.Background()
		h, err := host.Open(ctx, host.Options{
			Storage: host.StorageOptions{CacheDir: filepath.Join(l.dir, "cache")}, Builtins: true, Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{fiftyRules()}},
		})
		if err != nil {
			b.Fatal(err)
		}
		defer h.Close(ctx)
		s, err := h.NewSession(host.SessionOptions{Cwd: l.tree(b, copies)})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close(ctx)
		calls := []abi.ToolUse{{ID: "1", Name: tool, Input: json.RawMessage(input)}}
		call := func() {
			if results := s.Results(ctx, calls); results[0].IsError {
				b.Fatal(results[0].Text())
			}
		}
		call() // what is compiled once for all is no call's
		for b.Loop() {
			call()
		}
	}
}

// tree is a folder of so many copies of Go's own sources, or of a part of them
// where the lab is a small one.
func (l *lab) tree(b *testing.B, copies int) string {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal("where Go's sources are: ", err)
	}
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	if l.small {
		src = filepath.Join(src, "encoding")
	}
	if src, err = filepath.EvalSymlinks(src); err != nil {
		b.Fatal(err)
	}
	if copies == 1 {
		return src
	}
	dir := filepath.Join(l.dir, fmt.Sprintf("tree-%d", copies))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	for i := range copies {
		if err := copyTree(filepath.Join(dir, strconv.Itoa(i)), src); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// copyTree makes a second tree of the same files: by hard links where it can, so
// that eight of them take no space.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		if err := os.Link(path, target); err == nil {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
}

// deepFirst and deepCount are the lines read of a long file.
const deepFirst, deepCount = 80_000, 2000

// deep is a file of 10 MB in lines of 100 bytes.
func (l *lab) deep(b *testing.B) string {
	b.Helper()
	path := filepath.Join(l.dir, "deep.txt")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	line := strings.Repeat("0123456789", 9) + "012345678\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 100_000)), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

func deepRead(b *testing.B, l *lab) {
	input, err := json.Marshal(map[string]any{"file_path": l.deep(b), "offset": deepFirst, "limit": deepCount})
	if err != nil {
		b.Fatal(err)
	}
	l.process(b, "call", "Read", string(input))
}

func deepSed(b *testing.B, l *lab) {
	path := l.deep(b)
	for b.Loop() {
		lines := fmt.Sprintf("%d,%dp;%dq", deepFirst, deepFirst+deepCount-1, deepFirst+deepCount)
		if out, err := exec.CommandContext(b.Context(), "sed", "-n", lines, path).Output(); err != nil || len(out) != 100*deepCount {
			b.Fatalf("%d bytes: %v", len(out), err)
		}
	}
}
