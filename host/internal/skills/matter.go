package skills

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/internal/visible"
)

// matter is what the front matter of a file says.
type matter struct {
	name, description, hint string
	tools                   []string
	hidden                  bool
	lines                   map[string]int // of its keys
	faults                  []Fault
}

// fence begins and ends front matter.
const fence = "---"

// split parts the front matter from the body. Without any, the body is all of the text. begins is the
// line of the file, from 1, that the matter begins in; closed is false if its end is missing.
func split(text string) (front, body string, begins int, closed bool) {
	rest := strings.TrimLeft(text, " \t\n")
	begins = 2 + strings.Count(text[:len(text)-len(rest)], "\n")
	first, rest, _ := strings.Cut(rest, "\n")
	if strings.TrimRight(first, " \t") != fence {
		return "", text, 0, true
	}
	for at := 0; at < len(rest); {
		line, _, ended := strings.Cut(rest[at:], "\n")
		next := at + len(line)
		if ended {
			next++
		}
		if strings.TrimRight(line, " \t") == fence {
			return rest[:at], rest[next:], begins, true
		}
		at = next
	}
	return rest, "", begins, false
}

// parse reads front matter whose first line is that line of the file.
func parse(front string, first int) *matter {
	m := &matter{lines: make(map[string]int)}
	if len(front) > maxMatter {
		m.fatal(first, "the front matter has more than %d bytes", maxMatter)
		return m
	}
	doc, err := mapping(front)
	if err != nil {
		mended, mendErr := mapping(mend(front))
		if mendErr != nil {
			m.fatal(lineOf(err)+first-1, "the front matter is not YAML: %s", withoutLine(err))
			return m
		}
		doc = mended
		m.warn(lineOf(err)+first-1, "the front matter is not YAML, and was read line by line: %s; put texts with a colon in quotes", withoutLine(err))
	}
	for i := 0; i+1 < len(doc); i += 2 {
		key, value := doc[i], doc[i+1]
		m.take(key.Value, value, key.Line+first-1)
	}
	return m
}

// mapping reads YAML into the keys and values of its one mapping. Aliases are not followed, so that
// none can grow.
func mapping(text string) ([]*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, err
	}
	switch {
	case len(doc.Content) == 0, doc.Content[0].Tag == "!!null":
		return nil, nil
	case doc.Content[0].Kind != yaml.MappingNode:
		return nil, errors.New("line " + strconv.Itoa(doc.Content[0].Line) + ": it must be keys and values")
	}
	return doc.Content[0].Content, nil
}

// take reads one key.
func (m *matter) take(key string, value *yaml.Node, line int) {
	if _, twice := m.lines[key]; twice {
		m.warn(line, "%.40q is there twice; the first one counts", key)
		return
	}
	m.lines[key] = line
	switch key {
	case "name":
		m.name = m.text(key, value, line)
	case "description":
		m.description = m.text(key, value, line)
	case "argument-hint":
		m.hint = m.words(value)
	case "license", "compatibility":
		m.text(key, value, line)
	case "metadata":
		if value.Kind != yaml.MappingNode {
			m.warn(line, "metadata must be keys and values")
		}
	case "allowed-tools":
		m.allow(value, line)
	case "disable-model-invocation":
		m.hidden = m.truth(key, value, line)
	}
}

// text is a scalar.
func (m *matter) text(key string, value *yaml.Node, line int) string {
	if value.Kind != yaml.ScalarNode {
		m.warn(line, "%s must be a text", key)
		return ""
	}
	if value.Tag == "!!null" {
		return ""
	}
	return strings.TrimSpace(value.Value)
}

// words are a scalar, or a list of them as a line: [a] [b] in YAML is a list, and means that text.
func (m *matter) words(value *yaml.Node) string {
	if value.Kind != yaml.SequenceNode {
		return strings.TrimSpace(value.Value)
	}
	var all []string
	for _, item := range value.Content {
		all = append(all, "["+item.Value+"]")
	}
	return strings.Join(all, " ")
}

