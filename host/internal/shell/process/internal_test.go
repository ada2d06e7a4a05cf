//go:build linux

package process

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/testenv"
)

func TestParseStat(t *testing.T) {
	line := "12 (a) Z) b) S 7 12 9 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 5 0 777 1000 3 18446744073709551615 1\n"
	got, ok := parseStat(12, []byte(line))
	want := stat{
		pid: 12, parent: 7, session: 9, state: 'S', threads: 5, cpu: 1270 * time.Millisecond,
		start: 777, resident: 3 * int64(os.Getpagesize()),
	}
	if !ok || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, short := range []string{"", "12", "12 (x) S 1 2", ")"} {
		if _, ok := parseStat(12, []byte(short)); ok {
			t.Errorf("%q is one", short)
		}
	}
	if self, ok := readStat(os.Getpid()); !ok || self.parent != os.Getppid() || self.dead() || self.resident < 1<<20 {
		t.Errorf("this process: %+v", self)
	}
}

func TestReadChildren(t *testing.T) {
	path := filepath.Join(t.TempDir(), "children")
	if err := os.WriteFile(path, []byte("12 345 6789 "), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readChildren(path); !slices.Equal(got, []int{12, 345, 6789}) {
		t.Errorf("%v", got)
	}
	if got := readChildren(path + ".gone"); got != nil {
		t.Errorf("%v", got)
	}
}

// TestHold gets hold of a child, and of nothing that is not one.
func TestHold(t *testing.T) {
	cmd := exec.Command(testenv.NeedTool(t, "sleep"), "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	self := member{stat: stat{pid: os.Getpid()}, fd: -1}
	m, ok := hold(pid, self)
	if !ok || m.pid != pid || !m.exists() {
		t.Fatalf("a child: %+v, %v", m, ok)
	}
	defer m.release()
	if _, ok := hold(os.Getppid(), self); ok {
		t.Error("the parent is held for a child")
	}
	if _, ok := hold(os.Getpid(), m); ok {
		t.Error("this process is held for its child's child")
	}
	m.signal(unix.SIGKILL)
	_ = cmd.Wait() // it was killed
	if m.exists() {
		t.Error("it exists")
	}
	if _, ok := hold(pid, self); ok {
		t.Error("what is gone is held")
	}
}

// TestBrand kills what has a brand, and leaves alone what has another or none.
func TestBrand(t *testing.T) {
	begin := func() *exec.Cmd {
		cmd := exec.Command(testenv.NeedTool(t, "sleep"), "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd
	}
	ours, others, plain := begin(), begin(), begin()
	b, err := burn(ours.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	other, err := burn(others.Process.Pid)
	if err != nil || other == b || !b.on(ours.Process.Pid) || b.on(others.Process.Pid) || b.on(os.Getpid()) {
		t.Fatalf("%d and %d, %v", b, other, err)
	}
	if again, err := burn(ours.Process.Pid); err != nil || again >= b {
		t.Errorf("%d after %d, %v", again, b, err)
	} else {
		b = again
	}
	if brand(0).killAll() || !b.killAll() {
		t.Error("it is not known what is left")
	}
	for cmd, dead := range map[*exec.Cmd]bool{ours: true, others: false, plain: false} {
		if s, ok := readStat(cmd.Process.Pid); !ok || s.dead() != dead {
			t.Errorf("%+v", s)
		}
	}
}

func TestFrames(t *testing.T) {
	want := startFrame{
		number: 7, path: "/bin/\xff", dir: "", args: []string{"", "a\x00b"}, env: []string{}, files: 3, given: 5,
		limits: Limits{Processes: -1, Memory: 1 << 40, CPU: time.Second, OpenFiles: 64, FileSize: 1 << 63}, program: []byte{1, 2},
	}
	frames := append(want.encode(kindStart), doneFrame(7, Status{Code: 137, Signal: 9, Limit: LimitMemory})...)
	frames = append(frames, goneFrame(7, Status{Left: 3, User: time.Second})...)
	for n := range frames { // not one byte is taken early
		if what, _, rest, err := cut(frames[:n]); err != nil || what == 0 && len(rest) != n {
			t.Fatalf("%d bytes: %v, %v", n, what, err)
		}
	}
	what, fields, rest, err := cut(frames)
	var got startFrame
	if err != nil || what != kindStart || got.decode(fields) != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	_, fields, rest, _ = cut(rest)
	if n, s := fields.uint(), decodeDone(fields); n != 7 || fields.err() != nil || s != (Status{Code: 137, Signal: 9, Limit: LimitMemory}) {
		t.Errorf("%+v", s)
	}
	_, fields, rest, _ = cut(rest)
	if n, s := fields.uint(), decodeGone(fields); n != 7 || fields.err() != nil || s != (Status{Left: 3, User: time.Second}) || len(rest) > 0 {
		t.Errorf("%+v", s)
	}
}

func FuzzStartFrame(f *testing.F) {
	f.Add((&startFrame{path: "/bin/sh", args: []string{"sh"}, files: 2, given: 3}).encode(kindStart))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		what, fields, _, err := cut(b)
		var s startFrame
		if err != nil || what == 0 || s.decode(fields) != nil {
			return
		}
		again := s.encode(kindStart)
		_, fields, _, err = cut(again)
		var second startFrame
		if err != nil || second.decode(fields) != nil || !bytes.Equal(second.encode(kindStart), again) {
			t.Errorf("%+v came back as %+v", s, second)
		}
	})
}
