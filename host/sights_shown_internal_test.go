package host

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// TestGlancesAreBounded keeps few of what many results show: the first of a turn, whose
// rest is then not known to have been seen, and the last of what a call was shown.
func TestGlancesAreBounded(t *testing.T) {
	t.Parallel()
	var first, last glances
	for i := range maxFiles + 10 {
		one := glance{path: "/" + strconv.Itoa(i)}
		first.add(one)
		last.addNewest(one)
	}
	if n := len(first.of("/0", nil)); n != 1 || len(first.list) != maxFiles {
		t.Errorf("of the first, %d of %d", n, len(first.list))
	}
	if n := len(last.of("/"+strconv.Itoa(maxFiles+9), nil)); n != 1 || len(last.list) != maxFiles || len(last.of("/9", nil)) > 0 {
		t.Errorf("of the last, %d of %d", n, len(last.list))
	}
}

// TestOnlookerHammer has the calls of a turn use what they know at once; the race
// detector looks on.
func TestOnlookerHammer(t *testing.T) {
	t.Parallel()
	turn := &turn{session: &Session{}}
	stamp := stampOf(100, time.Hour)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 100 {
				c := &call{turn: turn, index: i}
				path := "/" + strconv.Itoa((worker*i)%9)
				var files capability.Knowledge = (*onlooker)(c)
				files.Shown(path, "v", sight(stamp, 0, 50))
				if i%3 == 0 {
					files.Wrote(path, sight(stamp, 0, 100))
				}
				c.settleGlances()
				files.Again(path, "v", stamp)
				if got, ok := files.Seen(path); ok && len(got.Ranges) > maxRanges {
					t.Errorf("%d ranges", len(got.Ranges))
				}
				if i%20 == 0 {
					turn.learnFiles([]int{i})
				}
			}
		})
	}
	wg.Wait()
}

func TestHolds(t *testing.T) {
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
		if got := holds(c.content, c.all); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
