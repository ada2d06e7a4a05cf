package filestate

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// TestObservationsAreBounded keeps few of what many results show: the first of a turn, whose
// rest is then not known to have been seen, and the last of what a call was shown.
func TestObservationsAreBounded(t *testing.T) {
	t.Parallel()
	var first, last observations
	for i := range maxObservations + 10 {
		one := observation{path: "/" + strconv.Itoa(i)}
		first.addFirst(one)
		last.addLast(one)
	}
	if n := len(first.of("/0", nil)); n != 1 || len(first.list) != maxObservations {
		t.Errorf("of the first, %d of %d", n, len(first.list))
	}
	if n := len(last.of("/"+strconv.Itoa(maxObservations+9), nil)); n != 1 || len(last.list) != maxObservations || len(last.of("/9", nil)) > 0 {
		t.Errorf("of the last, %d of %d", n, len(last.list))
	}
}

// TestCallsHammer has the calls of a turn use what they know at once; the race
// detector looks on.
func TestCallsHammer(t *testing.T) {
	t.Parallel()
	var turn Turn
	turn.Begin(&Files{})
	stamp := stampOf(100, time.Hour)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 100 {
				var c Call
				c.Begin(&turn, i)
				path := "/" + strconv.Itoa((worker*i)%9)
				var files capability.Knowledge = &c
				files.Shown(path, "v", state(stamp, 0, 50))
				if i%3 == 0 {
					files.Wrote(path, state(stamp, 0, 100))
				}
				c.Settle()
				files.Again(path, "v", stamp)
				if got, ok := files.Seen(path); ok && len(got.Ranges) > maxRanges {
					t.Errorf("%d ranges", len(got.Ranges))
				}
				if i%20 == 0 {
					turn.End(func(call int) bool { return call != i })
				}
			}
		})
	}
	wg.Wait()
}

func TestContains(t *testing.T) {
	t.Parallel()
	text, image := abi.TextBlock("a"), abi.Block{Type: abi.BlockImage, MediaType: "image/png", Data: []byte("x")}
	other := image
	other.Data = []byte("y")
	for name, c := range map[string]struct {
		content, all []abi.Block
		want         bool
	}{
		"the same":            {[]abi.Block{text, image}, []abi.Block{text, image}, true},
		"more":                {[]abi.Block{text, image, other}, []abi.Block{image}, true},
		"less":                {[]abi.Block{text}, []abi.Block{text, image}, false},
		"another image":       {[]abi.Block{text, other}, []abi.Block{text, image}, false},
		"another text":        {[]abi.Block{abi.TextBlock("ab")}, []abi.Block{text}, false},
		"nothing was said":    {[]abi.Block{abi.TextBlock("(done)")}, []abi.Block{abi.TextBlock("")}, true},
		"what was spilled":    {[]abi.Block{abi.TextBlock("")}, []abi.Block{{Type: abi.BlockText, Spilled: &abi.Spilled{}}}, false},
		"nothing for nothing": {nil, nil, true},
	} {
		if got := contains(c.content, c.all); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
