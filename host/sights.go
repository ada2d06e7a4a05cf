package host

import (
	"cmp"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/capability/workspace"
)

const (
	// maxFiles is how many files a session knows of, the latest used: each is looked
	// at after every call that may have changed it.
	maxFiles = 1024
	// maxRanges is how many ranges of a file are known, the latest seen, and of those that
	// were read before those that a search has shown. One cannot be joined to the next:
	// what is known of it is its hash.
	maxRanges = 64
	// maxViews is how many views of a file are known, the latest shown.
	maxViews = 64
)

// seenFiles are what a session's model has seen of files, and for hints what each file
// that any tool has read was like. The zero value is none. It is safe for concurrent
// use. Calls use it as [onlooker]s.
type seenFiles struct {
	mu    sync.Mutex
	files map[string]*seenFile // by real path
	uses  uint64
	// turn counts the turns of the session.
	turn uint64
	// place is where the content of a file lies, for sessions that stage what is
	// written; nil is where the path says.
	place func(path string) string
	// fresh says that something was seen that is not written to the journal.
	fresh bool
}

// seenFile is what is known of one file.
type seenFile struct {
	at uint64 // counts uses, to forget the oldest
	// read says that it was read or written. What a search alone has shown is forgotten
	// first: there may be hundreds of files in one result.
	read bool
	// watched says that a change is told, which is one of what the file was like; was
	// is nil where that is not known.
	watched bool
	was     *looks
	// shown says that the model was shown something of it, or wrote it. The stamp is
	// the oldest that one of the ranges was seen under.
	shown  bool
	stamp  capability.Stamp
	ranges []seenRange // by where they begin, none within another
	views  []seenView  // the oldest first
}

type seenRange struct {
	capability.Range
	at   uint64
	read bool // see seenFile.read
}

// seenView is a view, and the turns it was shown in and repeated in; 0 is none.
type seenView struct {
	name            string
	stamp           capability.Stamp
	shown, repeated uint64
}

// nextTurn says that a turn of the session begins. One that a call makes is part of
// the turn of that call.
func (s *seenFiles) nextTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
}

// use returns what is known of a file, which from now on is something. The caller
// holds the lock.
func (s *seenFiles) use(path string) *seenFile {
	if s.files == nil {
		s.files = make(map[string]*seenFile)
	}
	s.uses++
	f := s.files[path]
	if f == nil {
		f = &seenFile{}
		s.files[path] = f
	}
	f.at = s.uses
	if len(s.files) > maxFiles {
		s.forgetOldest()
	}
	return f
}

func (s *seenFiles) forgetOldest() {
	oldest, read, at := "", true, s.uses
	for path, f := range s.files {
		if f.at < s.uses && older(f.read, f.at, read, at) < 0 {
			oldest, read, at = path, f.read, f.at
		}
	}
	delete(s.files, oldest)
}

// older compares what is forgotten first: what was not read, then what was used before.
func older(read bool, at uint64, otherRead bool, otherAt uint64) int {
	switch {
	case read == otherRead:
		return cmp.Compare(at, otherAt)
	case otherRead:
		return -1
	}
	return 1
}

// Seen is as [capability.Knowledge] has it. Ranges may overlap where they were seen
// so.
func (s *seenFiles) Seen(path string) (capability.Sight, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[path]
	if f == nil || !f.shown {
		return capability.Sight{}, false
	}
	return f.sight(), true
}

func (f *seenFile) sight() capability.Sight {
	out := capability.Sight{Stamp: f.stamp, Ranges: make([]capability.Range, len(f.ranges))}
	for i, r := range f.ranges {
		out.Ranges[i] = r.Range
	}
	return out
}

// Shown takes over what a result that has left shows: see [capability.Knowledge].
func (s *seenFiles) Shown(path, view string, seen capability.Sight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.use(path)
	s.fresh = true
	f.look(&seen, s.uses, view != "")
	if view != "" {
		f.view(seenView{name: view, stamp: seen.Stamp, shown: s.turn})
	}
}

