package stream

import (
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// openAI understands the events of both of OpenAI's APIs: Chat Completions (chat.go)
// and Responses (responses.go).
type openAI struct {
	queue

	// responses says that the events are those of the Responses API.
	responses bool
	stop      string
}

func (o *openAI) event(name string, data []byte) (bool, error) {
	if kind := kindOf(name, data); strings.HasPrefix(kind, "response.") || kind == "error" {
		o.responses = o.responses || kind != "error"
		return o.response(kind, data)
	}
	return o.chunk(data)
}

// lost ends a stream of Chat Completions: where a call begins there is for its
// pieces to tell, so of one that comes the beginning may be what was lost. The
// other API repeats all that counts.
func (o *openAI) lost(why error) bool {
	if o.responses {
		o.fault(abi.ToolUse{}, why)
		return false
	}
	o.queue.breakOff(why)
	return true
}
