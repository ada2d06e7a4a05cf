package display

import (
	"fmt"
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

// Check says what is wrong with templates that a guest made, which may be nil.
func Check(lines *abi.Lines) error {
	if lines == nil {
		return nil
	}
	for _, kind := range abi.LineKinds {
		if _, err := parsed(lines.Line(kind)); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

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
