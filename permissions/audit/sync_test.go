package audit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/permissions/audit"
)

// TestSyncBatch forces the first line at once, so that whoever closes the log soon
// does not wait for it, and those of a second together.
func TestSyncBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := open(t, logDir(t), audit.Options{})
		defer l.Close()
		time.Sleep(2 * time.Second) // what a new log says of itself is forced by then
		for i, wait := range []time.Duration{time.Millisecond, time.Second, time.Second} {
			add(t, l, "A")
			if i > 0 && !l.Unsynced() {
				t.Error("a line soon after another is forced by itself")
			}
			time.Sleep(wait)
			synctest.Wait()
			if l.Unsynced() {
				t.Errorf("line %d waits", i)
			}
		}
	})
}

func TestSyncPolicies(t *testing.T) {
	t.Parallel()
	for _, policy := range []audit.Sync{audit.SyncBatch, audit.SyncEach, audit.SyncNever} {
		synctest.Test(t, func(t *testing.T) {
			dir := logDir(t)
			l := open(t, dir, audit.Options{Sync: policy, SegmentBytes: 600})
			for range 5 {
				add(t, l, "A")
				time.Sleep(400 * time.Millisecond)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Error("closing twice:", err)
			}
			if err := l.Append(audit.Entry{Subject: audit.Subject{Tool: "B"}}); err == nil {
				t.Error("a closed log takes entries")
			}
			if r := sound(t, dir); r.Decisions != 5 {
				t.Errorf("%+v", r)
			}
		})
	}
}
