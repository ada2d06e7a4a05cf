package plugins_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

// Two modules take turns in one place, by rename and by rewriting, while eight
// goroutines call. Every answer is one of the two.
func TestReloadHammer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	versions := []struct{ toml, module string }{{manifest("one", "", "Show"), "ok"}, {manifest("one", "", "Show") + "summary = \"newer\"\n", "counter"}}
	put := func(i int) {
		v := versions[i%2]
		if i%3 == 0 {
			folder(t, dir, "one", v.toml, fixture(t, v.module))
		} else {
			rename(t, dir, "one", v.toml, fixture(t, v.module))
		}
	}
	put(0)
	var current atomic.Pointer[plugins.Set]
	var mu sync.RWMutex // between taking hold of a set and its replacement
	current.Store(open(t, plugins.Options{}, user(dir)))
	stop := make(chan struct{})
	var all sync.WaitGroup
	var answered [2]atomic.Int64
	for range 8 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				mu.RLock()
				set := current.Load()
				set.Hold()
				mu.RUnlock()
				if show, ok := set.Tool("Show"); ok {
					got, err := call(t, show, "{}")
					// The summary and the module belong together.
					switch {
					case err == nil && got == "ok" && show.Summary == "":
						answered[0].Add(1)
					case err == nil && got == "1" && show.Summary == "newer":
						answered[1].Add(1)
					case err != nil && (abi.CodeOf(err) == abi.CodeChanged || abi.CodeOf(err) == abi.CodeLoad):
						// The files went while it had not been loaded yet.
					default:
						t.Errorf("got %q, %v of version %q", got, err, show.Summary)
					}
				}
				set.Release()
			}
		})
	}
	each := func() bool { return answered[0].Load() > 0 && answered[1].Load() > 0 }
	for i, began := 0, time.Now(); i < testenv.Sample(60) || !each() && time.Since(began) < testenv.Patience; i++ {
		put(i)
		older := current.Load()
		newer, _, err := older.Reload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		current.Store(newer)
		mu.Unlock()
		older.Release()
		time.Sleep(2 * time.Millisecond)
	}
	close(stop)
	all.Wait()
	if !each() {
		t.Errorf("the versions answered %d and %d times", answered[0].Load(), answered[1].Load())
	}
}

// TestReloadsLeaveNothing alternates two modules a thousand times, with a call
// each.
func TestReloadsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	set, err := plugins.Open(plugins.Options{
		Sources: []plugins.Source{user(dir)}, Runners: []plugins.Runner{direct.New(direct.Options{CacheDir: filepath.Join(t.TempDir(), "cache")})},
		CacheDir: filepath.Join(t.TempDir(), "cache"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close(context.WithoutCancel(t.Context()))
	var session plugins.Session
	round := func(i int) {
		version := []string{"ok", "counter"}[i%2]
		rename(t, dir, "one", manifest("one", []string{"", "instance = \"kept\""}[i/2%2], "Show"), fixture(t, version))
		set, _ = reload(t, set)
		r, err := tool(t, set, "Show").Call(t.Context(), plugins.Invocation{Input: []byte("{}"), Session: &session})
		if want := map[string]string{"ok": "ok", "counter": "1"}[version]; err != nil || r.Text() != want {
			t.Fatalf("reload %d: got %q, %v", i, r.Text(), err)
		}
	}
	const warmUp = 100
	rounds := testenv.Sample(1000)
	for i := range warmUp {
		round(i)
	}
	before := usageNow(t)
	for i := range rounds {
		round(i)
	}
	after := usageNow(t)
	for began := time.Now(); after.exceeds(before) && time.Since(began) < testenv.Patience; {
		after = usageNow(t) // what ends by itself may be late
	}
	t.Logf("before: %+v; after %d reloads: %+v", before, rounds, after)
	if after.exceeds(before) {
		t.Error("more is taken than before")
	}
}
