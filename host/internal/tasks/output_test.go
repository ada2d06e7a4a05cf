package tasks_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/tasks"
	"github.com/toolquay/toolquay/internal/testenv"
)

// reader reads one task.
type reader struct {
	testing.TB
	*tasks.Registry
	task capability.Task
	path string
}

func newReader(tb testing.TB) *reader {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "out")
	write(tb, path, "")
	r := memory(tb, tasks.Options{})
	return &reader{tb, r, begin(tb, r, "reads", path), path}
}

func (r *reader) next(filter string) (capability.TaskText, error) {
	var want capability.TaskRead
	if filter != "" {
		want.Filter = regexp.MustCompile(filter)
	}
	return r.Read(r.Context(), r.task.ID(), want)
}

// is reads on and finds a text.
func (r *reader) is(filter, want string, skipped int64) {
	r.Helper()
	got, err := r.next(filter)
	if err != nil || string(got.Text) != want || got.Skipped != skipped {
		r.Errorf("got %q, %d skipped, %v; want %q, %d", got.Text, got.Skipped, err, want, skipped)
	}
}

func TestIncremental(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.is("", "", 0)
	write(t, r.path, "one\ntw")
	r.is("", "one\ntw", 0)
	r.is("", "", 0)
	write(t, r.path, "o\n\xe6\x97") // two thirds of a code point
	r.is("", "o\n", 0)
	write(t, r.path, "\xa5 \xff\xff")
	r.is("", "日 \xff\xff", 0)
	write(t, r.path, "\xf0\x9f")
	r.is("", "", 0)
	r.task.End(capability.TaskOutcome{})
	r.is("", "\xf0\x9f", 0) // no more of it comes
	r.is("", "", 0)
}

func TestFilter(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	write(t, r.path, "ok 1\nerror a\r\nok 2\nerr")
	r.is(`^error .$`, "error a\r\n", 2)
	write(t, r.path, "or b\nok 3")
	r.is(`^error`, "error b\n", 0)
	r.is(`^error`, "", 0)
	r.is("", "ok 3", 0)
	write(t, r.path, "\nok 4")
	r.task.End(capability.TaskOutcome{})
	r.is("4$", "ok 4", 1)
}

func TestPeek(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	write(t, r.path, "text")
	for range 2 {
		got, err := r.Read(t.Context(), r.task.ID(), capability.TaskRead{Peek: true})
		if err != nil || string(got.Text) != "text" {
			t.Errorf("got %q, %v", got.Text, err)
		}
	}
	r.is("", "text", 0)
}

func TestPieces(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	whole := strings.Repeat("é日 text without an end of a line ", 20_000)
	write(t, r.path, whole)
	r.task.End(capability.TaskOutcome{})
	var all []byte
	for {
		got, err := r.next("")
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Text) > tasks.MaxPiece || !utf8.Valid(got.Text) || got.From != int64(len(all)) || got.To != got.From+int64(len(got.Text)) || got.Task.Bytes != int64(len(whole)) {
			t.Fatalf("a piece of %d bytes, %d-%d of %d", len(got.Text), got.From, got.To, got.Task.Bytes)
		}
		if len(got.Text) == 0 {
			break
		}
		all = append(all, got.Text...)
	}
	if string(all) != whole {
		t.Errorf("%d bytes were read of %d", len(all), len(whole))
	}
}

// A filter finds a needle in more than fits into memory for one read, in bounded steps.
func TestFilterFar(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	const size = tasks.MaxScan + tasks.MaxScan/2
	if err := os.Truncate(r.path, size); err != nil { // one line of NULs
		t.Fatal(err)
	}
	write(t, r.path, "\nneedle\n")
	first, err := r.next("needle")
	if err != nil || len(first.Text) > 0 || first.To != tasks.MaxScan {
		t.Fatalf("at first %d bytes up to %d, %v", len(first.Text), first.To, err)
	}
	second, err := r.next("needle")
	if err != nil || string(second.Text) != "needle\n" || second.To != second.Task.Bytes {
		t.Errorf("then %q up to %d, %v", second.Text, second.To, err)
	}
}

func TestMeddled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meddle func(path string) error
		code   abi.Code
		text   string
	}{
		"cut":       {func(path string) error { return os.Truncate(path, 2) }, abi.CodeChanged, "was cut"},
		"removed":   {os.Remove, abi.CodeIO, "somebody removed"},
		"directory": {func(path string) error { _ = os.Remove(path); return os.Mkdir(path, 0o700) }, abi.CodeIO, "not a regular file"},
		"moved":     {func(path string) error { return os.Rename(path, path+".moved") }, abi.CodeIO, "somebody removed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t)
			write(t, r.path, "before")
			r.is("", "before", 0)
			if err := test.meddle(r.path); err != nil {
				t.Fatal(err)
			}
			_, err := r.next("")
			if abi.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), r.path) {
				t.Errorf("got %v", err)
			}
		})
	}
	r := newReader(t)
	write(t, r.path, "before")
	r.is("", "before", 0)
	if err := os.Truncate(r.path, 0); err != nil {
		t.Fatal(err)
	}
	write(t, r.path, "new")
	if _, err := r.next(""); abi.CodeOf(err) != abi.CodeChanged {
		t.Errorf("got %v", err)
	}
	r.is("", "new", 0)
}

// A link is not followed: what lies in its place is no output of ours.
func TestLinked(t *testing.T) {
	testenv.Permitted(t, testenv.Unix)
	t.Parallel()
	r := newReader(t)
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, "secret")
	if err := os.Remove(r.path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, r.path); err != nil {
		t.Fatal(err)
	}
	if got, err := r.next(""); abi.CodeOf(err) != abi.CodeIO || len(got.Text) > 0 {
		t.Errorf("got %q, %v", got.Text, err)
	}
	if info := get(t, r.Registry, r.task.ID()); info.Bytes != 0 {
		t.Errorf("%d bytes are counted", info.Bytes)
	}
}

// What is read while it is written comes to what was written: nothing twice, nothing
// missed, no code point apart.
func TestWhileWritten(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"", "."} {
		r := newReader(t)
		var whole bytes.Buffer
		for i := range 3_000 {
			whole.WriteString(strings.Repeat("日é🙂x", 1+i%17) + "\n")
		}
		text := whole.Bytes()
		go func() {
			f, err := os.OpenFile(r.path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			for rest := text; len(rest) > 0; {
				n := min(len(rest), 1+rand.IntN(200)) //nolint:gosec // where it is torn does not matter
				_, err = f.Write(rest[:n])
				rest = rest[n:]
				if err != nil {
					t.Error(err)
				}
			}
			_ = f.Close()
			r.task.End(capability.TaskOutcome{})
		}()
		var all []byte
		for over := false; !over; {
			got, err := r.next(filter)
			if err != nil {
				t.Fatal(err)
			}
			if !utf8.Valid(got.Text) {
				t.Fatalf("a piece with half a code point, at %d", got.From)
			}
			all = append(all, got.Text...)
			over = got.Task.Over() && got.To == got.Task.Bytes
			time.Sleep(time.Millisecond)
		}
		if !bytes.Equal(all, text) {
			t.Errorf("with the filter %q %d bytes were read, %d written", filter, len(all), len(text))
		}
	}
}
