//go:build unix

package ui

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// screen is a pseudo-terminal with somebody at it.
type screen struct {
	t        *testing.T
	keyboard *os.File // what they type on, and see
	program  *os.File // the program's end

	mu   sync.Mutex
	seen bytes.Buffer
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	keyboard, program, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, keyboard: keyboard, program: program}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = program.Close()
		_ = keyboard.Close()
		<-done
	})
	go func() {
		defer close(done)
		b := make([]byte, 4096)
		for {
			n, err := keyboard.Read(b)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.seen.Write(b[:n])
			s.mu.Unlock()
		}
	}()
	return s
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String()
}

// waitFor waits until a text is on the screen, some number of times.
func (s *screen) waitFor(text string, times int) {
	s.t.Helper()
	for end := time.Now().Add(testenv.Patience); strings.Count(s.text(), text) < times; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%q is not on the screen %d times:\n%s", text, times, s.text())
		}
	}
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.keyboard.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// insist presses keys again and again until something holds: those pressed
// before a question waits for them do not count.
func (s *screen) insist(keys string, until func() bool) {
	s.t.Helper()
	for end := time.Now().Add(testenv.Patience); !until(); time.Sleep(2 * pollTime * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("nothing comes of %q:\n%s", keys, s.text())
		}
		s.press(keys)
	}
}

// modes are the settings of the terminal.
func (s *screen) modes() unix.Termios {
	s.t.Helper()
	m, err := unix.IoctlGetTermios(int(s.program.Fd()), getTermios)
	if err != nil {
		s.t.Fatal(err)
	}
	return *m
}

type answered struct {
	reply host.Reply
	err   error
}

// ask puts a question at the screen and returns where its answer comes.
func (s *screen) ask(ctx context.Context, a *Asker, q host.Approval) <-chan answered {
	out := make(chan answered, 1)
	go func() {
		reply, err := a.Ask(ctx, q)
		out <- answered{reply, err}
	}()
	return out
}

func (s *screen) asker() *Asker { return NewAsker(NewPrinter(s.program), s.program) }

// TestKeys answers with single keys, without Enter and without an echo.
func TestKeys(t *testing.T) {
	s := newScreen(t)
	a := s.asker()
	before := s.modes()
	q := command("make all")
	for i, want := range []host.Answer{host.AnswerAllow, host.AnswerDeny} {
		out := s.ask(t.Context(), a, q)
		s.waitFor("tell the model why", i+1)
		var got answered
		s.press("\x1bOy") // what a key of the keypad sends is no yes
		s.insist(string("yn"[i]), func() bool {
			select {
			case got = <-out:
				return true
			default:
				return false
			}
		})
		if got.err != nil || got.reply.Answer != want {
			t.Errorf("got %+v", got)
		}
	}
	if s.modes() != before {
		t.Error("the terminal is not left as it was found")
	}
}

// TestWordsAtTheTerminal has the line edited as the terminal does it.
func TestWordsAtTheTerminal(t *testing.T) {
	s := newScreen(t)
	out := s.ask(t.Context(), s.asker(), command("make all"))
	s.waitFor("tell the model why", 1)
	s.insist("t", func() bool { return strings.Contains(s.text(), "to the model:") })
	s.press("use nimja\x7f\x7f\x7fnja\n")
	if got := <-out; got.err != nil || got.reply.Answer != host.AnswerDeny || !strings.HasSuffix(got.reply.Message, "use ninja") {
		t.Errorf("got %+v", got)
	}
}

// TestTypedBefore holds that what was typed before a question does not answer
// it.
func TestTypedBefore(t *testing.T) {
	s := newScreen(t)
	s.press("yyyyy\ny")
	ctx, cancel := context.WithCancel(t.Context())
	out := s.ask(ctx, s.asker(), command("make all"))
	s.waitFor("tell the model why", 1)
	select {
	case got := <-out:
		t.Errorf("it was answered: %+v", got)
	case <-time.After(4 * pollTime * time.Millisecond):
	}
	before := s.modes()
	cancel()
	if got := <-out; got.err == nil {
		t.Errorf("got %+v of a question that is over", got)
	}
	if after := s.modes(); after == before {
		t.Error("the terminal still waits for keys")
	}
}
