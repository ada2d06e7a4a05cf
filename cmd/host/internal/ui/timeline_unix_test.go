//go:build unix

package ui

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// sees waits until a text is on the terminal, or is not any more.
func (s *desk) sees(text string, there bool) {
	s.t.Helper()
	for end := time.Now().Add(testenv.Patience); strings.Contains(s.term.Text(), text) != there; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%q is there: %t, want %t:\n%s", text, !there, there, s.term.Text())
		}
	}
}

// left waits until the terminal is as a program has to leave it.
func (s *desk) left() {
	s.t.Helper()
	for end := time.Now().Add(testenv.Patience); s.term.Err() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatal(s.term.Err())
		}
	}
}

// TestTimelineAtATerminal plays a turn with all that can come in between, on a
// real pseudo-terminal.
func TestTimelineAtATerminal(t *testing.T) {
	for name, value := range map[string]string{"TERM": "xterm", "NO_COLOR": "", "CI": ""} {
		t.Setenv(name, value)
	}
	const foot = "Ctrl-C ends the turn"
	s := newDesk(t)
	before := s.modes()
	out, p := NewPrinters(s.program, s.program)
	timeline := NewTimeline(p, false)
	turn := &script{tell: timeline.Event}
	u := turn.queue("Bash", "make all").starts()
	other := turn.queue("Bash", "make test").starts()
	s.sees(foot, true)
	s.resize(60, 4)
	slog.New(slog.NewTextHandler(p, nil)).Warn("a line of the log")
	s.sees("a line of the log", true)
	s.sees("2 running", true)

	answer := s.ask(t.Context(), NewAsker(p, s.program), command("make all"))
	s.waitFor("tell the model why", 1)
	s.sees(foot, false)
	s.resize(100, 30)
	other.answers(time.Second, 5)
	var got answered
	s.insist("y", func() bool {
		select {
		case got = <-answer:
			return true
		default:
			return false
		}
	})
	if got.err != nil || got.reply.Answer != host.AnswerAllow {
		t.Errorf("got %+v", got)
	}
	s.sees("1 running, 1 done", true)
	fmt.Fprintln(out, "a line of the output")
	s.resize(70, 10)
	s.sees("a line of the output", true)
	s.sees(foot, true)
	u.answers(2*time.Second, 7)
	timeline.End()
	s.sees("2 calls in", true)

	if err := s.term.Err(); err != nil {
		t.Error(err)
	}
	text := s.term.Text()
	for line, n := range map[string]int{
		"a line of the log": 1, "a line of the output": 1, "tell the model why": 1, "✓ Bash make test  1.0s  5 B\n": 1,
		"✓ Bash make all  2.0s  7 B\n": 1, foot: 0, "running": 0, "⠋": 0,
	} {
		if got := strings.Count(text, line); got != n {
			t.Errorf("%q is there %d times, want %d:\n%s", line, got, n, text)
		}
	}
	if s.modes() != before {
		t.Error("the terminal is not left as it was found")
	}
}

// TestPrinterLooksAround has what the environment says of the terminal heeded.
func TestPrinterLooksAround(t *testing.T) {
	s := newDesk(t)
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, tt := range []struct {
		term, noColor, ci string
		to                *os.File
		terminal, colour  bool
		live              bool
	}{
		{"xterm", "", "", s.program, true, true, true},
		{"xterm", "1", "", s.program, true, false, true},
		{"xterm", "", "true", s.program, true, true, false},
		{"xterm", "", "false", s.program, true, true, true},
		{"dumb", "", "", s.program, true, false, false},
		{"", "", "", s.program, true, true, false},
		{"xterm", "", "", file, false, false, false},
	} {
		t.Run(fmt.Sprintf("TERM=%s NO_COLOR=%s CI=%s", tt.term, tt.noColor, tt.ci), func(t *testing.T) {
			t.Setenv("TERM", tt.term)
			t.Setenv("NO_COLOR", tt.noColor)
			t.Setenv("CI", tt.ci)
			p := NewPrinter(tt.to)
			if p.Terminal != tt.terminal || p.Colour != tt.colour || p.Live != tt.live {
				t.Errorf("terminal %t, colour %t, live %t", p.Terminal, p.Colour, p.Live)
			}
		})
	}
	t.Setenv("TERM", "xterm")
	p := NewPrinter(s.program)
	s.resize(0, 0)
	if width, height := p.Size(); width != usualWidth || height != usualHeight {
		t.Errorf("a terminal that does not tell is %dx%d", width, height)
	}
}

// plays starts a process that draws a turn at the desk.
func (s *desk) plays() *os.Process {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), playsVariable+"=1", "TERM=xterm", "CI=", "NO_COLOR=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.program, s.program, s.program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = cmd.Process.Wait()
	})
	s.sees("Ctrl-C", true)
	return cmd.Process
}

// TestCtrlZ has the shell find its place: the live region is away while the program
// is stopped, and back when it goes on.
func TestCtrlZ(t *testing.T) {
	t.Parallel()
	s := newDesk(t)
	p := s.plays()
	for range 3 {
		s.press("\x1a")
		var status unix.WaitStatus
		if _, err := unix.Wait4(p.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("it is not stopped: %v, %v", status, err)
		}
		s.sees("Ctrl-C", false)
		s.left() // what it wrote last may still be on its way
		if err := p.Signal(unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		s.sees("Ctrl-C", true)
	}
}

// TestKilled has a program that is killed leave nothing behind that the shell would
// have to mend: the cursor shows, lines wrap, keys echo.
func TestKilled(t *testing.T) {
	t.Parallel()
	s := newDesk(t)
	before := s.modes()
	p := s.plays()
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	s.left() // what it wrote last may still be on its way
	if s.modes() != before {
		t.Error("the terminal is not left as it was found")
	}
}
