package shell_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestOutputComesAsItWasWritten(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	command := "for i in 1 2 3; do echo out $i; echo err $i >&2; done"
	if r := s.bash(c, command); r.out != "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n" || r.Lines != 6 || r.Bytes != 36 || r.ErrSize != 0 {
		t.Errorf("got %+v", r)
	}
	r := s.run(c, abi.ShellArgs{Command: command, Separate: true})
	if r.out != "out 1\nout 2\nout 3\n" || r.err != "err 1\nerr 2\nerr 3\n" || r.Lines != 6 || r.Bytes != 36 {
		t.Errorf("separately: got %+v", r)
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestOutputNeedBeNoText(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	for _, size := range []int{10, 300 << 10} { // in memory, and in a file
		raw := bytes.Repeat([]byte("a\x00\xff\xe2\x82\xac\xe2\x82é\n"), size/10)
		raw = append(raw, 0xf0, 0x9f)
		if err := os.WriteFile(filepath.Join(s.dir, "raw"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		var want []byte
		invalid := 0
		for rest := raw; len(rest) > 0; {
			r, n := utf8.DecodeRune(rest)
			if r == utf8.RuneError && n == 1 {
				invalid++
			}
			want, rest = utf8.AppendRune(want, r), rest[n:]
		}
		r := s.bash(c, "dd status=none if=raw bs=777")
		if r.out != string(want) || r.Bytes != int64(len(raw)) || r.Invalid != int64(invalid) || r.Lines != int64(size/10) {
			t.Errorf("got %d bytes and %+v; want %d, %d invalid", len(r.out), r.ShellOK, len(want), invalid)
		}
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestLongOutputsAreAbridged(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	const size = 100_000_000
	r := s.bash(c, fmt.Sprintf("echo begin; yes 1234567 | head -c %d; echo end", size))
	if r.Bytes != size+10 || r.Lines != size/8+2 || r.OutputFile == "" || r.Kept != 0 {
		t.Fatalf("got %d bytes and %+v", len(r.out), r.ShellOK)
	}
	// No tool's result is so short that this is kept in another file once more.
	if len(r.out) > 10_000 {
		t.Errorf("%d bytes are shown", len(r.out))
	}
	parts := regexp.MustCompile(`(?s)^(begin\n1234567\n.*)\n\.\.\. (\d+) lines \(95\.4 MiB\) left out here \.\.\.\n(1234567\n.*\n1234567\nend\n)$`).FindStringSubmatch(r.out)
	if parts == nil {
		t.Fatalf("got %q", r.out)
	}
	left, err := strconv.ParseInt(parts[2], 10, 64)
	if shown := strings.Count(parts[1]+parts[3], "\n"); err != nil || left+int64(shown) != r.Lines {
		t.Errorf("%d lines are shown and %d left out of %d: %v", shown, left, r.Lines, err)
	}
	info, err := os.Stat(r.OutputFile)
	if err != nil || info.Size() != r.Bytes {
		t.Errorf("the file: %+v, %v", info, err)
	}
}

func TestTooMuchOutputEndsTheCommand(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t, func(o *shell.Options) { o.MaxOutput = 1 << 20 })
	r := s.bash(c, "yes")
	if r.Limit != "output" || r.LimitText != "it wrote more than 1 MiB" || r.Exit == 0 || r.Bytes <= 1<<20 || r.Kept != 1<<20 || !strings.Contains(r.out, " left out here ...") {
		t.Errorf("got %+v", r.ShellOK)
	}
	if info, err := os.Stat(r.OutputFile); err != nil || info.Size() != 1<<20 {
		t.Errorf("the file: %+v, %v", info, err)
	}
}

func TestOutputThatCannotBeKept(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	if err := os.RemoveAll(s.spool); err != nil {
		t.Fatal(err)
	}
	r := s.bash(c, "yes | head -c 2000000; echo end")
	if r.Bytes != 2_000_004 || !strings.HasPrefix(r.out, "y\ny\n") || !strings.HasSuffix(r.out, "y\nend\n") || !strings.Contains(r.out, "could not be kept") || r.Exit != 0 {
		t.Errorf("got %d bytes, %+v", len(r.out), r.ShellOK)
	}
}

func TestHeldPipesHoldNobody(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	r := s.bash(c, "(setsid sleep 100 & ) ; (trap '' TERM HUP; sleep 100) & disown; echo done")
	if r.out != "done\n" || r.Left < 2 || r.Duration > 50_000 {
		t.Errorf("got %+v", r)
	}
}

// hugeOutput names the variable that asks for the longest outputs.
const hugeOutput = "TOOLQUAY_TEST_HUGE"

// TestMemoryIsBounded runs a command with a long output in a process of its own, whose
// memory is then known.
func TestMemoryIsBounded(t *testing.T) {
	const inner = "TOOLQUAY_TEST_FLOOD"
	if size := os.Getenv(inner); size != "" {
		s, c := newSession(t), newShell(t)
		ok := s.call(t, c, json.RawMessage(`{"command": "head -c `+size+` /dev/zero"}`))
		if strconv.FormatInt(ok.Bytes, 10) != size || ok.Lines != 0 || ok.Invalid != 0 || ok.Exit != 0 {
			t.Errorf("got %+v", ok)
		}
		// Under the race detector it is several times what it is without.
		if peak := peakMemory(t); peak > 150<<20 {
			t.Errorf("%s bytes of output took %d MiB of memory", size, peak>>20)
		}
		return
	}
	t.Parallel()
	size := "1000000000"
	if !testenv.Thorough() {
		size = "400000000"
	}
	if os.Getenv(hugeOutput) != "" {
		size = "10000000000"
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMemoryIsBounded$")
	cmd.Env = append(os.Environ(), inner+"="+size, "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
