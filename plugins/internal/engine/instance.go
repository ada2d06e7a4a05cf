package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Part is one module of an instance.
type Part struct {
	Program *Program
	// As, if not empty, is the module name under which later parts of the same
	// instance import this one's exports.
	As string
	// MaxMemory bounds its linear memory, in bytes.
	MaxMemory int64
}

// core is an instance without what the runner keeps beside it.
type core struct {
	modules []api.Module
	parts   []part
	// fixed says why it cannot be put back, "" where it can.
	fixed string
	snap  *snapshot // what it is put back to, nil for none
	// engine is what it is counted in, nil where it is not.
	engine *Engine
}

// part is what is put back of one module.
type part struct {
	memory  *linear
	api     api.Memory
	globals []api.MutableGlobal
}

// moduleConfig is that of every instance: what a guest is given comes by host
// functions.
var moduleConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// build instantiates the parts of an instance, start functions included. What it
// returns is to be closed, also where it fails.
func (e *Engine) build(ctx context.Context, parts []Part, from []*memories) (c *core, err error) {
	c = &core{modules: make([]api.Module, 0, len(parts)), parts: make([]part, len(parts))}
	if err := e.enter(); err != nil {
		return c, err
	}
	c.engine = e
	var unborn *slot
	defer func() {
		// The engine panics where the system has no memory for a guest.
		if p := recover(); p != nil {
			err = fmt.Errorf("the engine failed: %v", p)
		}
		if unborn != nil && unborn.linear != nil {
			unborn.linear.Free()
		}
	}()
	ctx = experimental.WithImportResolver(ctx, func(name string) api.Module {
		for i, m := range c.modules {
			if parts[i].As != "" && parts[i].As == name {
				return m
			}
		}
		return nil
	})
	for i := range parts {
		room := &slot{owner: from[i]}
		// The engine gives back the memory of an instance that is closed, but not
		// of one that never came to be.
		unborn = room
		mod, err := e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, room), parts[i].Program.Compiled, moduleConfig)
		if err != nil {
			return c, err
		}
		unborn = nil
		c.modules = append(c.modules, mod)
		c.parts[i].memory, c.parts[i].api = room.linear, mod.Memory()
		c.bindGlobals(&c.parts[i], mod, parts[i].Program)
	}
	return c, nil
}

// bindGlobals finds the globals that a module changes. Those whose values are
// more than 64 bits, or mean something within one instance only, cannot be put
// back.
func (c *core) bindGlobals(p *part, mod api.Module, program *Program) {
	if program.Facts.Frozen != "" {
		c.fixed = program.Facts.Frozen
		return
	}
	for _, name := range program.Facts.Globals {
		g, ok := mod.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			c.fixed = "it changes a global that is not exported"
			return
		}
		switch g.Type() {
		case api.ValueTypeI32, api.ValueTypeI64, api.ValueTypeF32, api.ValueTypeF64:
			p.globals = append(p.globals, g)
		default:
			c.fixed = "it changes a global that is no plain number"
			return
		}
	}
}

// become puts a new instance to a snapshot, as which it need not be brought
// there by itself. It takes over the hold on the snapshot where it succeeds;
// where not, the instance is of no use any more.
func (c *core) become(s *snapshot) bool {
	if c.fixed != "" {
		return false
	}
	for i := range c.parts {
		m := c.parts[i].memory
		if m == nil {
			continue
		}
		more := s.parts[i].size - len(m.buf)
		if more < 0 {
			return false
		}
		if _, ok := c.parts[i].api.Grow(uint32(more / pageSize)); !ok {
			return false
		}
	}
	for i := range c.parts {
		if !s.parts[i].restore(&c.parts[i], true) {
			return false
		}
	}
	c.snap = s
	return true
}

// reset puts a used instance back and reports whether it can be used again.
func (c *core) reset() bool {
	if !c.snap.settled.Load() {
		c.snap.sample(c)
	}
	for i := range c.parts {
		if !c.snap.parts[i].restore(&c.parts[i], false) {
			return false
		}
	}
	return true
}

// mappedIdle is what an idle instance is reckoned to take whose memory is
// mapped from a snapshot, in bytes, beside the pages that are its own: page
// tables, and what the engine keeps.
const mappedIdle = 64 << 10

// size is the memory that the instance takes while it is idle, in bytes.
func (c *core) size() (n int64) {
	for i := range c.parts {
		switch m := c.parts[i].memory; {
		case m == nil:
		case m.mapped:
			n += mappedIdle + int64(m.own+max(0, m.high-len(m.buf)))
		default:
			n += int64(max(m.high, len(m.buf)))
		}
	}
	return n
}

// close frees the instance, whether or not the call that it was for is over. There
// is nothing in one whose closing fails.
func (c *core) close() {
	slices.Reverse(c.modules) // what imports from others goes first
	for _, m := range c.modules {
		_ = m.Close(c.engine.life)
	}
	c.modules = nil
	c.snap.drop()
	c.snap = nil
	if c.engine != nil {
		c.engine.leave()
		c.engine = nil
	}
}
