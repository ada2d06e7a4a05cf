package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/stage"
)

// stageRows compare what a person does with a stage with programs that do the same with two
// directories.
func stageRows() []row {
	return []row{
		{name: "the diff of 10,000 files that were staged", ours: stageDiff, baseline: "git diff --no-index", theirs: gitDiff, compare: ratio, limit: "under 2 s", needs: "git"},
		{name: "10,000 files applied from a stage, with history", ours: stageApplied, baseline: "cp and sync", theirs: copied, compare: ratio, limit: "-", needs: "cp"},
	}
}

// staged is a directory of files of 2 KiB, and a stage in which a command changed each of them.
type staged struct {
	*stage.Store
	b           *testing.B
	dir         string
	work, upper string
}

func (s *staged) must(err error) {
	s.b.Helper()
	if err != nil {
		s.b.Fatal(err)
	}
}

// stageFiles creates a new staged.
func stageFiles(b *testing.B, l *lab) *staged {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	s := &staged{b: b, dir: dir, work: filepath.Join(dir, "work")}
	s.must(err)
	past := filepath.Join(dir, "history")
	for _, path := range []string{s.work, filepath.Join(dir, "stage"), past} {
		s.must(os.Mkdir(path, 0o700))
	}
	h := history.Open(past, history.Options{})
	b.Cleanup(func() { _ = h.Close() }) // its directory is removed
	s.Store = stage.Open(filepath.Join(dir, "stage"), stage.Options{History: h})
	layers, err := s.Layers([]string{s.work})
	s.must(err)
	s.upper = layers[0].Upper
	files, text := 10_000, strings.Repeat("a line of some length\n", 90)
	if l.small {
		files = 10
	}
	for i := range files {
		name := fmt.Sprintf("d%02d/f%d", i%100, i)
		for _, at := range []string{s.work, s.upper} {
			s.must(os.MkdirAll(filepath.Join(at, filepath.Dir(name)), 0o755))
			s.must(os.WriteFile(filepath.Join(at, name), []byte(text), 0o600))
			text = strings.Replace(text, "line", "row", 1)
		}
		text = strings.Replace(text, "row", "line", 2)
	}
	s.must(s.Scan(b.Context(), time.Now().Add(time.Hour), capability.Call{ID: "1", Tool: "Bash"}))
	s.must(exec.CommandContext(b.Context(), "sync").Run())
	return s
}

func stageDiff(b *testing.B, l *lab) {
	s := stageFiles(b, l)
	for b.Loop() {
		_, err := s.Patch(b.Context(), io.Discard, stage.Selection{}, changes.PatchOptions{Dir: s.work})
		s.must(err)
	}
}

func gitDiff(b *testing.B, l *lab) {
	s := stageFiles(b, l)
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), "git", "diff", "--no-index", s.work, s.upper)
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 { // 1 means that there are differences
			b.Fatal(err)
		}
	}
}

func stageApplied(b *testing.B, l *lab) {
	applied(b, l, func(s *staged) error {
		_, err := s.Apply(b.Context(), stage.Selection{})
		return err
	})
}

// copied replaces the files with others, as applying does.
func copied(b *testing.B, l *lab) {
	applied(b, l, func(s *staged) error {
		const script = `cp -a --remove-destination "$1/." "$2" && sync -f "$2"`
		return exec.CommandContext(b.Context(), "sh", "-c", script, "sh", s.upper, s.work).Run()
	})
}

func applied(b *testing.B, l *lab, apply func(*staged) error) {
	for b.Loop() {
		b.StopTimer()
		s := stageFiles(b, l)
		b.StartTimer()
		s.must(apply(s))
	}
}
