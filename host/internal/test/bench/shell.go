package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
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
		fast   = "at least 0.8 times as fast"
		writes = ": >out"
	)
	return fine([]row{
		{name: "true without a sandbox, the capability", ours: runs(false, "true"), baseline: plain, theirs: execTrue, compare: ratio, limit: near, needs: "bash"},
		{name: "true without a sandbox, a call of Bash", ours: calls(false, "true"), baseline: plain, theirs: execTrue, compare: ratio, limit: near, needs: "bash"},
		{name: "true in a sandbox, the capability", ours: runs(true, "true"), baseline: plain, theirs: execTrue, compare: ratio, limit: twice, needs: "bash"},
		{name: "true in a sandbox, a call of Bash", ours: calls(true, "true"), baseline: plain, theirs: execTrue, compare: ratio, limit: twice, needs: "bash"},
		{name: "what writes, in a sandbox, the capability", ours: runs(true, writes), baseline: plain, theirs: execTrue, compare: ratio, limit: twice, needs: "bash"},
		{name: "what writes, with 20 hidden and protected paths, the capability", ours: guardedRuns, baseline: plain, theirs: execTrue, compare: ratio, limit: "at most 2.5x", needs: "bash"},
		{name: "the first command of a session, in a sandbox, the capability", ours: firstRuns, baseline: box, theirs: execBox, compare: ratio, limit: near, needs: bubblewrap},
		{name: "100 MB of output, the capability", ours: runs(false, putOut), baseline: file, theirs: catToFile, compare: times, limit: fast, needs: "bash"},
		{name: "100 MB of output, a call of Bash", ours: calls(false, putOut), baseline: file, theirs: catToFile, compare: times, limit: fast, needs: "bash"},
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
)

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
