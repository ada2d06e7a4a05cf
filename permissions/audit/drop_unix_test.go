//go:build unix

package audit_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions/audit"
)

const childMoment = "TOOLQUAY_TEST_AUDIT_MOMENT"

var bounded = audit.Options{SegmentBytes: 1000, MaxBytes: 3000}

func init() {
	children["dies"] = childDies
	children["bounded"] = func(dir string) {
		l, err := audit.Open(dir, audit.Options{SegmentBytes: 5000, MaxBytes: 20_000})
		must(err)
		for range perChild {
			must(l.Append(audit.Entry{Subject: audit.Subject{Tool: "T"}}))
		}
		must(l.Close())
	}
}

// childDies appends until it comes to a moment for the third time, and kills itself there.
func childDies(dir string) {
	l, err := audit.Open(dir, bounded)
	must(err)
	left := 3
	l.AtMoments(func(moment string) {
		if moment != os.Getenv(childMoment) {
			return
		}
		if left--; left == 0 {
			must(syscall.Kill(os.Getpid(), syscall.SIGKILL))
			select {}
		}
	})
	for range 1000 {
		must(l.Append(audit.Entry{Subject: audit.Subject{Tool: "T"}}))
	}
	fmt.Fprintln(os.Stderr, "it lives")
	os.Exit(1)
}

// TestKilledWhileItRotates kills a process between any two steps of a rotation and a drop.
// The log is whole before and after the next writer, who brings it within its bound.
func TestKilledWhileItRotates(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"begun", "written", "said", "synced", "removed"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			dir := logDir(t)
			cmd := child(t, "dies", dir)
			cmd.Env = append(cmd.Env, childMoment+"="+moment)
			_ = cmd.Run() // it is killed
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.Fatalf("it ended with %v", cmd.ProcessState)
			}
			was := sound(t, dir)
			l := open(t, dir, bounded)
			add(t, l, "last")
			if _, err := l.Expire(); err != nil {
				t.Fatal(err)
			}
			r := sound(t, dir)
			if sum, segments := total(t, dir); sum > bounded.MaxBytes {
				t.Errorf("%d bytes in %q", sum, segments)
			}
			if r.Seq <= was.Seq || r.Notices > was.Notices {
				t.Errorf("was %+v, is %+v", was, r)
			}
			if got := tools(read(t, dir, audit.Filter{Limit: 1})); got != "last" {
				t.Errorf("read %q", got)
			}
			add(t, l, repeated("T", 60)...)
			if r := sound(t, dir); r.From == nil {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestProcessesRotateALog has several processes write to a log that they keep within a bound.
func TestProcessesRotateALog(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	done := make(chan error)
	for range 3 {
		cmd := child(t, "bounded", dir)
		go func() { done <- cmd.Run() }()
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	r := sound(t, dir)
	if sum, _ := total(t, dir); sum > 20_000 || r.From == nil || r.Notices != 0 || r.Torn != 0 {
		t.Errorf("%d bytes, %+v", sum, r)
	}
}

// TestReadOnlyLogIsNotDropped says why, and loses nothing.
func TestReadOnlyLogIsNotDropped(t *testing.T) {
	dir := logDir(t)
	add(t, open(t, dir, audit.Options{SegmentBytes: 1000}), repeated("T", 30)...)
	l := open(t, dir, audit.Options{MaxBytes: 1})
	testenv.BoundByPermissions(t)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	n, err := l.Expire()
	if chmod := os.Chmod(dir, 0o700); chmod != nil {
		t.Fatal(chmod)
	}
	if n != 0 || err == nil || !strings.Contains(err.Error(), "dropping old segments of the decision log") {
		t.Errorf("%d dropped, %v", n, err)
	}
	if r := sound(t, dir); r.Decisions != 30 || r.From != nil {
		t.Errorf("%+v", r)
	}
	if n, err := l.Expire(); n == 0 || err != nil {
		t.Errorf("then %d dropped, %v", n, err)
	}
	sound(t, dir)
}
