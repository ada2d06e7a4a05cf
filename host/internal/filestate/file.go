package filestate

import (
	"cmp"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/capability"
)

const (
	// maxRanges is how many ranges of a file are kept: the latest, and ranges that were
	// read rather than ranges that a search has shown. Adjacent ranges cannot be joined,
	// since each has its own hash.
	maxRanges = 64
	// maxViews is how many views of a file are kept, the latest.
	maxViews = 64
)

// file is what is known of one file.
type file struct {
	// used counts uses of the session's files; the least recently used is dropped first.
	used uint64
	// read is true once the file was read or written. Files that only a search has shown
	// are dropped first, since one result may show hundreds.
	read bool
	// watched is true while the next change is to be reported. last is the file as it
	// was; nil if it changed before it could be looked at.
	watched bool
	last    *snapshot
	// shown is true once the model was shown part of the file, or wrote it. stamp is the
	// oldest stamp of all ranges.
	shown  bool
	stamp  capability.Stamp
	ranges []seenRange // sorted by start; none within another
	views  []view      // oldest first
}

type seenRange struct {
	capability.Range
	used uint64
	read bool // see file.read
}

// view is a view of a file, with the turns in which it was shown and answered with
// "unchanged"; 0 is never.
type view struct {
	name            string
	stamp           capability.Stamp
	shown, repeated uint64
}

// snapshot is what a file was like, without its content. A change of the same size
// within the clock's smallest step goes unnoticed.
type snapshot struct {
	size    int64
	modTime time.Time
	// info identifies the file; nil if it was not looked at since.
	info fs.FileInfo
}

func (s *snapshot) same(now fs.FileInfo) bool {
	if now.Size() != s.size || !now.ModTime().Equal(s.modTime) || !now.Mode().IsRegular() {
		return false
	}
	return s.info == nil || os.SameFile(s.info, now)
}

// compareAge orders what to drop first: what was not read, then the least recently used.
func compareAge(read bool, used uint64, otherRead bool, otherUsed uint64) int {
	switch {
	case read == otherRead:
		return cmp.Compare(used, otherUsed)
	case otherRead:
		return -1
	}
	return 1
}

func (f *file) state() capability.ReadState {
	out := capability.ReadState{Stamp: f.stamp, Ranges: make([]capability.Range, len(f.ranges))}
	for i, r := range f.ranges {
		out.Ranges[i] = r.Range
	}
	return out
}

// see adds what was seen.
func (f *file) see(seen *capability.ReadState, used uint64, read bool) {
	f.read = f.read || read
	if !f.shown || !f.stamp.Same(seen.Stamp) {
		f.reset(seen.Stamp)
	}
	if others := f.add(seen.Ranges, used, read); !others {
		f.stamp = seen.Stamp // it may be settled where the other was not
	}
}

// reset drops what was seen of the file: its content is another one.
func (f *file) reset(stamp capability.Stamp) {
	f.shown, f.stamp, f.ranges, f.views = true, stamp, nil, nil
}

// add adds ranges, which replace those within them, and reports whether any range from
// before is left.
func (f *file) add(ranges []capability.Range, used uint64, read bool) (others bool) {
	for _, r := range ranges {
		if r.From >= r.To || slices.ContainsFunc(f.ranges, func(old seenRange) bool { return within(r, old.Range) && !within(old.Range, r) }) {
			continue
		}
		f.ranges = slices.DeleteFunc(f.ranges, func(old seenRange) bool { return within(old.Range, r) })
		f.ranges = append(f.ranges, seenRange{r, used, read})
	}
	for len(f.ranges) > maxRanges {
		oldest := slices.MinFunc(f.ranges, func(a, b seenRange) int { return compareAge(a.read, a.used, b.read, b.used) })
		f.ranges = slices.DeleteFunc(f.ranges, func(r seenRange) bool { return r.Range == oldest.Range })
	}
	slices.SortFunc(f.ranges, func(a, b seenRange) int { return cmp.Compare(a.From, b.From) })
	return slices.ContainsFunc(f.ranges, func(r seenRange) bool { return r.used != used })
}

// within reports whether a range lies within another, or equals it.
func within(r, outer capability.Range) bool { return outer.From <= r.From && r.To <= outer.To }

func (f *file) addView(added view) {
	f.views = slices.DeleteFunc(f.views, func(v view) bool { return v.name == added.name })
	if len(f.views) == maxViews {
		f.views = slices.Delete(f.views, 0, 1)
	}
	f.views = append(f.views, added)
}

// again reports whether a view was shown in an earlier turn with this stamp. A stamp
// that does not prove that the content is the same counts as another one.
//
// The answer does not depend on which of a turn's parallel calls asks first: a view
// shown in this turn is shown again, and one that is repeated is repeated to each call.
func (f *file) again(name string, stamp capability.Stamp, turn uint64) bool {
	at := slices.IndexFunc(f.views, func(v view) bool { return v.name == name })
	if at < 0 {
		return false
	}
	v := &f.views[at]
	if v.shown == turn {
		return false
	}
	if !v.stamp.Same(stamp) || !v.stamp.Settled() || v.repeated != 0 && v.repeated != turn {
		f.views = slices.Delete(f.views, at, at+1)
		return false
	}
	v.repeated = turn
	return true
}

// watch has later changes reported, compared with the file as it was at the stamp.
func (f *file) watch(stamp *capability.Stamp) {
	if !f.watched || f.last == nil || f.last.size != stamp.Size || !f.last.modTime.Equal(stamp.ModTime) {
		f.watched, f.last = true, &snapshot{size: stamp.Size, modTime: stamp.ModTime}
	}
}

// changed reports whether the file differs from its snapshot, and takes a new one. A
// file that is gone is no longer watched.
func (f *file) changed(now fs.FileInfo, err error) bool {
	if err != nil {
		f.watched, f.last = false, nil
		return true
	}
	same := f.last != nil && f.last.same(now)
	if !same || f.last.info == nil {
		f.last = &snapshot{size: now.Size(), modTime: now.ModTime(), info: now}
	}
	return !same
}
