package stream

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// maxHead is how much is kept of what is no stream, in bytes. What APIs answer
// instead of one, an error above all, is far shorter.
const maxHead = 16 << 10

// notEvents is the error for what came instead of server-sent events: what an API
// says when it refuses to answer, or answers otherwise than it was to be asked.
func notEvents(head []byte) error {
	body := bytes.TrimSpace(head)
	if bytes.HasPrefix(body, []byte("HTTP/")) { // curl -i
		if _, behind, ok := bytes.Cut(body, []byte("\n\n")); ok {
			body = behind
		}
	}
	switch {
	case len(body) == 0:
		return broken("the stream is empty: nothing came before its end")
	case bytes.HasPrefix(body, []byte("\x1f\x8b")):
		return broken("the stream is compressed (gzip); ask for it as it is, or unpack it first")
	case body[0] != '{':
		first, _, _ := bytes.Cut(body, []byte("\n"))
		return broken("these are no server-sent events; the first line is %q", shown(string(first)))
	}
	var answer struct {
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || isNull(answer.Error) {
		return broken(`this is JSON, and no stream of events; an API is asked for one with "stream": true`)
	}
	var told apiError
	if json.Unmarshal(answer.Error, &told) != nil {
		told.Message = cmp.Or(textOf(answer.Error), string(answer.Error))
	}
	return told.err()
}

// apiError is how an API describes a failure.
type apiError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func (e apiError) err() error {
	return broken("the API reports an error: %s", shown(cmp.Or(e.Message, e.Type, "it does not say which")))
}

// textOf is the text of a JSON string, or nothing.
func textOf(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text)
	return text
}
