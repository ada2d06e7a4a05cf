package search

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestCancel(t *testing.T) {
	t.Parallel()
	pairs := []string{}
	for i := range 100 {
		pairs = append(pairs, fmt.Sprintf("d%d/f%d", i%20, i), strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 3000))
	}
	// Each takes many times the 2 ms after which it is cancelled, where the timer is not
	// kept waiting for a processor.
	pairs = append(pairs, "long", strings.Repeat("a", 15<<20), "longer", strings.Repeat("a", 24<<20))
	// In the next a text of 32 letters is compared everywhere, up to its end.
	pairs = append(pairs, "almost", strings.Repeat("z", 30<<20))
	root := tree(t, pairs...)
	slow := "(x+x+)+y|" + strings.Repeat("(a|b|ab)*", 20) + "c"
	for name, args := range map[string]abi.ContentsArgs{
		"lines":             {Pattern: slow},
		"one line":          {Pattern: slow, Path: "long"},
		"multi-line":        {Pattern: slow, Path: "longer", Multiline: true},
		"text across lines": {Pattern: strings.Repeat("z", 31) + `q\s`, Path: "almost", Multiline: true, CaseInsensitive: true},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.InTime(t, 500*time.Millisecond, func() time.Duration { // it is 20 ms
				return cancelled(t, root, args)
			})
		})
	}
}

// cancelled is how long a search goes on once it is cancelled. On a busy machine a
// search can be at its end before the timer is served, so it is tried several times.
func cancelled(t *testing.T, root string, args abi.ContentsArgs) time.Duration {
	t.Helper()
	for range 10 {
		took, err := searchCancelled(t, root, args)
		if err == nil {
			continue
		}
		if abi.CodeOf(err) != abi.CodeCancelled {
			t.Errorf("got %v", err)
		}
		return took
	}
	t.Error("no search was cancelled")
	return 0
}

// searchCancelled is how long a search went on once it was cancelled, and how it ended.
func searchCancelled(t *testing.T, root string, args abi.ContentsArgs) (time.Duration, error) {
	t.Helper()
	p, err := plan(t, root, abi.CapSearchContents, args)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	at := make(chan time.Time, 1)
	timer := time.AfterFunc(2*time.Millisecond, func() { at <- time.Now(); cancel() })
	_, err = p.Do(ctx, all)
	if timer.Stop() {
		return 0, err
	}
	return time.Since(<-at), err
}
