package toolrule

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// Field is the part of a rule Tool(param:value) that covers a field of the input.
type Field struct {
	Name string
	// pieces are the value, split at its wildcards.
	pieces []string
	// Blind makes the rule match calls without the field, too. It is for rules that have
	// no other meaning, on tools whose fields are not known.
	Blind bool
	// called is the one that the value must call, see [Calls].
	called *called
}

// ParseField reads param:value.
func ParseField(spec string) *Field {
	name, value, _ := strings.Cut(spec, ":")
	return &Field{Name: name, pieces: strings.Split(markValue(value), string(shellword.Wild))}
}

// markValue puts wild for every star but \*.
func markValue(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], `\*`):
			b.WriteByte('*')
			i++
		case text[i] == '*':
			b.WriteByte(shellword.Wild)
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// IsField reports whether a spec could be param:value.
func IsField(spec string) bool {
	param, _, ok := strings.Cut(spec, ":")
	return ok && param != "" && strings.Trim(param, shellword.NameLetters) == ""
}

// Match reports whether the rule holds back a call with this input.
func (p *Field) Match(input json.RawMessage) bool {
	if len(input) == 0 {
		return p.Blind
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return true // without an object there are no fields to compare
	}
	found := false
	for name, value := range fields {
		// Some decoders fold the case of names.
		if strings.EqualFold(name, p.Name) {
			found = true
			if p.matchValue(value) {
				return true
			}
		}
	}
	return !found && p.Blind
}

// matchValue compares a scalar, or each scalar in a list. Other values are compared as they are
// written.
func (p *Field) matchValue(value json.RawMessage) bool {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil && slices.ContainsFunc(list, p.matchScalar) {
		return true
	}
	return p.matchScalar(value)
}

func (p *Field) matchScalar(value json.RawMessage) bool {
	var text string
	if p.called != nil {
		return json.Unmarshal(value, &text) != nil && p.called.wide || p.called.match(text)
	}
	if value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return shellword.MatchPieces(p.pieces, text, false)
	}
	return shellword.MatchPieces(p.pieces, string(value), false) || len(p.pieces) == 1 && sameNumber(p.pieces[0], string(value))
}

// sameNumber reports whether two texts are one number, however written.
func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// MatchText reports whether the rule holds back a field and its value, written name:value.
func (p *Field) MatchText(subject string) bool {
	name, value, _ := strings.Cut(subject, ":")
	input, err := json.Marshal(map[string]string{name: value})
	return err == nil && name == p.Name && p.Match(input)
}
