package display

import (
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// maxKept is how many parsed templates are kept. Tools have six each.
const maxKept = 4096

// kept are parsed templates by their text.
var kept = struct {
	sync.RWMutex
	templates map[string]abi.Template
}{templates: make(map[string]abi.Template)}

// parsed is a template, parsed once.
func parsed(text string) (abi.Template, error) {
	if text == "" {
		return abi.Template{}, nil
	}
	kept.RLock()
	t, ok := kept.templates[text]
	kept.RUnlock()
	if ok {
		return t, nil
	}
	t, err := abi.ParseTemplate(text)
	if err != nil {
		return t, err
	}
	kept.Lock()
	defer kept.Unlock()
	if len(kept.templates) >= maxKept { // guests make up some for each call
		clear(kept.templates)
	}
	kept.templates[text] = t
	return t, nil
}
