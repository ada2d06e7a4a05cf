package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/permissions"
)

// ParseClaude reads the permission lists of a settings.json in the style of
// Claude Code: allow, ask, deny, additionalDirectories and defaultMode of the
// object permissions. Other keys are passed over, with a note that lists them.
// The JSON is held to what [abi.Canonical] asks, so that no key stands twice.
func ParseClaude(kind permissions.SourceKind, path string, src []byte) (*File, error) {
	f := &File{Kind: kind, Path: path}
	p := jsonParser{faults: faults{file: f}}
	if body, ok := p.body(src); ok {
		p.parse(body)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return f, nil
}

type jsonParser struct {
	faults
	lines   lines
	ignored []string
}

func (p *jsonParser) parse(body []byte) {
	p.lines = newLines(body)
	if len(body) > stricttoml.MaxSize {
		p.add(0, "", "it has %d bytes; at most %d are read", len(body), stricttoml.MaxSize)
		return
	}
	root, err := parseJSON(body)
	if bad, ok := errors.AsType[*abi.JSONFault](err); ok {
		p.add(p.lines.of(bad.Offset), bad.Path, "%s", bad.Message)
		return
	}
	if err != nil {
		p.add(0, "", "%v", err)
		return
	}
	if !p.is(root, '{', "", "an object") {
		return
	}
	for _, m := range root.members {
		if m.key != "permissions" {
			p.ignored = append(p.ignored, shown(m.key))
		} else if p.is(m.value, '{', m.key, "an object") {
			p.permissions(m.value)
		}
	}
	p.passedOver()
}

// passedOver notes the keys that say nothing here.
func (p *jsonParser) passedOver() {
	const most = 20
	list := p.ignored
	if more := len(list) - most; more > 0 {
		list = append(list[:most:most], fmt.Sprintf("and %d more", more))
	}
	if len(list) > 0 {
		p.faults.file.note(0, "not read of it: "+strings.Join(list, ", "))
	}
}

// shown is a key as it can stand in a message: a file may have any.
func shown(key string) string { return fmt.Sprintf("%.60q", key) }

// is reports whether a value is of a kind, else it is a fault.
func (p *jsonParser) is(n *jsonNode, kind byte, key, want string) bool {
	if n.kind != kind {
		p.add(p.lines.of(n.start), key, "found %s, expected %s", n, want)
	}
	return n.kind == kind
}

func (p *jsonParser) permissions(n *jsonNode) {
	f := p.faults.file
	for _, m := range n.members {
		key := "permissions." + m.key
		switch m.key {
		case "deny":
			f.Deny = p.rules(key, m.value)
		case "ask":
			f.Ask = p.rules(key, m.value)
		case "allow":
			f.Allow = p.rules(key, m.value)
		case "additionalDirectories":
			p.texts(key, m.value, func(text string, line int) {
				f.Directories = append(f.Directories, Key[string]{text, true, f.source(line)})
			})
		case "defaultMode":
			p.mode(key, m.value)
		default:
			p.ignored = append(p.ignored, shown(key))
		}
	}
}

func (p *jsonParser) rules(key string, n *jsonNode) []Rule {
	out := []Rule{}
	p.texts(key, n, func(text string, line int) { out = append(out, Rule{Text: text, Line: line}) })
	return out
}

// texts reads an array of strings.
func (p *jsonParser) texts(key string, n *jsonNode, take func(text string, line int)) {
	if !p.is(n, '[', key, "an array of strings") {
		return
	}
	for i, e := range n.elems {
		if p.is(e, '"', fmt.Sprintf("%s[%d]", key, i), "a string") {
			take(e.text, p.lines.of(e.start))
		}
	}
}

func (p *jsonParser) mode(key string, n *jsonNode) {
	if !p.is(n, '"', key, "a string") {
		return
	}
	line := p.lines.of(n.start)
	mode, err := permissions.ParseMode(n.text)
	if err != nil {
		p.add(line, key, "%v", err)
		return
	}
	p.faults.file.Mode = Key[permissions.Mode]{mode, true, p.faults.file.source(line)}
}
