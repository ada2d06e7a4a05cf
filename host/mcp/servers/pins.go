package servers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/internal/record"
	"github.com/toolquay/toolquay/internal/visible"
)

// pins remember the definitions of tools: those that a server told first, and later ones that
// were approved. They are safe for concurrent use.
type pins struct {
	file record.File[map[string]pin] // by the server's identity and the tool's own name
	log  *slog.Logger

	mu     sync.Mutex
	known  map[string]map[string]pin
	broken error // why the file cannot be read
}

// pin has the hashes of what a server says of a tool.
type pin struct {
	Description string `json:"description"`
	Input       string `json:"input"`
	Output      string `json:"output,omitempty"`
	Hints       string `json:"hints,omitempty"`
	// Name is the one by which it was offered, which rules may name: no other tool has it unasked.
	Name string `json:"name,omitempty"`
}

// pinOf is the pin of a tool.
func pinOf(d *definition) pin {
	t := d.told
	sum := func(v any) string {
		text, _ := json.Marshal(v) // what came as JSON can be written as such
		if s := string(text); s == "null" || s == `""` {
			return ""
		}
		sum := sha256.Sum256(text)
		return hex.EncodeToString(sum[:16])
	}
	return pin{Description: sum(t.Title + "\x00" + t.Description), Input: sum(t.InputSchema), Output: sum(t.OutputSchema), Hints: sum(t.Annotations), Name: d.offered}
}

// openPins reads the pins of a file; without one they are kept in memory.
func openPins(file string, log *slog.Logger) *pins {
	p := &pins{log: log, known: make(map[string]map[string]pin)}
	if file == "" {
		return p
	}
	p.file = record.File[map[string]pin]{Path: file, Key: "servers"}
	known, err := p.file.Read()
	if err != nil {
		p.broken = err
		log.Warn("the definitions of MCP servers' tools that were seen before are not known: each call asks", "error", err)
		return p
	}
	p.known = known
	return p
}

// first pins tools that were not seen before.
func (p *pins) first(c *Config, defined []*definition) {
	p.put(c, defined, false)
}

// approve pins a tool as it is now.
func (p *pins) approve(c *Config, d *definition) {
	p.put(c, []*definition{d}, true)
}

// put pins tools, those that have a pin only with over.
func (p *pins) put(c *Config, defined []*definition, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return
	}
	id := c.identity()
	news := make(map[string]pin)
	for _, d := range defined {
		is := pinOf(d)
		if was, ok := p.known[id][d.own]; !ok || over && (was != is || p.borrowed(id, d) != "") {
			news[d.own] = is
		}
	}
	if len(news) == 0 {
		return
	}
	add := func(list map[string]map[string]pin) {
		tools := maps.Clone(list[id])
		if tools == nil {
			tools = make(map[string]pin)
		}
		for name, is := range news {
			if _, ok := tools[name]; ok && !over { // another process was first
				continue
			}
			for other, pinned := range tools {
				if over && pinned.Name == is.Name {
					pinned.Name = ""
					tools[other] = pinned
				}
			}
			tools[name] = is
		}
		list[id] = tools
	}
	if p.file.Path == "" {
		add(p.known)
		return
	}
	known, err := p.file.Update(add)
	if err != nil {
		p.log.Warn("the definitions of an MCP server's tools could not be recorded", "error", err)
		add(p.known)
		return
	}
	p.known = known
}

// borrowed is the tool that had the name of another one before; empty is none.
func (p *pins) borrowed(id string, d *definition) string {
	for own, was := range p.known[id] {
		if own != d.own && was.Name == d.offered {
			return own
		}
	}
	return ""
}

// changed says, for a person, what is other in a definition than in the pinned one; empty is
// nothing.
func (p *pins) changed(c *Config, d *definition) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return fmt.Sprintf("the record of what the server %s said of its tools before cannot be read, so it may have changed: %v", c.Name, p.broken)
	}
	id := c.identity()
	if other := p.borrowed(id, d); other != "" {
		return fmt.Sprintf("the server %s had another tool under this name before (%s)", c.Name, visible.Name(other))
	}
	was, is := p.known[id][d.own], pinOf(d)
	var parts []string
	for _, part := range []struct{ name, was, is string }{
		{"description", was.Description, is.Description}, {"input", was.Input, is.Input},
		{"output", was.Output, is.Output}, {"annotations", was.Hints, is.Hints},
	} {
		if part.was != part.is {
			parts = append(parts, part.name)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("the server %s changed what it says of this tool since it was last seen or approved (%s)", c.Name, strings.Join(parts, ", "))
}
