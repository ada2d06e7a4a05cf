package toolquaytest

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

// seen is what the model has seen of files, by name. It is safe for concurrent use.
type seen struct {
	mu    sync.Mutex
	files map[string]*sight
}

// sight is what was seen of one file: what it held then, and which bytes of that.
type sight struct {
	content []byte
	ranges  []span
	views   []string
}

// span is a range of bytes.
type span struct{ from, to int }

// edit is a place in a file, and how long what takes it is.
type edit struct {
	place  span
	length int
}

// show notes what the model is shown, and reports whether it was shown just this
// before. It is so once: the model that asks a third time has lost what it was shown.
func (s *seen) show(name string, content []byte, part span, view string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.files[name]
	if old == nil || !bytes.Equal(old.content, content) {
		old = &sight{content: content}
		s.files[name] = old
	}
	if i := slices.Index(old.views, view); i >= 0 {
		old.views = slices.Delete(old.views, i, i+1)
		return true
	}
	old.views = append(old.views, view)
	old.ranges = append(old.ranges, part)
	return false
}

// check refuses a write over what was not seen: the places, or with nil the whole
// file; and, unless the writer knows better, over what is not what was seen.
func (s *seen) check(name string, now []byte, places []span, knows bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	notRead := toolquay.Errorf(toolquay.CodeNotRead, "%s was not read in this session", name)
	old := s.files[name]
	switch {
	case old == nil || places == nil && !old.covers(span{0, len(old.content)}):
		return notRead
	case !knows && !bytes.Equal(old.content, now):
		return toolquay.Errorf(toolquay.CodeChanged, "%s has changed since it was read", name)
	}
	for _, p := range places {
		if !old.covers(p) {
			return notRead
		}
	}
	return nil
}

func (s *sight) covers(p span) bool {
	ranges := slices.SortedFunc(slices.Values(s.ranges), func(a, b span) int { return cmp.Compare(a.from, b.from) })
	from := p.from
	for _, r := range ranges {
		if r.from <= from {
			from = max(from, r.to)
		}
	}
	return from >= p.to
}

// wrote notes what the model knows after it wrote a whole file.
func (s *seen) wrote(name string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = &sight{content: content, ranges: []span{{0, len(content)}}}
}

// edited notes what the model knows after it edited a file: what it saw, where that
// lies now. The edits are in order.
func (s *seen) edited(name string, content []byte, edits []edit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := &sight{content: content}
	if old := s.files[name]; old != nil {
		for _, r := range old.ranges {
			now.ranges = append(now.ranges, span{moved(r.from, edits), moved(r.to, edits)})
		}
	}
	s.files[name] = now
}

// moved returns where a position lies after edits.
func moved(position int, edits []edit) int {
	at := position
	for _, e := range edits {
		if e.place.from < position && e.place.to <= position {
			at += e.length - (e.place.to - e.place.from)
		}
	}
	return at
}
