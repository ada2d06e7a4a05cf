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

	"github.com/toolquay/toolquay/cmd/host/internal/ui/vt"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// desk is a pseudo-terminal with somebody at it.
type desk struct {
	t        *testing.T
	keyboard *os.File // what they type on, and see
	program  *os.File // the program's end

	// term is what they see.
	term *vt.Terminal

	mu   sync.Mutex
	seen bytes.Buffer
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	keyboard, program, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &desk{t: t, keyboard: keyboard, program: program, term: vt.New(1, 1)}
	s.resize(80, 24)
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
			_, _ = s.term.Write(b[:n])
		}
	}()
	return s
}

func (s *desk) resize(width, height uint16) {
	s.t.Helper()
	if err := pty.Setsize(s.keyboard, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		s.t.Fatal(err)
	}
	s.term.Resize(int(width), int(height))
}

func (s *desk) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String()
}

// waitFor waits until a text is on the screen, some number of times.
func (s *desk) waitFor(text string, times int) {
	s.t.Helper()
	for end := time.Now().Add(testenv.Patience); strings.Count(s.text(), text) < times; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%q is not on the screen %d times:\n%s", text, times, s.text())
		}
	}
}

func (s *desk) press(keys string) {
	s.t.Helper()
	if _, err := s.keyboard.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// until waits until something holds.
func (s *desk) until(what string, holds func() bool) {
	s.t.Helper()
	for end := time.Now().Add(testenv.Patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("waiting until %s:\n%s", what, s.text())
		}
	}
}

// insist presses keys again and again until something holds: those pressed
// before a question waits for them do not count.
func (s *desk) insist(keys string, until func() bool) {
	s.t.Helper()
	for end := time.Now().Add(testenv.Patience); !until(); time.Sleep(2 * pollTime * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("nothing comes of %q:\n%s", keys, s.text())
		}
		s.press(keys)
	}
}

// modes are the settings of the terminal.
func (s *desk) modes() unix.Termios {
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
func (s *desk) ask(ctx context.Context, a *Asker, q host.Approval) <-chan answered {
	out := make(chan answered, 1)
	go func() {
		reply, err := a.Ask(ctx, approvalOf(q))
		out <- answered{reply, err}
	}()
	return out
}

func (s *desk) asker() *Asker { return NewAsker(NewPrinter(s.program), s.program) }

// TestKeys answers with single keys, without Enter and without an echo.
func TestKeys(t *testing.T) {
	s := newDesk(t)
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
	s := newDesk(t)
	out := s.ask(t.Context(), s.asker(), command("make all"))
	s.waitFor("tell the model why", 1)
	s.insist("t", func() bool { return strings.Contains(s.text(), "to the model:") })
	s.press("use nimja\x7f\x7f\x7fnja\n")
	if got := <-out; got.err != nil || got.reply.Answer != host.AnswerDeny || !strings.HasSuffix(got.reply.Message, "use ninja") {
		t.Errorf("got %+v", got)
	}
}

// TestFormAtTheTerminal fills in a form with keys and lines.
func TestFormAtTheTerminal(t *testing.T) {
	s := newDesk(t)
	out := make(chan answered, 1)
	go func() {
		reply, err := s.asker().Ask(t.Context(), formQuestion("What is it called?"))
		out <- answered{reply, err}
	}()
	s.waitFor("tell the tool why", 1)
	s.insist("y", func() bool { return strings.Contains(s.text(), "As on the") })
	s.press("\x15Ann\n\n\n\n\n\n") // Ctrl-U takes back what was pressed too often
	s.waitFor("send this", 1)
	s.insist("y", func() bool { return len(out) > 0 })
	if got := <-out; got.err != nil || string(got.reply.Content) != `{"count":3,"name":"Ann","size":"l"}` {
		t.Errorf("got %+v: %s", got, got.reply.Content)
	}
}

// TestTypedBefore holds that what was typed before a question does not answer
// it.
func TestTypedBefore(t *testing.T) {
	s := newDesk(t)
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

// TestKeyAfterAStop has a question go on with single keys after Ctrl-Z and fg: the
// shell gives the terminal back in line mode.
func TestKeyAfterAStop(t *testing.T) {
	s := newDesk(t)
	usual := s.modes()
	out := s.ask(t.Context(), s.asker(), command("make all"))
	s.waitFor("tell the model why", 1)
	for s.modes() == usual { // until it waits for a key
		time.Sleep(time.Millisecond)
	}
	if err := unix.IoctlSetTermios(int(s.program.Fd()), setTermios, &usual); err != nil {
		t.Fatal(err)
	}
	var got answered
	s.insist("y", func() bool {
		if err := unix.Kill(os.Getpid(), unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		select {
		case got = <-out:
			return true
		default:
			return false
		}
	})
	if got.err != nil || got.reply.Answer != host.AnswerAllow {
		t.Errorf("got %+v", got)
	}
	if s.modes() != usual {
		t.Error("the terminal is not left as it was found")
	}
}

// TestConfirmTakesWhatIsTypedAfterIt types an answer, and half of one, before a yes-or-no
// question is there.
func TestConfirmTakesWhatIsTypedAfterIt(t *testing.T) {
	t.Parallel()
	for _, early := range []string{"y\n", "y"} {
		s := newDesk(t)
		s.press(early)
		s.waitFor("y", 1) // its echo: the terminal has it
		asker := NewAsker(NewPrinter(s.program), s.program)
		answer := make(chan bool, 1)
		go func() { answer <- asker.Confirm(t.Context(), "Really?") }()
		s.waitFor("Really?", 1)
		s.press("\n")
		if <-answer {
			t.Errorf("%q that was typed before answered yes", early)
		}
		go func() { answer <- asker.Confirm(t.Context(), "Sure?") }()
		s.waitFor("Sure?", 1)
		s.press("y\n")
		if !<-answer {
			t.Errorf("%q: a yes did not count", early)
		}
	}
}
