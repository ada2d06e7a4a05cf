package hosttest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// Call is a tool use of a scripted model.
type Call struct {
	// Use is the tool use. An empty ID is filled in: call-1, call-2 and so on.
	Use abi.ToolUse
	// After, if not nil, must be closed before the call is written, so that a test can
	// settle what happens before it.
	After <-chan struct{}
	// Want checks the result of the call; nil takes any.
	Want func(*abi.ToolResult) error
}

// Use returns a call of a tool with an input, which is encoded as JSON. It panics if the
// input cannot be: it is part of a test's source.
func Use(tool string, input any) Call {
	data, err := json.Marshal(input)
	if err != nil {
		panic(fmt.Errorf("hosttest: the input of %s: %w", tool, err))
	}
	return Call{Use: abi.ToolUse{Name: tool, Input: data}}
}

// Succeeds returns the call with the wish that its result is no error and that all of
// these texts are in it.
func (c Call) Succeeds(texts ...string) Call {
	c.Want = func(r *abi.ToolResult) error {
		if r.IsError {
			return fmt.Errorf("it failed: %s", r.Text())
		}
		return holds(r, texts)
	}
	return c
}

// Fails returns the call with the wish that its result is an error of this code and that
// all of these texts are in it.
func (c Call) Fails(code abi.Code, texts ...string) Call {
	c.Want = func(r *abi.ToolResult) error {
		if !r.IsError || r.Error == nil {
			return fmt.Errorf("it did not fail with %s: %s", code, r.Text())
		}
		if r.Error.Code != code {
			return fmt.Errorf("it failed with %s, want %s: %s", r.Error.Code, code, r.Text())
		}
		return holds(r, texts)
	}
	return c
}

func holds(r *abi.ToolResult, texts []string) error {
	for _, text := range texts {
		if !strings.Contains(r.Text(), text) {
			return fmt.Errorf("%q is not in the result: %s", text, r.Text())
		}
	}
	return nil
}

func (c *Call) wait(ctx context.Context) error {
	if c.After == nil {
		return context.Cause(ctx)
	}
	select {
	case <-c.After:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