// truth is a yes or a no, as YAML has them of old, too.
func (m *matter) truth(key string, value *yaml.Node, line int) bool {
	switch strings.ToLower(value.Value) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0":
		return false
	}
	m.warn(line, "%s must be true or false, and counts as true", key)
	return true
}

// allow reads the rules that the skill proposes: a text, split at blanks and commas outside of
// parentheses, or a list of such.
func (m *matter) allow(value *yaml.Node, line int) {
	items := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		items = value.Content
	}
	for _, item := range items {
		if item.Kind != yaml.ScalarNode {
			m.warn(line, "allowed-tools must be a text or a list of texts")
			continue
		}
		m.tools = append(m.tools, splitRules(item.Value)...)
	}
	if n := len(m.tools); n > 0 {
		m.tools = slices.DeleteFunc(m.tools, func(rule string) bool { return visible.Line(rule) != rule })
		if len(m.tools) < n {
			m.warn(line, "proposals of allowed-tools with characters that do not show are left out")
		}
	}
	for i, rule := range m.tools {
		if i >= maxTools || len(rule) > maxTool {
			m.warn(line, "allowed-tools has more than %d proposals, or one of more than %d bytes; the rest is left out", maxTools, maxTool)
			m.tools = m.tools[:i]
			return
		}
	}
}

// splitRules splits a list of rules.
func splitRules(text string) (rules []string) {
	depth, start := 0, 0
	add := func(end int) {
		if rule := strings.TrimSpace(text[start:end]); rule != "" {
			rules = append(rules, rule)
		}
		start = end + 1
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth <= 0 && strings.IndexByte(", \t\n", c) >= 0:
			add(i)
		}
	}
	add(len(text))
	return rules
}

// plainLine is a top-level key with a text that no quote or bracket begins; a hint may have brackets.
var plainLine = lazyregexp.New(`^(?:([A-Za-z][A-Za-z0-9_-]*):[ \t]+([^"'\[{|>&*!# \t].*)|(argument-hint):[ \t]+(\[.*))$`)

// mend quotes the plain texts of top-level keys. Many skills have a colon in one, which YAML reads as
// another mapping, or several words in brackets for a hint.
func mend(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		found := plainLine.FindStringSubmatch(lines[i])
		if found == nil {
			continue
		}
		value := []string{found[2] + found[4]}
		for j := i + 1; j < len(lines) && (strings.HasPrefix(lines[j], " ") || strings.HasPrefix(lines[j], "\t")); j++ {
			value = append(value, strings.TrimSpace(lines[j]))
			lines[j] = ""
		}
		lines[i] = found[1] + found[3] + ": '" + strings.ReplaceAll(strings.TrimSpace(strings.Join(value, " ")), "'", "''") + "'"
	}
	return strings.Join(lines, "\n")
}

var yamlLine = lazyregexp.New(`(?:yaml: )?line (\d+): `)

// lineOf is the line that an error of the parser names, or 1.
func lineOf(err error) int {
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n > 0 {
			return n
		}
	}
	return 1
}

func withoutLine(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	return strings.TrimPrefix(text, yamlLine.FindString(text))
}

// maxWarnings is how many warnings of a file are told.
const maxWarnings = 100

func (m *matter) warn(line int, format string, args ...any) {
	if len(m.faults) >= maxWarnings {
		return
	}
	m.faults = append(m.faults, Fault{Line: line, Text: fmt.Sprintf(format, args...)})
}

func (m *matter) fatal(line int, format string, args ...any) {
	m.faults = append(m.faults, Fault{Line: line, Text: fmt.Sprintf(format, args...), Fatal: true})
}

var (
	formatName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	usableName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
)

// usable reports whether a skill can be called by a name.
func usable(name string) bool {
	return utf8.RuneCountInString(name) <= maxName && usableName.MatchString(name) && !strings.Contains(name, "..")
}
