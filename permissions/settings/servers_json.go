package settings

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/permissions"
)

// sharedServers reads the project's .mcp.json, which other agents read too. What is wrong
// with it is a warning: it denies nothing, so the rest of the settings counts without it.
func (l *loader) sharedServers(root string) {
	file := filepath.Join(root, ".mcp.json")
	l.out.Watched = append(l.out.Watched, file)
	content, there, err := readFile(file)
	l.saw(permissions.SourceProject, file, there || err != nil)
	src := permissions.Source{Kind: permissions.SourceProject, File: file}
	if err != nil {
		l.warn(src, "its MCP servers left out: %v", err)
	}
	if err != nil || !there {
		return
	}
	f, err := parseShared(file, content)
	if err != nil {
		l.warn(src, "its MCP servers left out: %v", err)
	}
	l.files = append(l.files, f)
}

// parseShared reads the text of a .mcp.json. A server that makes no sense is left out, with
// a note, and so is every key that is not known. An error says where the whole does not.
func parseShared(file string, src []byte) (*File, error) {
	f := &File{Kind: permissions.SourceProject, Path: file}
	p := jsonParser{faults: faults{file: f}}
	body, ok := p.body(src)
	if ok {
		ok = len(body) <= stricttoml.MaxSize
		if !ok {
			p.add(0, "", "it has %d bytes; at most %d are read", len(body), stricttoml.MaxSize)
		}
	}
	if !ok {
		return f, errors.New(p.list[0].Message)
	}
	p.lines = newLines(body)
	root, err := parseJSON(body)
	if bad, ok := errors.AsType[*abi.JSONFault](err); ok {
		line, column := p.lines.place(bad.Offset)
		return f, fmt.Errorf("line %d, column %d: %s", line, column, bad.Message)
	}
	if err != nil {
		return f, err
	}
	for _, m := range root.members {
		if m.key == "mcpServers" {
			p.servers(m.value)
		} else {
			p.ignored = append(p.ignored, shown(m.key))
		}
	}
	if root.member("mcpServers") == nil {
		f.note(1, "it has no object mcpServers, and so no MCP servers")
	}
	p.passedOver()
	for _, fault := range p.list {
		f.note(fault.Source.Line, fmt.Sprintf("an MCP server left out: %s: %s", fault.Key, fault.Message))
	}
	return f, nil
}

// servers reads the object mcpServers.
func (p *jsonParser) servers(n *jsonNode) {
	if !p.is(n, '{', "mcpServers", "an object") {
		return
	}
	if len(n.members) > maxServers {
		p.add(p.lines.of(n.start), "mcpServers", "it has %d servers; at most %d are read", len(n.members), maxServers)
		return
	}
	for _, m := range n.members {
		key := "mcpServers." + keyText(m.key)
		if why := badServerName(m.key); why != "" {
			p.add(p.lines.of(m.start), fmt.Sprintf("mcpServers.%.80s", keyText(m.key)), "it is not a valid server name: %s", why)
			continue
		}
		before := len(p.list)
		s := p.server(m, key)
		if len(p.list) > before || s.ourselves() {
			continue
		}
		if p.faults.file.Servers == nil {
			p.faults.file.Servers = make(map[string]Server)
		}
		p.faults.file.Servers[m.key] = s
	}
}

// server reads one server.
func (p *jsonParser) server(m jsonMember, key string) Server {
	s := Server{Name: m.key, Shared: true, Source: p.faults.file.source(p.lines.of(m.start))}
	if !p.is(m.value, '{', key, "an object") {
		return s
	}
	var transport string
	var args []string
	for _, field := range m.value.members {
		at, v := key+"."+field.key, field.value
		switch field.key {
		case "type":
			transport = p.string(at, v)
		case "command":
			s.Command = []string{p.string(at, v)}
		case "args":
			p.texts(at, v, func(text string, _ int) { args = append(args, text) })
		case "env":
			s.Env = p.pairs(at, v)
		case "url":
			s.URL = p.string(at, v)
		case "headers":
			s.Headers = p.pairs(at, v)
		default:
			p.ignored = append(p.ignored, shown(at))
		}
	}
	fault := func(sub, format string, args ...any) { p.add(s.Source.Line, key+"."+sub, format, args...) }
	s.choose(transport, fault)
	if s.Command != nil {
		s.Command = append(s.Command, args...)
	}
	s.check(true, fault)
	return s
}

// ourselves reports whether the server is this program, which toolquay mcp install adds for
// other agents.
func (s *Server) ourselves() bool {
	if len(s.Command) == 0 {
		return false
	}
	program := strings.TrimSuffix(path.Base(strings.ReplaceAll(s.Command[0], `\`, "/")), ".exe")
	return program == "toolquay" && slices.Contains(s.Command[1:], "mcp")
}

// choose keeps what the transport has, which the command tells where no type is given.
func (s *Server) choose(transport string, fault func(sub, format string, args ...any)) {
	if transport == "" && s.Command == nil {
		transport = "http"
	}
	switch transport {
	case "", "stdio":
		s.URL, s.Headers = "", nil
		if s.Command == nil {
			fault("command", "a server of the type stdio has one, and there is none")
		}
	case "http", "streamable-http", "sse":
		s.Command, s.Env, s.SSE = nil, nil, transport == "sse"
		if s.URL == "" {
			fault("url", "the server has neither a command nor a url")
		}
	default:
		fault("type", "%.40q is not known; write one of stdio, http, streamable-http, sse", transport)
	}
}

// string reads a string.
func (p *jsonParser) string(key string, n *jsonNode) string {
	p.is(n, '"', key, "a string")
	return n.text
}

// pairs reads an object of strings.
func (p *jsonParser) pairs(key string, n *jsonNode) map[string]string {
	if !p.is(n, '{', key, "an object of strings") {
		return nil
	}
	out := make(map[string]string, len(n.members))
	for _, m := range n.members {
		out[m.key] = p.string(key+"."+keyText(m.key), m.value)
	}
	return out
}

// place returns the 1-based line and column, in bytes, of an offset.
func (l lines) place(offset int) (line, column int) {
	line = l.of(offset)
	return line, offset - l[line-1] + 1
}
