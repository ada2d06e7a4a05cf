package filestate

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/capability"
)

// stampOf is a stamp of a file of so many bytes, written so long before it was taken.
func stampOf(size int64, before time.Duration) capability.Stamp {
	written := time.Unix(1_700_000_000, 0)
	return capability.Stamp{Size: size, ModTime: written, ChangeTime: written, Inode: 7, Taken: written.Add(before)}
}

// state is one of ranges given by their ends.
func state(stamp capability.Stamp, ends ...int64) capability.ReadState {
	s := capability.ReadState{Stamp: stamp}
	for i := 0; i < len(ends); i += 2 {
		r := capability.Range{From: ends[i], To: ends[i+1]}
		r.Hash = sha256.Sum256(fmt.Append(nil, r.From, r.To))
		s.Ranges = append(s.Ranges, r)
	}
	return s
}

func ends(s capability.ReadState) (out []int64) {
	for _, r := range s.Ranges {
		out = append(out, r.From, r.To)
	}
	return out
}

func TestFilesAdd(t *testing.T) {
	t.Parallel()
	settled := stampOf(100, time.Hour)
	other := settled
	other.Inode++
	for name, c := range map[string]struct {
		shown []capability.ReadState
		want  []int64
		whole bool
	}{
		"one after another":     {[]capability.ReadState{state(settled, 0, 50), state(settled, 50, 100)}, []int64{0, 50, 50, 100}, true},
		"the end first":         {[]capability.ReadState{state(settled, 50, 100), state(settled, 0, 50)}, []int64{0, 50, 50, 100}, true},
		"within":                {[]capability.ReadState{state(settled, 0, 50), state(settled, 10, 20)}, []int64{0, 50}, false},
		"around":                {[]capability.ReadState{state(settled, 10, 20, 30, 40), state(settled, 0, 50)}, []int64{0, 50}, false},
		"overlapping":           {[]capability.ReadState{state(settled, 0, 60), state(settled, 40, 100)}, []int64{0, 60, 40, 100}, true},
		"the same":              {[]capability.ReadState{state(settled, 0, 60), state(settled, 0, 60)}, []int64{0, 60}, false},
		"a gap":                 {[]capability.ReadState{state(settled, 0, 60), state(settled, 61, 100)}, []int64{0, 60, 61, 100}, false},
		"another file":          {[]capability.ReadState{state(settled, 0, 50), state(other, 50, 100)}, []int64{50, 100}, false},
		"nothing of a file":     {[]capability.ReadState{state(settled, 0, 50), state(settled)}, []int64{0, 50}, false},
		"all of an empty file":  {[]capability.ReadState{state(stampOf(0, time.Hour))}, nil, true},
		"a range without bytes": {[]capability.ReadState{state(settled, 3, 3)}, nil, false},
	} {
		s := &Files{}
		for _, shown := range c.shown {
			s.Shown("/f", "", shown)
		}
		got, ok := s.Seen("/f")
		if !ok || !slices.Equal(ends(got), c.want) || got.Whole() != c.whole {
			t.Errorf("%s: %v, whole %v", name, ends(got), got.Whole())
		}
	}
	if _, ok := (&Files{}).Seen("/f"); ok {
		t.Error("a file that nobody saw was seen")
	}
}

// TestFilesStamp takes the older of two stamps, unless all was seen anew: what was
// seen before the file was settled may be of another content.
func TestFilesStamp(t *testing.T) {
	t.Parallel()
	fresh, settled := stampOf(100, time.Millisecond), stampOf(100, time.Hour)
	for name, c := range map[string]struct {
		first, then capability.ReadState
		settled     bool
	}{
		"a part":         {state(fresh, 0, 50), state(settled, 50, 100), false},
		"all of it anew": {state(fresh, 0, 50), state(settled, 0, 100), true},
		"settled twice":  {state(settled, 0, 50), state(settled, 50, 100), true},
	} {
		s := &Files{}
		s.Shown("/f", "", c.first)
		s.Shown("/f", "", c.then)
		if got, _ := s.Seen("/f"); got.Stamp.Settled() != c.settled {
			t.Errorf("%s: settled %v", name, got.Stamp.Settled())
		}
	}
}

