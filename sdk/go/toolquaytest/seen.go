package toolquaytest

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
)

// seen is what is known of files, by name: what the model has seen of them, or what a
// call has read. It is safe for concurrent use.
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

// glance is what the result of a call is to show of a file.
type glance struct {
	name, view string
	content    []byte
	spans      []span
}

// again reports whether an earlier call showed just this of the same content. It does so
// once: the model that asks a third time has lost what it was shown.
func (s *seen) again(name string, content []byte, view string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.files[name]
	if old == nil || !bytes.Equal(old.content, content) {
		return false
	}
	i := slices.Index(old.views, view)
	if i >= 0 {
		old.views = slices.Delete(old.views, i, i+1)
	}
	return i >= 0
}

// look adds to what is known of a file. Another content is another file.
func (s *seen) look(name string, content []byte, spans []span, views ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.files[name]
	if old == nil || !bytes.Equal(old.content, content) {
		old = &sight{content: content}
		s.files[name] = old
	}
	old.ranges = append(old.ranges, spans...)
	old.views = append(old.views, views...)
}

// of returns what is known of a file, nil for nothing.
func (s *seen) of(name string) *sight {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[name]
}

// settle has the model know what the call's result has shown.
func (s *session) settle() {
	for _, g := range s.shown {
		s.host.seen.look(g.name, g.content, g.spans, g.view)
	}
}

// whole reports whether all of the content is known.
func (s *sight) whole() bool { return s.covers(span{0, len(s.content)}) }

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

// wrote notes what is known after a file was written: all of it, or nothing but that it
// was.
func (s *seen) wrote(name string, content []byte, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = &sight{content: content}
	if whole {
		s.files[name].ranges = []span{{0, len(content)}}
	}
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
