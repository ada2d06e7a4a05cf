package shell_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
)

// call makes a call and reads its answer, as a host does.
func (s *session) call(tb testing.TB, c *shell.Capability, args json.RawMessage) abi.ShellOK {
	tb.Helper()
	p, err := c.Plan(context.Background(), s.scope(), abi.Request{Name: abi.CapShellRun, Args: args})
	if err != nil {
		tb.Fatal(err)
	}
	answer, err := p.Do(context.Background(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		tb.Fatal(err)
	}
	if err := answer.Close(); err != nil {
		tb.Fatal(err)
	}
	return answer.OK.(abi.ShellOK)
}

func BenchmarkTrue(b *testing.B) {
	b.Run("Bash", func(b *testing.B) {
		s, c := newSession(b), newShell(b)
		for b.Loop() {
			s.call(b, c, json.RawMessage(`{"command":"true"}`))
		}
	})
	b.Run("Exec", func(b *testing.B) {
		s := newSession(b)
		for b.Loop() {
			cmd := exec.Command("/usr/bin/bash", "-c", "true")
			cmd.Dir, cmd.Env = s.dir, s.environ
			if _, err := cmd.CombinedOutput(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, command := range map[string]string{"Warm": "true", "Sandbox": "touch /tmp/x"} {
		b.Run(name, func(b *testing.B) {
			s := newSession(b)
			c := newShell(b, s.sandboxed())
			args, _ := json.Marshal(abi.ShellArgs{Command: command})
			for b.Loop() {
				s.call(b, c, args)
			}
		})
	}
}

// BenchmarkOutput compares 100 MB that go through the host with what goes straight to a
// file.
func BenchmarkOutput(b *testing.B) {
	const size = 100_000_000
	file := func(b *testing.B, s *session) {
		b.Helper()
		f, err := os.Create(filepath.Join(s.dir, "large"))
		if err != nil {
			b.Fatal(err)
		}
		line := []byte("a line of text that is neither long nor short, as logs have them\n")
		piece := make([]byte, 0, 1<<20)
		for len(piece)+len(line) <= cap(piece) {
			piece = append(piece, line...)
		}
		for left := size; left > 0; left -= len(piece) {
			if _, err := f.Write(piece[:min(left, len(piece))]); err != nil {
				b.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(size)
	}
	b.Run("Bash", func(b *testing.B) {
		s, c := newSession(b), newShell(b)
		file(b, s)
		for b.Loop() {
			// What reads the answer is not what is measured.
			p, err := c.Plan(context.Background(), s.scope(), abi.Request{Args: json.RawMessage(`{"command":"exec cat large"}`)})
			if err != nil {
				b.Fatal(err)
			}
			answer, err := p.Do(context.Background(), nil)
			if err != nil {
				b.Fatal(err)
			}
			if ok := answer.OK.(abi.ShellOK); ok.Bytes != size {
				b.Fatalf("got %+v", ok)
			}
			b.StopTimer()
			if err := answer.Close(); err != nil {
				b.Fatal(err)
			}
			for _, name := range s.spools {
				_ = os.Remove(name)
			}
			b.StartTimer()
		}
	})
	b.Run("File", func(b *testing.B) {
		s := newSession(b)
		file(b, s)
		for b.Loop() {
			cmd := exec.Command("/usr/bin/bash", "-c", "exec cat large >copy")
			cmd.Dir, cmd.Env = s.dir, s.environ
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			_ = os.Remove(filepath.Join(s.dir, "copy"))
			b.StartTimer()
		}
	})
}
