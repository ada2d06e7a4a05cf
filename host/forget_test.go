package host_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// unused makes the directories of so many sessions that were used so long ago.
func unused(tb testing.TB, sessions string, n int, age time.Duration) {
	tb.Helper()
	then := time.Now().Add(-age)
	for i := range n {
		dir := filepath.Join(sessions, fmt.Sprintf("s%d", i))
		marker := filepath.Join(dir, "session")
		err := os.MkdirAll(dir, 0o700)
		err = errors.Join(err, os.WriteFile(marker, fmt.Appendf(nil, `{"version":1,"session":"s%d","pid":1}`, i), 0o600))
		if err = errors.Join(err, os.Chtimes(marker, then, then)); err != nil {
			tb.Fatal(err)
		}
	}
}

// TestHostsForget: a host forgets what is over the limits of its options, once a day.
func TestHostsForget(t *testing.T) {
	t.Parallel()
	o := kept(t, sayer())
	o.Storage.Keep = time.Hour
	unused(t, o.Storage.Sessions, 4, 0)
	unused(t, o.Storage.Sessions, 3, 2*time.Hour)
	gone := func(path string) func() bool {
		return func() bool { _, err := os.Lstat(path); return errors.Is(err, os.ErrNotExist) }
	}
	h := open(t, o)
	stamp := filepath.Join(o.Storage.Sessions, ".cleaned")
	for i := range 3 {
		await(t, gone(filepath.Join(o.Storage.Sessions, fmt.Sprintf("s%d", i))))
	}
	await(t, func() bool {
		info, err := os.Lstat(stamp)
		return err == nil && time.Since(info.ModTime()) < time.Hour
	})
	if gone(filepath.Join(o.Storage.Sessions, "s3"))() {
		t.Error("a session is gone that was used just now")
	}
	if err := h.Close(t.Context()); err != nil { // which waits for what it does beside calls
		t.Fatal(err)
	}
	unused(t, o.Storage.Sessions, 1, 2*time.Hour)
	if err := open(t, o).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if path := filepath.Join(o.Storage.Sessions, "s0"); gone(path)() {
		t.Error("it forgot twice a day")
	}
}

// TestShortHostsForget: a host that lives for one call forgets too, and one that runs none is
// not held up by it.
func TestShortHostsForget(t *testing.T) {
	t.Parallel()
	o := kept(t, sayer())
	unused(t, o.Storage.Sessions, 1, 40*24*time.Hour)
	path := filepath.Join(o.Storage.Sessions, "s0")
	begun := time.Now()
	h := open(t, o)
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	soon := time.Since(begun) < time.Second // when a host forgets whatever it runs
	if _, err := os.Lstat(path); err != nil && soon {
		t.Errorf("a host without a call forgot: %v", err)
	}
	await(t, func() bool { // where the disk stalls, the time that it gets is not enough
		h := open(t, o)
		turnOf(t, session(t, h, host.SessionOptions{Ephemeral: true}), say("c", "a", 1))
		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := os.Lstat(path)
		return errors.Is(err, os.ErrNotExist)
	})
}

// TestLongHostsForget: a host that lives for days forgets each day.
func TestLongHostsForget(t *testing.T) {
	t.Parallel()
	o := kept(t, sayer())
	synctest.Test(t, func(t *testing.T) {
		h := open(t, o)
		for range 3 {
			unused(t, o.Storage.Sessions, 1, 40*24*time.Hour)
			time.Sleep(26 * time.Hour)
			synctest.Wait()
			if _, err := os.Lstat(filepath.Join(o.Storage.Sessions, "s0")); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("it is still there: %v", err)
			}
		}
		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func await(tb testing.TB, is func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(testenv.Patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatal("it did not come to that")
		}
	}
}

// BenchmarkStart opens a host and has a first answer, beside 10,000 sessions that it looks
// through for what to forget, beside those that it looked through already today, and beside
// none.
func BenchmarkStart(b *testing.B) {
	for _, test := range []struct {
		name     string
		sessions int
		due      bool
	}{{"none", 0, true}, {"done", 10_000, false}, {"due", 10_000, true}} {
		b.Run(test.name, func(b *testing.B) {
			o := kept(b, sayer())
			unused(b, o.Storage.Sessions, test.sessions, time.Hour)
			if err := os.MkdirAll(o.Storage.Sessions, 0o700); err != nil {
				b.Fatal(err)
			}
			stamp := filepath.Join(o.Storage.Sessions, ".cleaned")
			if err := os.WriteFile(stamp, nil, 0o600); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				b.StopTimer()
				if test.due {
					if err := os.Chtimes(stamp, time.Time{}, time.Now().Add(-25*time.Hour)); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				start(b, o)
			}
		})
	}
}

// start opens a host, has a first answer and, with the clock stopped, closes it.
func start(b *testing.B, o host.Options) {
	b.Helper()
	h, err := host.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	s, err := h.NewSession(host.SessionOptions{Cwd: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	if r := s.Results(b.Context(), []abi.ToolUse{say("c", "a", 10)}); r[0].IsError {
		b.Fatal(r[0].Text())
	}
	b.StopTimer()
	if err := h.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
}
