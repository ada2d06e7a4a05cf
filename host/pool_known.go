package host

import (
	"cmp"
	"encoding/json"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// knowledge is what a session's model was told of its tools. It is safe for
// concurrent use; its zero value is a model that was told nothing yet.
type knowledge struct {
	mu sync.Mutex
	// format is that of the last definitions; empty where nobody asked for any.
	format Format
	// deferred are the tools of which it was last told the names alone, loaded those
	// whose definitions it was given since, and full those that it was told of in full.
	deferred, loaded, full map[string]bool
}

// defers reports whether tools were deferred before. A session goes on with what
// it began: were it to end when a tool goes, and to begin when one comes, all of
// the definitions would be others, and references in the conversation void.
func (k *knowledge) defers() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.deferred)+len(k.loaded) > 0
}

// hasInFull reports whether the model was told of a tool before as of one that is
// not deferred. It stays one: a model does not forget what it was told.
func (k *knowledge) hasInFull(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.full[name]
}

// tell encodes the definitions of a pool and notes that the model has them.
func (k *knowledge) tell(p *pool) (json.RawMessage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	definitions, err := p.encode(k.loaded)
	if err != nil {
		return nil, err
	}
	k.format, k.deferred = p.format, make(map[string]bool)
	if k.full == nil {
		k.full = make(map[string]bool)
	}
	for _, t := range p.tools {
		if t.deferred {
			k.deferred[t.Name] = true
		} else {
			k.full[t.Name] = true
		}
	}
	return definitions, nil
}

// lacks reports whether the model was told of a tool by name alone.
func (k *knowledge) lacks(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.deferred[name] && !k.loaded[name]
}

// has reports whether the model was given a definition that was deferred.
func (k *knowledge) has(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.loaded[name]
}

// load notes that the model has the definitions of tools, and returns those of
// which that is news.
func (k *knowledge) load(names []string) (news []string) {
	if len(names) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.loaded == nil {
		k.loaded = make(map[string]bool)
	}
	for _, name := range names {
		if !k.loaded[name] {
			k.loaded[name] = true
			news = append(news, name)
		}
	}
	return news
}

// told is the format that the model is told in: that of its last definitions.
func (k *knowledge) told() Format {
	k.mu.Lock()
	defer k.mu.Unlock()
	return cmp.Or(k.format, FormatAnthropic)
}

// kindLoaded is the kind of journal record that names tools whose definitions the
// model was given.
const kindLoaded = "loaded"

// learn notes what the model learns of tools from a result that leaves. A result of
// what a call calls is for that one, and the model does not see it.
func (t *turn) learn(r *abi.ToolResult) {
	if t.within != nil {
		return
	}
	var names []string
	for _, b := range r.Content {
		if isReference(b) {
			names = append(names, b.ToolName)
		}
	}
	s := t.session
	news := s.knows.load(names)
	if len(news) == 0 {
		return
	}
	if err := s.remember(kindLoaded, news); err != nil {
		s.host.options.Logger.Warn("the next process that goes on with the session will have these tools loaded anew", "tools", news, "error", err)
	}
}

// relearn takes up what the model had learnt when an earlier process ended.
func (s *Session) relearn() {
	for _, record := range s.recall(kindLoaded) {
		var names []string
		if err := json.Unmarshal(record, &names); err != nil {
			s.host.options.Logger.Warn("a record of the session is left out", "kind", kindLoaded, "error", err)
			continue
		}
		s.knows.load(names)
	}
}
