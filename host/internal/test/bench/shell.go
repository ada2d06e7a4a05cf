package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/stage"
)

// shellRows set commands against the same commands started without asking anybody, with
// and without a sandbox: what answers the tools alone, and whole calls.
func shellRows() []row {
	const (
		plain  = "bash -c true"
		box    = "bubblewrap + bash"
		file   = "cat to a file"
		near   = "at most 1.3x"
		twice  = "at most 2x"
		fast   = "at least 0.7 times as fast"
		writes = ": >out"
		alone  = "bash alone"
		boxed  = "in a sandbox"

		without = "without a history"
		nothing = ": >/tmp/out" // it writes, but not to the user's files
		oneFile = "echo $RANDOM >kept"
	)
	return slices.Concat(fine([]row{
		{name: "true without a sandbox, the capability", ours: runs(false, "true"), baseline: plain, theirs: execTrue, compare: ratio, limit: near, needs: "bash"},
		{name: "true without a sandbox, a call of Bash", ours: calls(false, "true"), baseline: plain, theirs: execTrue, compare: ratio, limit: near, needs: "bash"},
		{name: "true in a sandbox, the capability", ours: runs(true, "true"), baseline: plain, theirs: execTrue, compare: ratio, limit: twice, needs: "bash"},
		{name: "true in a sandbox, a call of Bash", ours: calls(true, "true"), baseline: plain, theirs: execTrue, compare: ratio, limit: twice, needs: "bash"},
		{name: "what writes, in a sandbox, the capability", ours: runs(true, writes), baseline: plain, theirs: execTrue, compare: ratio, limit: twice, needs: "bash"},
		{name: "what writes, in a sandbox and a repository, a call of Bash", ours: calls(true, writes), baseline: plain, theirs: execTrue, compare: ratio, needs: "git"},
		{name: "what writes, with 20 hidden and protected paths, the capability", ours: guardedRuns, baseline: plain, theirs: execTrue, compare: ratio, limit: "at most 2.5x", needs: "bash"},
		{name: "the first command of a session, in a sandbox, the capability", ours: firstRuns, baseline: box, theirs: execBox, compare: ratio, limit: near, needs: bubblewrap},
		{name: "100 MB of output, the capability", ours: runs(false, putOut), baseline: file, theirs: catToFile, compare: times, limit: fast, needs: "bash"},
		{name: "100 MB of output, a call of Bash", ours: calls(false, putOut), baseline: file, theirs: catToFile, compare: times, limit: fast, needs: "bash"},
	}), []row{
		{name: "10,000 files written, in a sandbox, the capability", ours: many(boxedRuns), baseline: alone, theirs: many(execBash), compare: ratio, limit: "at most 1.15x", needs: "bash"},
		{name: "go test of 200 files, in a sandbox, the capability", ours: tests(runs(true, goTest)), baseline: alone, theirs: tests(execBash(goTest)), compare: ratio, limit: "at most 1.1x", needs: "go"},
		{name: "10,000 files written, staged, the capability", ours: many(stagedRuns), baseline: boxed, theirs: many(boxedRuns), compare: ratio, limit: "at most 1.7x", needs: "bash"},
		{name: "go test of 200 files, staged, the capability", ours: tests(stagedRuns(goTest)), baseline: boxed, theirs: tests(runs(true, goTest)), compare: ratio, limit: near, needs: "go"},
		{name: "what changes nothing, with a history, the capability", ours: keptRuns(nothing), baseline: without, theirs: runs(true, nothing), compare: ratio, limit: "at most 2 ms more", needs: "bash", fine: true},
		{name: "what writes one file, with a history, the capability", ours: keptRuns(oneFile), baseline: without, theirs: runs(true, oneFile), compare: ratio, limit: twice, needs: "bash", fine: true},
		{name: "10,000 files written, with a history, the capability", ours: many(keptRuns), baseline: without, theirs: many(boxedRuns), compare: ratio, limit: "at most 2x", needs: "bash"},
		{name: "go test of 200 files, with a history, the capability", ours: tests(keptRuns(goTest)), baseline: without, theirs: tests(runs(true, goTest)), compare: ratio, limit: "at most 1.3x", needs: "go"},
		{name: "the network of a session", ours: networks, baseline: plain, theirs: execTrue, compare: ratio, limit: "under 5 ms", needs: bubblewrap},
	})
}

const (
	// bubblewrap is what makes sandboxes; see [row.missing].
	bubblewrap = "bwrap"
	// putOut puts a file out that is large.
	putOut = "exec cat " + largeName
	// largeName and largeSize are that file's.
	largeName = "large"
	largeSize = 100_000_000
	// manyFiles writes a number of files and removes them.
	manyFiles = "mkdir many && cd many && for i in {1..%d}; do : >$i; done && cd .. && rm -r many"
	// goTest tests a package with [goFiles] files of which one has changed.
	goTest  = "cd tested && echo \"// $RANDOM\" >>f0.go && GOCACHE=$PWD/../tested-cache go test . >/dev/null"
	goFiles = 200
)

