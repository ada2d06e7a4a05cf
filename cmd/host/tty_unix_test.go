//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/cmd/host/internal/ui/vt"
	"github.com/toolquay/toolquay/internal/testenv"
)

// person [-sizes=WxH,...] [-shared] KEYS PROGRAM [ARG...] runs a program at a terminal where
// somebody sits. Each time a question is shown they press the next of the keys,
// which are separated by spaces; one that is longer than a key is typed as a line
// once it is asked for, one of ^C is pressed as often as it says when the screen
// offers it, and +K=TEXT presses K while nobody is asked, and waits for the text. Where there are several sizes, they make the terminal one after the
// other of them all the while.
//
// What the program prints goes to the file out, or with -shared to the terminal, all that it writes to the terminal
// to the file screen, and what is to be seen there in the end to the file seen.
// With ! the program must fail.
func person(ts *testscript.TestScript, neg bool, args []string) {
	sizes, shared := "300x60", false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if given, ok := strings.CutPrefix(args[0], "-sizes="); ok {
			sizes = given
		}
		shared = shared || args[0] == "-shared"
		args = args[1:]
	}
	if len(args) < 2 {
		ts.Fatalf("usage: [!] person [-sizes=WxH,...] [-shared] keys program [arg...]")
	}
	keyboard, terminal, err := pty.Open()
	ts.Check(err)
	defer keyboard.Close()
	s := &sitting{keyboard: keyboard, ended: make(chan struct{}), term: vt.New(1, 1)}
	all := parseSizes(ts, sizes)
	s.set(all[0])
	program, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(program, args[2:]...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stderr, cmd.Stdout = terminal, terminal, &out
	if shared {
		cmd.Stdout = terminal
	}
	cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	ts.Check(terminal.Close())
	go s.look()
	stop := s.resize(cmd.Process, all)
	defer stop()
	for key := range strings.FieldsSeq(args[0]) {
		if strings.HasPrefix(key, "^C") {
			s.wait(ts, "Ctrl-C", func() bool { return strings.Contains(s.term.Text(), "Ctrl-C") })
			if key == "^C" {
				_, err := keyboard.WriteString("\x03")
				ts.Check(err)
				continue
			}
			// A terminal throws away what it has not shown yet when the key comes, which on a
			// busy machine is late: it would take what an earlier one was answered with.
			for range strings.Count(key, "^C") {
				_ = cmd.Process.Signal(os.Interrupt) // fails once it has ended
				time.Sleep(2 * time.Millisecond)     // at once they would be one signal
			}
			continue
		}
		if key, text, ok := strings.Cut(strings.ReplaceAll(key, "_", " "), "="); ok && key[0] == '+' {
			s.steer(ts, key[1:], text)
			continue
		}
		s.press(ts, strings.ReplaceAll(key, "_", " "))
	}
	late := time.AfterFunc(testenv.Patience, func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT) // what hangs tells where, on the screen
	})
	err = cmd.Wait()
	late.Stop()
	<-s.ended
	ts.Check(os.WriteFile(ts.MkAbs("out"), out.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("screen"), []byte(s.text()), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("seen"), []byte(s.term.Text()), 0o600))
	ts.Check(s.term.Err())
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || (err != nil) != neg {
		ts.Fatalf("it ended with %v\nscreen:\n%s\nout:\n%s", err, s.text(), out.String())
	}
}

func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "GORACE", "WORK", "TERM", "CI"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return append(env, "NO_COLOR=1")
}

// sitting is somebody at a terminal.
type sitting struct {
	keyboard *os.File
	ended    chan struct{}
	term     *vt.Terminal

	mu     sync.Mutex
	screen bytes.Buffer
	read   int // what of the screen the last key answered
	// sizing is held while the terminal gets another size, and while it takes what was
	// written for the one it has.
	sizing sync.Mutex
}

// pending reports whether there is something that the terminal has not taken yet.
func (s *sitting) pending() bool {
	fds := []unix.PollFd{{Fd: int32(s.keyboard.Fd()), Events: unix.POLLIN}}
	n, _ := unix.Poll(fds, 0)
	return n > 0 && fds[0].Revents&unix.POLLIN != 0
}

// parseSizes reads sizes of a terminal, separated by commas.
func parseSizes(ts *testscript.TestScript, sizes string) (all []pty.Winsize) {
	for size := range strings.SplitSeq(sizes, ",") {
		var w pty.Winsize
		_, err := fmt.Sscanf(size, "%dx%d", &w.Cols, &w.Rows)
		ts.Check(err)
		all = append(all, w)
	}
	return all
}