func TestFilesRangesAreBounded(t *testing.T) {
	t.Parallel()
	s := &Files{}
	for i := range int64(maxRanges + 3) {
		at := (i*37)%100*10 + 1
		s.Shown("/f", "", state(stampOf(5000, time.Hour), at, at+5))
	}
	got, _ := s.Seen("/f")
	if len(got.Ranges) != maxRanges || !slices.IsSortedFunc(got.Ranges, func(a, b capability.Range) int { return int(a.From - b.From) }) {
		t.Fatalf("%d ranges: %v", len(got.Ranges), ends(got))
	}
	for i := range int64(3) {
		if at := (i*37)%100*10 + 1; got.Covers(at, at+5) {
			t.Errorf("the oldest are known still: %d", at)
		}
	}
}

func TestFilesAgain(t *testing.T) {
	t.Parallel()
	settled, fresh := stampOf(10, time.Hour), stampOf(10, time.Millisecond)
	changed := settled
	changed.Size++
	for name, c := range map[string]struct {
		shown, now capability.Stamp
		view       string
		want       bool
	}{
		"the same":         {settled, settled, "v", true},
		"another view":     {settled, settled, "w", false},
		"another file":     {settled, changed, "v", false},
		"not settled then": {fresh, settled, "v", false},
	} {
		s := &Files{}
		s.NextTurn()
		s.Shown("/f", "v", state(c.shown, 0, 10))
		s.NextTurn()
		if got := s.Again("/f", c.view, c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		s.NextTurn()
		if s.Again("/f", c.view, c.now) {
			t.Errorf("%s: twice", name)
		}
	}
	s := &Files{}
	s.NextTurn()
	for i := range maxViews + 1 {
		s.Shown("/f", strconv.Itoa(i), state(settled, 0, 10))
	}
	s.Shown("/g", "v", state(settled, 0, 10))
	s.Wrote("/g", state(settled, 0, 10))
	s.NextTurn()
	if s.Again("/f", "0", settled) || !s.Again("/f", "1", settled) || s.Again("/g", "v", settled) || s.Again("/h", "v", settled) {
		t.Error("the oldest view, or one before a write, or of another file, is known")
	}
}

// TestFilesAgainInATurn gives the calls of one turn the same answer, whichever is
// first.
func TestFilesAgainInATurn(t *testing.T) {
	t.Parallel()
	settled := stampOf(10, time.Hour)
	s := &Files{}
	for turn, want := range []bool{false, true, false, true, false} {
		s.NextTurn()
		for call := range 3 {
			if got := s.Again("/f", "v", settled); got != want {
				t.Errorf("call %d of turn %d: %v", call, turn, got)
			}
			if !want {
				s.Shown("/f", "v", state(settled, 0, 10))
			}
		}
	}
}

// TestFilesWrote takes what was written for known, and gives no hint of it; of what
// somebody writes then there is one.
func TestFilesWrote(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	put := func(text string) capability.Stamp {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return capability.Stamp{Size: info.Size(), ModTime: info.ModTime(), Taken: time.Now()}
	}
	s := &Files{}
	s.Shown(path, "", state(put("first"), 0, 5))
	s.Wrote(path, state(put("second"), 0, 6))
	if got := s.outdated(); len(got) > 0 {
		t.Errorf("a hint about what it wrote itself: %v", got)
	}
	if got, _ := s.Seen(path); !got.Whole() || got.Stamp.Size != 6 {
		t.Errorf("%+v", got)
	}
	put("somebody else's")
	if got := s.outdated(); !slices.Equal(got, []string{path}) {
		t.Errorf("no hint: %v", got)
	}
	if got := s.outdated(); len(got) > 0 {
		t.Errorf("the hint twice: %v", got)
	}
	if got, _ := s.Seen(path); got.Stamp.Size != 6 {
		t.Errorf("a hint changed what was seen: %+v", got)
	}
}

func TestSaved(t *testing.T) {
	t.Parallel()
	s := &Files{}
	for i := range maxSavedFiles + 10 {
		s.Shown(fmt.Sprintf("/f%03d", i), "v", state(stampOf(100, time.Hour), 0, 10, 20, 100))
	}
	s.Shown("/f000", "v", state(stampOf(100, time.Hour), 10, 20))
	text, err := json.Marshal(s.Save())
	if err != nil || len(text) > maxSavedBytes+maxSavedFiles+2 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	next := &Files{}
	if err := next.Load(text); err != nil {
		t.Fatal(err)
	}
	if len(next.files) != maxSavedFiles {
		t.Errorf("%d files are recalled", len(next.files))
	}
	for _, path := range []string{"/f000", "/f265"} {
		got, ok := next.Seen(path)
		want, _ := s.Seen(path)
		if !ok || !got.Stamp.Same(want.Stamp) || got.Stamp.Settled() != want.Stamp.Settled() || !slices.Equal(got.Ranges, want.Ranges) {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	next.NextTurn()
	if next.Again("/f000", "v", stampOf(100, time.Hour)) || next.Save() != nil {
		t.Error("views are recalled, or what is recalled is new")
	}
}

func TestSavedAreBounded(t *testing.T) {
	t.Parallel()
	s := &Files{}
	for i := range 200 {
		s.Shown(fmt.Sprintf("/%s%d", strings.Repeat("long/", 600), i), "", state(stampOf(100, time.Hour), 0, 10))
	}
	n := 0
	for _, text := range s.Save() {
		n += len(text)
	}
	if n == 0 || n > maxSavedBytes {
		t.Errorf("%d bytes", n)
	}
}

func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	const hash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for name, text := range map[string]string{
		"no list":       `{"path":"/f"}`,
		"no file":       `[{"path":"f","size":1}]`,
		"no size":       `[{"path":"/f","size":-1}]`,
		"no time":       `[{"path":"/f","size":1,"mod_time":"soon"}]`,
		"an odd hash":   `[{"path":"/f","size":9,"ranges":[{"from":0,"to":3,"hash":"AAAA"}]}]`,
		"a long range":  `[{"path":"/f","size":9,"ranges":[{"from":0,"to":10,"hash":"` + hash + `"}]}]`,
		"a range of 0":  `[{"path":"/f","size":9,"ranges":[{"from":3,"to":3,"hash":"` + hash + `"}]}]`,
		"before it all": `[{"path":"/f","size":9,"ranges":[{"from":-1,"to":3,"hash":"` + hash + `"}]}]`,
		"the second":    `[{"path":"/f","size":9},{"path":"","size":9}]`,
	} {
		s := &Files{}
		if err := s.Load(json.RawMessage(text)); err == nil || len(s.files) > 0 {
			t.Errorf("%s: %v, %d files", name, err, len(s.files))
		}
	}
	s := &Files{}
	if err := s.Load(json.RawMessage(`[{"path":"/f","size":9,"ranges":[{"from":0,"to":9,"hash":"` + hash + `"}]}]`)); err != nil || len(s.files) != 1 {
		t.Errorf("a good one: %v", err)
	}
}

// TestFilesHammer uses all of it at once; the race detector looks on.
func TestFilesHammer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 8 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &Files{}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 200 {
				path := filepath.Join(dir, strconv.Itoa((worker*i)%9))
				at := int64(i % 90)
				stamp := stampOf(100, time.Hour)
				stamp.Inode = uint64(i % 3)
				switch (worker + i) % 5 {
				case 0:
					s.Shown(path, strconv.Itoa(i%70), state(stamp, at, at+10))
				case 1:
					s.Again(path, strconv.Itoa(i%70), stamp)
				case 2:
					s.Wrote(path, state(stamp, 0, 100))
				case 3:
					s.outdated()
					s.Save()
				case 4:
					s.NextTurn()
				}
				got, ok := s.Seen(path)
				if ok && len(got.Ranges) > maxRanges {
					t.Errorf("%d ranges", len(got.Ranges))
				}
				for j := range got.Ranges {
					if r := got.Ranges[j]; r.Hash != sha256.Sum256(fmt.Append(nil, r.From, r.To)) {
						t.Errorf("a range %d-%d of another one's hash", r.From, r.To)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestFoundIsForgottenFirst keeps what was read, however much searches show after it.
func TestFoundIsForgottenFirst(t *testing.T) {
	t.Parallel()
	var s Files
	line := func(at int64) capability.ReadState {
		return capability.ReadState{Stamp: capability.Stamp{Size: 1 << 20}, Ranges: []capability.Range{{From: at, To: at + 1}}}
	}
	s.Shown("/read", "lines", line(0))
	s.Wrote("/written", line(0))
	for i := range int64(maxRanges + 9) {
		s.Shown("/read", "", line(10+2*i))
	}
	for i := range 2 * maxFiles {
		s.Shown(fmt.Sprintf("/found/%d", i), "", line(0))
	}
	for _, path := range []string{"/read", "/written", fmt.Sprintf("/found/%d", 2*maxFiles-1)} {
		if got, ok := s.Seen(path); !ok || !got.Covers(0, 1) || len(got.Ranges) > maxRanges {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if got, _ := s.Seen("/read"); !got.Covers(10+2*(maxRanges+8), 11+2*(maxRanges+8)) {
		t.Errorf("the last place is forgotten: %+v", got)
	}
	if len(s.files) != maxFiles {
		t.Errorf("%d files are known", len(s.files))
	}
}
