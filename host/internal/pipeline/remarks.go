package pipeline

import (
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// remarks are what the host tells the model behind a call's result. Capability calls
// bring them, perhaps side by side. The zero value is ready for use.
type remarks struct {
	mu    sync.Mutex
	texts []string
}

// put keeps a remark that was not made yet.
func (r *remarks) put(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.texts, text) {
		r.texts = append(r.texts, text)
	}
}

// add puts them behind a result.
func (r *remarks) add(result *abi.ToolResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range r.texts {
		result.Content = append(slices.Clip(result.Content), abi.TextBlock(text))
	}
}