// resize makes the terminal the sizes that are given, again and again until stop is
// called.
func (s *sitting) resize(program *os.Process, sizes []pty.Winsize) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 1; len(sizes) > 1; i++ {
			select {
			case <-time.After(130 * time.Millisecond):
				// What a program writes for one size and the terminal takes at another
				// is drawn as nobody meant it: it writes nothing meanwhile.
				_ = program.Signal(syscall.SIGSTOP) // fails once it has ended
				s.set(sizes[i%len(sizes)])
				_ = program.Signal(syscall.SIGCONT)
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// set makes the terminal a size once it has taken all that was written for the last.
func (s *sitting) set(size pty.Winsize) {
	for end := time.Now().Add(testenv.Patience); ; {
		time.Sleep(5 * time.Millisecond)
		s.sizing.Lock()
		if !s.pending() || time.Now().After(end) {
			break
		}
		s.sizing.Unlock()
	}
	defer s.sizing.Unlock()
	_ = pty.Setsize(s.keyboard, &size) // fails once it is closed
	s.term.Resize(int(size.Cols), int(size.Rows))
}

// look draws what comes. Between its reading and its drawing no size is set.
func (s *sitting) look() {
	defer close(s.ended)
	b := make([]byte, 4096)
	for {
		fds := []unix.PollFd{{Fd: int32(s.keyboard.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue // nothing came: a read would hold sizing while the program is stopped
		} else if err != nil {
			return
		}
		s.sizing.Lock()
		n, err := s.keyboard.Read(b)
		if err == nil {
			s.mu.Lock()
			s.screen.Write(b[:n])
			s.mu.Unlock()
			_, _ = s.term.Write(b[:n])
		}
		s.sizing.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *sitting) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.screen.String(), "\r\n", "\n")
}

// fresh is what came on the screen since the last key was answered.
func (s *sitting) fresh() string { return s.text()[s.read:] }

// wait waits until something holds, and reports whether it did before the program
// ended.
func (s *sitting) wait(ts *testscript.TestScript, what string, until func() bool) bool {
	for end := time.Now().Add(testenv.Patience); !until(); time.Sleep(20 * time.Millisecond) {
		select {
		case <-s.ended:
			return false
		default:
		}
		if time.Now().After(end) {
			ts.Fatalf("waiting for %s; the screen:\n%s", what, s.text())
		}
	}
	return true
}

// steer presses a key while nobody is asked, again and again until its text comes: a key that
// is pressed before the program reads them does not count.
func (s *sitting) steer(ts *testscript.TestScript, key, text string) {
	next := time.Now()
	if !s.wait(ts, text, func() bool {
		if time.Now().After(next) {
			_, _ = s.keyboard.WriteString(key)
			next = time.Now().Add(time.Second)
		}
		return strings.Contains(s.fresh(), text)
	}) {
		ts.Fatalf("it ended without %q; the screen:\n%s", text, s.text())
	}
	s.read = len(s.text())
}

// press waits for a question and presses a key until something comes of it.
// Earlier presses do not count: what is typed before a question is not for it.
func (s *sitting) press(ts *testscript.TestScript, key string) {
	asked := func() bool {
		text := strings.TrimRight(s.fresh(), " \n")
		// Without its key it is the answer, and what comes next is to be a line.
		return strings.HasSuffix(text, "and tell the model why") || strings.HasSuffix(text, "tell the model what to change") || strings.HasSuffix(text, "[y/N]") ||
			strings.HasSuffix(text, "model:") || strings.HasSuffix(text, "no yes before") ||
			strings.HasSuffix(text, "[t] no, and tell the tool why") || strings.HasSuffix(text, "[n] no, send nothing") || strings.HasSuffix(text, "\n  >")
	}
	if !s.wait(ts, "a question", asked) {
		return
	}
	fresh := strings.TrimRight(s.fresh(), " ")
	line := len(key) > 1 || strings.HasSuffix(fresh, "[y/N]") || strings.HasSuffix(fresh, "\n  >") // a field
	s.read = len(s.text())
	if line {
		key += "\n"
	}
	next := time.Now()
	s.wait(ts, "what comes of "+key, func() bool {
		if time.Now().After(next) {
			_, _ = s.keyboard.WriteString(key)
			next = time.Now().Add(300 * time.Millisecond)
			if line {
				next = time.Now().Add(time.Hour)
			}
		}
		return strings.TrimSpace(strings.ReplaceAll(s.fresh(), key, "")) != "" || line && s.fresh() != ""
	})
}
