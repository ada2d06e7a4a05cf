package pluginset

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Changes count when nothing has changed for a while, and at the latest after some
// time.
func TestChangesSettle(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes int
		every   time.Duration
		want    time.Duration
	}{
		"one":                 {1, 0, quiet},
		"several":             {5, 100 * time.Millisecond, 400*time.Millisecond + quiet},
		"two far apart":       {2, time.Second, quiet},
		"just in time, twice": {3, quiet - 1, 2*(quiet-1) + quiet},
		"without an end":      {1000, 100 * time.Millisecond, restless},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				changed := make(chan struct{}, 1)
				go func() {
					for range test.changes {
						select {
						case changed <- struct{}{}:
						default:
						}
						select {
						case <-time.After(test.every):
						case <-ctx.Done():
							return
						}
					}
				}()
				began := time.Now()
				if !settled(ctx, changed) {
					t.Error("it did not settle")
				}
				got := time.Since(began)
				if got != test.want {
					t.Errorf("settled after %v, want %v", got, test.want)
				}
				cancel()
				for len(changed) > 0 {
					<-changed
				}
				if settled(ctx, changed) {
					t.Error("it settled after the end")
				}
			})
		})
	}
}
