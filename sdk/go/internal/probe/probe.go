// Package probe is a plugin for tests: its tools make the capability calls that their
// input lists and tell what came of each. The host and the test kits are held to one
// table of such calls, abi/testdata/kits.json.
package probe

import (
	"encoding/json"
	"strings"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/wire"
)

// Input is a call's: what it asks for in order, how many bytes of text it adds to its
// answer, and whether it fails in the end.
type Input struct {
	Do   []Step `json:"do"`
	Pad  int    `json:"pad"`
	Fail bool   `json:"fail"`
}

// Step is one capability call. With Pass its body goes into the result unread.
type Step struct {
	Capability string          `json:"capability"`
	Args       json.RawMessage `json:"args"`
	Parts      []string        `json:"parts"`
	Pass       bool            `json:"pass"`
}

// Told is what came of a step.
type Told struct {
	Code    string          `json:"code,omitempty"`
	Message string          `json:"message,omitempty"`
	OK      json.RawMessage `json:"ok,omitempty"`
	Body    string          `json:"body,omitempty"`
}

// Register registers the tools Ask and AskToo, which do the same.
func Register() {
	toolquay.Handle("Ask", ask)
	toolquay.Handle("AskToo", ask)
}

func ask(c *toolquay.Call, in Input) (toolquay.Output, error) {
	all := make([]Told, len(in.Do))
	out := toolquay.Output{}
	for i, step := range in.Do {
		parts := make([]wire.Part, len(step.Parts))
		for n, text := range step.Parts {
			parts[n] = wire.Part{Type: wire.PartText, Data: []byte(text)}
		}
		a, err := c.Submit(step.Capability, step.Args, parts...).Wait()
		if err != nil {
			all[i] = Told{Code: string(toolquay.CodeOf(err)), Message: err.Error()}
			continue
		}
		all[i].OK = json.RawMessage(a.OK)
		if step.Pass {
			out = out.TextFrom(a)
			continue
		}
		body, err := a.Bytes()
		if err != nil {
			return out, err
		}
		all[i].Body = string(body)
	}
	told, err := json.Marshal(all)
	if err != nil || in.Fail {
		return out, toolquay.Errorf(toolquay.CodeInternal, "it fails: %v", err)
	}
	if in.Pad > 0 {
		out = out.Text(strings.Repeat("x", in.Pad))
	}
	return out.Structured(json.RawMessage(told)), nil
}
