package turn_test

import (
	"testing"
	"testing/synctest"

	"github.com/toolquay/toolquay/host/internal/turn"
)

// TestArrived has a reader take one result of two, and leave, or have the turn discarded.
// Whoever waits for the reader waits until the turn was ended too.
func TestArrived(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func(*turn.Feed[int])
		want [2]bool
	}{
		"the reader stays":      {func(*turn.Feed[int]) {}, [2]bool{true, true}},
		"the reader leaves":     {(*turn.Feed[int]).Leave, [2]bool{true, false}},
		"the turn is discarded": {(*turn.Feed[int]).Discard, [2]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := turn.NewFeed(func(*int) (turn.Kind, int64) { return turn.Result, 1 })
				f.Put(0)
				r := turn.Reader[int]{Feed: f, Yield: func(int) bool { return true }}
				r.Read(f.Take())
				f.Put(1)
				test.end(f)
				if got := [2]bool{f.Arrived(0), f.Arrived(1)}; got != test.want {
					t.Errorf("arrived are %v, want %v", got, test.want)
				}
				waited := false
				go func() { f.Wait(t.Context(), 0); waited = true }()
				if synctest.Wait(); waited {
					t.Error("nobody waits for the reader")
				}
				f.Release()
				if synctest.Wait(); !waited {
					t.Error("somebody waits for the reader")
				}
			})
		})
	}
}
