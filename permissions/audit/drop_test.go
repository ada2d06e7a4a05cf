package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/permissions/audit"
)

func repeated(tool string, n int) []string { return slices.Repeat([]string{tool}, n) }

// total is the size of all segments but the newest.
func total(tb testing.TB, dir string) (sum int64, segments []string) {
	tb.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "log-*.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range segments[:len(segments)-1] {
		info, err := os.Stat(path)
		if err != nil {
			tb.Fatal(err)
		}
		sum += info.Size()
	}
	return sum, segments
}

// TestDropBySize: rotations keep the log within its bound, and it verifies from where it
// says that it was dropped.
func TestDropBySize(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	l := open(t, dir, audit.Options{SegmentBytes: 1000, MaxBytes: 3000})
	add(t, l, "first")
	begun := sound(t, dir).Hash
	add(t, l, repeated("T", 60)...)
	sum, segments := total(t, dir)
	if sum > 3000 || len(segments) < 3 || filepath.Base(segments[0]) == "log-000001.jsonl" {
		t.Fatalf("%d bytes in %q", sum, segments)
	}
	r := sound(t, dir)
	if r.From == nil || r.From.Seq == 0 || r.From.Seq+r.Lines != r.Seq || r.From.Time.IsZero() || !strings.Contains(segments[0], fmt.Sprintf("%06d", r.From.Segment+1)) {
		t.Errorf("%+v, from %+v", r, r.From)
	}
	if r = verify(t, dir, r.From.Hash); !r.OK() {
		t.Errorf("the line that it was dropped through is not known: %s", r.Fault)
	}
	if r = verify(t, dir, begun); r.OK() || r.Fault.Kind != audit.FaultUnknown || !strings.Contains(r.Fault.Detail, "were dropped") {
		t.Errorf("a dropped line is known: %+v", r.Fault)
	}
	if got := tools(read(t, dir, audit.Filter{Limit: 1})); got != "T" {
		t.Errorf("read %q", got)
	}
}

// TestDropByAge: Expire drops what is too old, and rotations by age begin segments.
func TestDropByAge(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	l := open(t, dir, audit.Options{SegmentAge: time.Nanosecond})
	add(t, l, "A", "B", "C")
	if r := sound(t, dir); r.Segments != 4 || r.From != nil {
		t.Errorf("%+v", r)
	}
	young := open(t, dir, audit.Options{SegmentAge: time.Hour, Keep: time.Hour})
	add(t, young, "D")
	if n, err := young.Expire(); n != 0 || err != nil {
		t.Errorf("%d dropped, %v", n, err)
	}
	old := open(t, dir, audit.Options{Keep: time.Nanosecond})
	if n, err := old.Expire(); n != 3 || err != nil {
		t.Errorf("%d dropped, %v", n, err)
	}
	if n, err := old.Expire(); n != 0 || err != nil {
		t.Errorf("then %d dropped, %v", n, err)
	}
	add(t, l, "E") // another process, which had its segment open all the while
	if r := sound(t, dir); r.Segments != 2 || r.From == nil || r.From.Segment != 3 {
		t.Errorf("%+v, from %+v", r, r.From)
	}
	if got := tools(read(t, dir, audit.Filter{OldestFirst: true})); got != "C D E" {
		t.Errorf("read %q", got)
	}
}

// TestDropMany drops more segments than one turn at the lock allows.
func TestDropMany(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	add(t, open(t, dir, audit.Options{SegmentBytes: 1}), repeated("T", 100)...)
	if n, err := open(t, dir, audit.Options{MaxBytes: 1}).Expire(); n != 100 || err != nil {
		t.Errorf("%d dropped, %v", n, err)
	}
	if r := sound(t, dir); r.Segments != 1 || r.From.Segment != 100 {
		t.Errorf("%+v", r)
	}
}

// TestForgedDrops: what was taken away without the log's word, or with a wrong one, is seen.
func TestForgedDrops(t *testing.T) {
	t.Parallel()
	logged := func(t *testing.T) string {
		t.Helper()
		dir := logDir(t)
		add(t, open(t, dir, audit.Options{SegmentBytes: 1000, MaxBytes: 3000}), repeated("T", 60)...)
		return dir
	}
	tests := map[string]struct {
		do   func(dir string, segments []string) error
		want audit.FaultKind
	}{
		"the oldest that is left": {func(_ string, s []string) error { return os.Remove(s[0]) }, audit.FaultRemoved},
		"one in the middle":       {func(_ string, s []string) error { return os.Remove(s[1]) }, audit.FaultRemoved},
		"the first line changed": {func(_ string, s []string) error {
			text, err := os.ReadFile(s[0])
			if err != nil {
				return err
			}
			text[200] ^= 1
			return os.WriteFile(s[0], text, 0o600)
		}, audit.FaultChanged},
		"put in front": {func(dir string, s []string) error {
			text, err := os.ReadFile(s[0])
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "log-000001.jsonl"), text, 0o600)
		}, audit.FaultInserted},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := logged(t)
			_, segments := total(t, dir)
			if err := tt.do(dir, segments); err != nil {
				t.Fatal(err)
			}
			if r := verify(t, dir, ""); r.OK() || r.Fault.Kind != tt.want {
				t.Errorf("%+v", r.Fault)
			}
		})
	}
}

// TestNothingIsDroppedBeforeAGap keeps what shows that a segment is missing.
func TestNothingIsDroppedBeforeAGap(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	l := open(t, dir, audit.Options{SegmentBytes: 1000})
	add(t, l, repeated("T", 20)...)
	if err := os.Remove(segment(dir, 2)); err != nil {
		t.Fatal(err)
	}
	n, err := open(t, dir, audit.Options{MaxBytes: 1}).Expire()
	if n != 0 || err == nil || !strings.Contains(err.Error(), "log-000002.jsonl is missing") {
		t.Errorf("%d dropped, %v", n, err)
	}
	if r := verify(t, dir, ""); r.OK() || r.Fault.Kind != audit.FaultRemoved {
		t.Errorf("%+v", r.Fault)
	}
}

// TestDropsWhileOthersLook verifies and reads while segments come and go.
func TestDropsWhileOthersLook(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	o := audit.Options{SegmentBytes: 10_000, MaxBytes: 40_000, Sync: audit.SyncNever}
	add(t, open(t, dir, o), "T")
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			l, err := audit.Open(dir, o)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = l.Close() }()
			for range 300 {
				if err := l.Append(audit.Entry{Subject: audit.Subject{Tool: "T"}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	t.Cleanup(writers.Wait)
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		sound(t, dir)
		if len(read(t, dir, audit.Filter{})) == 0 {
			t.Error("nothing is read")
		}
	}
	if r := sound(t, dir); r.From == nil || r.Seq < 601 {
		t.Errorf("%+v", r)
	}
}
