package extism

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolquay/toolquay/abi"
)

// The host's part of extism:host/env. What these functions free, and the words
// in which they fail, are go-sdk's. A failure is a panic, which the engine turns
// into the error of the guest's call.

// logLevel is what get_log_level answers: "info" as PDKs count, from trace = 0.
const logLevel = 2

// errNeedsCall says that a guest's start reached for what only a call has.
var errNeedsCall = errors.New("it used Extism's functions where there is no call to serve, in its start function")

// check ends the guest's call with an error of the kernel's.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// view returns the block at an offset, which is meant to be text: a view that the
// next call into the kernel may invalidate.
func (c *call) view(what string, offset uint64) []byte {
	b, err := c.guest.block(c, offset)
	if errors.Is(err, errOutside) {
		err = fmt.Errorf("failed to read %s from memory: %w", what, err)
	}
	check(err)
	return b
}

// name reads the block at an offset, which is meant to be the name of something.
// Nothing has a name of more than MaxVars bytes: there is none then, and nothing
// is copied.
func (c *call) name(what string, offset uint64) (name string, ok bool) {
	b := c.view(what, offset)
	if len(b) > MaxVars {
		return "", false
	}
	return string(b), true
}

// give makes a block of a value. The offset is 0 where the value is empty.
func (c *call) give(value string) uint64 {
	offset, room, err := c.guest.newBlock(c, uint64(len(value)))
	check(err)
	if offset == 0 && value != "" {
		c.full()
	}
	copy(room, value)
	return offset
}

func (c *call) full() {
	panic(abi.Errorf(abi.CodeLimit, "its memory is full (limit memory = %s)", abi.Size(c.limits.Memory)))
}

func (c *call) configGet(stack []uint64) {
	name, ok := c.name("config name", stack[0])
	raw, found := c.config[name]
	if !ok || !found {
		stack[0] = 0
		return
	}
	stack[0] = c.give(configText(raw))
}

// configText is a value of the configuration as Extism has it: strings as they
// are, other values as JSON.
func configText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// varOverhead is what go-sdk counts for every variable beside its bytes.
const varOverhead = 40

func (c *call) varGet(stack []uint64) {
	name, ok := c.name("var name", stack[0])
	check(c.guest.release(c, stack[0]))
	value, found := c.vars[name]
	if !ok || !found {
		stack[0] = 0
		return
	}
	stack[0] = c.give(value)
}

func (c *call) varSet(stack []uint64) {
	name, ok := c.name("var name", stack[0])
	check(c.guest.release(c, stack[0]))
	if stack[1] == 0 {
		if ok {
			c.dropVar(name)
		}
		return
	}
	view := c.view("var value", stack[1])
	size := varOverhead + len(name) + len(view)
	if !ok || c.varSize+size >= MaxVars {
		panic(errors.New("Variable store is full")) //nolint:staticcheck // go-sdk's words
	}
	value := string(view)
	check(c.guest.release(c, stack[1]))
	c.dropVar(name)
	if c.vars == nil {
		c.vars = make(map[string]string)
	}
	c.vars[name] = value
	c.varSize += size
}

func (c *call) dropVar(name string) {
	if old, ok := c.vars[name]; ok {
		c.varSize -= varOverhead + len(name) + len(old)
		delete(c.vars, name)
	}
}

// httpRequest is where Extism's own way to the network would begin. It answers
// to no gate, so it is never given.
func (c *call) httpRequest([]uint64) {
	panic(abi.Errorf(abi.CodeUnsupported, "it called Extism's http_request, which this host never gives; only capabilities reach the network"))
}

// logBlock logs the text of a block and frees it. No level means that nobody
// listens to it.
func (c *call) logBlock(level string, offset uint64) {
	if level != "" {
		if view := c.view("log message", offset); c.listens() {
			text := logText(view)
			c.Heard(text)
			c.tell(level, text)
		}
	}
	check(c.guest.release(c, offset))
}