// watch has changes to a file told that come after the state of a stamp. A call that
// shows it begins to watch at once, so that a change within the turn is told.
func (s *seenFiles) watch(path string, stamp *capability.Stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use(path).watch(stamp)
}

// look adds to what was seen.
func (f *seenFile) look(seen *capability.Sight, at uint64, read bool) {
	f.read = f.read || read
	if !f.shown || !f.stamp.Same(seen.Stamp) {
		f.begin(seen.Stamp)
	}
	if older := f.add(seen.Ranges, at, read); !older {
		f.stamp = seen.Stamp // it may be settled where the other was not
	}
}

// begin forgets what was seen of a file: it is another one.
func (f *seenFile) begin(stamp capability.Stamp) {
	f.shown, f.stamp, f.ranges, f.views = true, stamp, nil, nil
}

// add adds ranges, in place of those that lie within them, and reports whether any of
// the others is left.
func (f *seenFile) add(ranges []capability.Range, at uint64, read bool) (others bool) {
	for _, r := range ranges {
		if r.From >= r.To || slices.ContainsFunc(f.ranges, func(old seenRange) bool { return lies(r, old.Range) && !lies(old.Range, r) }) {
			continue
		}
		f.ranges = slices.DeleteFunc(f.ranges, func(old seenRange) bool { return lies(old.Range, r) })
		f.ranges = append(f.ranges, seenRange{r, at, read})
	}
	for len(f.ranges) > maxRanges {
		oldest := slices.MinFunc(f.ranges, func(a, b seenRange) int { return older(a.read, a.at, b.read, b.at) })
		f.ranges = slices.DeleteFunc(f.ranges, func(r seenRange) bool { return r.Range == oldest.Range })
	}
	slices.SortFunc(f.ranges, func(a, b seenRange) int { return cmp.Compare(a.From, b.From) })
	return slices.ContainsFunc(f.ranges, func(r seenRange) bool { return r.at != at })
}

// lies reports whether a range lies in another one, or is the same.
func lies(r, in capability.Range) bool { return in.From <= r.From && r.To <= in.To }

// view remembers what was asked for.
func (f *seenFile) view(view seenView) {
	f.views = slices.DeleteFunc(f.views, func(v seenView) bool { return v.name == view.name })
	if len(f.views) == maxViews {
		f.views = slices.Delete(f.views, 0, 1)
	}
	f.views = append(f.views, view)
}

// Again is as [capability.Knowledge] has it. A stamp that does not prove that the file
// is the same is another one. What a turn does never depends on which of its calls
// that run together is first: a view that was shown in this turn is shown once more,
// and one that is repeated is repeated for each of its calls.
func (s *seenFiles) Again(path, view string, stamp capability.Stamp) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[path]
	if f == nil {
		return false
	}
	at := slices.IndexFunc(f.views, func(v seenView) bool { return v.name == view })
	if at < 0 {
		return false
	}
	was := &f.views[at]
	if was.shown == s.turn {
		return false
	}
	if !was.stamp.Same(stamp) || !was.stamp.Settled() || was.repeated != 0 && was.repeated != s.turn {
		f.views = slices.Delete(f.views, at, at+1)
		return false
	}
	was.repeated = s.turn
	return true
}

// Wrote is as [capability.Knowledge] has it.
func (s *seenFiles) Wrote(path string, seen capability.Sight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.use(path)
	s.fresh = true
	f.watch(&seen.Stamp)
	f.begin(seen.Stamp)
	f.read = true
	f.add(seen.Ranges, s.uses, true)
}

// Rewrote is as [capability.Knowledge] has it.
func (s *seenFiles) Rewrote(path string, stamp capability.Stamp) { s.rewritten(path, &stamp) }

// know fills in what is known of a path that a call names. That a file changed is
// told by what costs no reading.
func (s *seenFiles) know(fact *abi.Fact, node *workspace.Overlaid) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[node.Real]; f != nil && f.shown {
		fact.Read, fact.Changed = true, !fact.Exists || !f.stamp.Same(node.Info.Stamp())
	}
}
