package toolset

import (
	"cmp"
	"encoding/json"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// RecordKind is the kind of a journal record that names tools whose definitions the
// model was given.
const RecordKind = "loaded"

// Known is what a session's model was told of its tools. The zero value is a model that
// was told nothing. It is safe for concurrent use.
type Known struct {
	mu sync.Mutex
	// format is the one of the last definitions; empty if nobody asked for any.
	format Format
	// deferred are the tools that the last definitions had by name alone. loaded are those
	// whose definitions the model was given since, full those that were never deferred.
	deferred, loaded, full map[string]bool
}

// defers reports whether tools were deferred before. A session continues to defer: if
// that changed as tools come and go, all definitions would change, and references in the
// conversation would become void.
func (k *Known) defers() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.deferred)+len(k.loaded) > 0
}

// inFull reports whether the model was given the definition of a tool that was not
// deferred. It is never deferred later, since the model does not forget it.
func (k *Known) inFull(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.full[name]
}

// tell records what the model is told of tools, by whether they are deferred.
func (k *Known) tell(format Format, tools map[string]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.format, k.deferred = format, make(map[string]bool)
	if k.full == nil {
		k.full = make(map[string]bool)
	}
	for name, deferred := range tools {
		if deferred {
			k.deferred[name] = true
		} else {
			k.full[name] = true
		}
	}
}

// Lacks reports whether the model was told of a tool by name alone.
func (k *Known) Lacks(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.deferred[name] && !k.loaded[name]
}

// Loaded reports whether the model was given the definition of a deferred tool.
func (k *Known) Loaded(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.loaded[name]
}

// Learn records that the model is given the definitions that a result refers to, and
// returns the names of the tools that it did not have before.
func (k *Known) Learn(content []abi.Block) (news []string) {
	for _, b := range content {
		if isReference(b) && k.load(b.ToolName) {
			news = append(news, b.ToolName)
		}
	}
	return news
}

// Restore takes over a journal record that an earlier process wrote: the data is a list
// of names as returned by [Known.Learn].
func (k *Known) Restore(record json.RawMessage) error {
	var names []string
	if err := json.Unmarshal(record, &names); err != nil {
		return err
	}
	for _, name := range names {
		k.load(name)
	}
	return nil
}

// load records that the model has the definition of a tool, and reports whether that is
// new.
func (k *Known) load(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.loaded[name] {
		return false
	}
	if k.loaded == nil {
		k.loaded = make(map[string]bool)
	}
	k.loaded[name] = true
	return true
}

// Format is the format of the last definitions.
func (k *Known) Format() Format {
	k.mu.Lock()
	defer k.mu.Unlock()
	return cmp.Or(k.format, FormatAnthropic)
}

func isReference(b abi.Block) bool { return b.Type == abi.BlockToolReference }
