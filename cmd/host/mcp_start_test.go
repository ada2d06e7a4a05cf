package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// firstAnswer is how long toolquay mcp takes from its start to its first answer.
func firstAnswer(tb testing.TB, home string) time.Duration {
	tb.Helper()
	took, err := timeToFirstLine(tb, home, initialize+"\n", "mcp")
	if err != nil {
		tb.Error(err)
	}
	return took
}

// timeToFirstLine is how long the command takes from its start to its first line of output. The error is
// that of its end.
func timeToFirstLine(tb testing.TB, home, input string, args ...string) (time.Duration, error) {
	tb.Helper()
	cmd := exec.Command("toolquay", args...)
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	took := testenv.Took(func() {
		if err = cmd.Start(); err != nil {
			return
		}
		if _, err = io.WriteString(in, input); err == nil {
			_, err = bufio.NewReader(out).ReadString('\n')
		}
	})
	if err != nil {
		tb.Fatal(err)
	}
	_ = in.Close()
	return took, cmd.Wait()
}

// TestFirstAnswerOfMCP holds the start to a bound: 9 ms on an idle machine of 2 cores, where
// 40 ms is what is promised.
func TestFirstAnswerOfMCP(t *testing.T) {
	if testenv.Race {
		t.Log("times are bounded without the race detector")
		return
	}
	home := t.TempDir()
	testenv.InTime(t, 200*time.Millisecond, func() time.Duration { return firstAnswer(t, home) })
}

func BenchmarkFirstAnswerOfMCP(b *testing.B) {
	home := b.TempDir()
	for b.Loop() {
		firstAnswer(b, home)
	}
}