// many measures a command that writes 10,000 files and removes them; 10 in a small lab.
func many(measured func(command string) func(*testing.B, *lab)) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		files := 10_000
		if l.small {
			files = 10
		}
		measured(fmt.Sprintf(manyFiles, files))(b, l)
	}
}

func boxedRuns(command string) func(*testing.B, *lab) { return runs(true, command) }

// tests makes the package that is tested before what is measured. In a small lab, whose cache is empty,
// it has no test and is only compiled: for a test much of the standard library would be compiled, too.
func tests(run func(*testing.B, *lab)) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		dir := filepath.Join(l.shells(b).work, "tested")
		files := map[string]string{"go.mod": "module tested\n\ngo 1.26\n"}
		if !l.small {
			files["f_test.go"] = "package tested\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { f0() }\n"
		}
		for i := range goFiles {
			files[fmt.Sprintf("f%d.go", i)] = fmt.Sprintf("package tested\n\nfunc f%d() int { return %d }\n", i, i)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		run(b, l)
	}
}

// networks makes what the commands of a session share.
func networks(b *testing.B, l *lab) {
	s := l.shells(b)
	for b.Loop() {
		n, err := s.box.NewNamespace(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if n == nil {
			b.Fatal("sandboxes share no network here")
		}
		if err := n.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// execBash runs a command by bash alone.
func execBash(command string) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s := l.shells(b)
		s.exec(b, nil, "bash", "-c", command) // fills caches, as the other side does
		for b.Loop() {
			s.exec(b, nil, "bash", "-c", command)
		}
	}
}

// runs runs a command by the capability alone.
func runs(confined bool, command string) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s := l.shells(b)
		args, err := json.Marshal(abi.ShellArgs{Command: command})
		if err != nil {
			b.Fatal(err)
		}
		s.run(b, confined, args) // makes what the session's commands share
		for b.Loop() {
			s.run(b, confined, args)
			if command == putOut {
				s.tidy(b)
			}
		}
	}
}

// guardedRuns runs a command that writes where 20 paths are hidden or protected.
func guardedRuns(b *testing.B, l *lab) {
	s := l.shells(b)
	s.guarded = true
	defer func() { s.guarded = false }()
	runs(true, ": >out")(b, l)
}

// stagedRuns runs a command in a session whose writes are staged.
func stagedRuns(command string) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s := l.shells(b)
		dir, err := os.MkdirTemp(filepath.Dir(s.work), "stage-*") //nolint:usetesting // on the file system of s.work
		if err != nil {
			b.Fatal(err)
		}
		s.stage = stage.Open(dir, stage.Options{})
		s.begin()
		defer func() {
			s.stage = nil
			s.begin()
		}()
		runs(true, command)(b, l)
	}
}

// keptRuns runs a command whose changes are kept in a history.
func keptRuns(command string) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s := l.shells(b)
		s.history = history.Open(b.TempDir(), history.Options{})
		defer func() { s.history = nil }()
		runs(true, command)(b, l)
	}
}

// firstRuns runs the first command of a session, each time.
func firstRuns(b *testing.B, l *lab) {
	s := l.shells(b)
	args, err := json.Marshal(abi.ShellArgs{Command: "true"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.begin()
		s.run(b, true, args)
	}
}

// calls calls Bash.
func calls(confined bool, command string) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s := l.shells(b)
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			b.Fatal(err)
		}
		s.call(b, confined, input)
		for b.Loop() {
			s.call(b, confined, input)
			if command == putOut {
				s.tidy(b)
			}
		}
	}
}

// execTrue runs the shortest command as any program would.
func execTrue(b *testing.B, l *lab) {
	s := l.shells(b)
	for b.Loop() {
		s.exec(b, nil, "bash", "-c", "true")
	}
}

// execBox runs it in a sandbox that is worth the name, and no more than that.
func execBox(b *testing.B, l *lab) {
	s := l.shells(b)
	for b.Loop() {
		s.exec(b, nil, bubblewrap, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/",
			"--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "bash", "-c", "true")
	}
}

// catToFile has cat write what it reads to another file.
func catToFile(b *testing.B, l *lab) {
	s := l.shells(b)
	copied := filepath.Join(s.work, "copy")
	for b.Loop() {
		f, err := os.Create(copied)
		if err != nil {
			b.Fatal(err)
		}
		s.exec(b, f, "cat", largeName)
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := os.Remove(copied); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func (s *shells) exec(b *testing.B, stdout *os.File, program string, args ...string) {
	b.Helper()
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Dir = s.work
	if stdout != nil {
		cmd.Stdout = stdout // not a nil pointer in an interface
	}
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
}
