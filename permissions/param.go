package permissions

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// paramPattern is a rule on a field of the input, Tool(param:value).
type paramPattern struct {
	name string
	// pieces are the value, split at its wildcards.
	pieces []string
	// blind says that the rule has no other meaning and that the tool's fields
	// are not known: then it also matches where the field is absent, as the
	// rule may mean something else.
	blind bool
}

func parseParam(spec string) *paramPattern {
	name, value, _ := strings.Cut(spec, ":")
	return &paramPattern{name: name, pieces: strings.Split(markValue(value), string(wild))}
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
			b.WriteByte(wild)
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// looksLikeParam reports whether a spec could be param:value.
func looksLikeParam(spec string) bool {
	param, _, ok := strings.Cut(spec, ":")
	return ok && param != "" && strings.Trim(param, nameLetters) == ""
}

// match reports whether the rule holds back a call with this input.
func (p *paramPattern) match(input json.RawMessage) bool {
	if len(input) == 0 {
		return p.blind
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return true // what is no object has no fields to tell by
	}
	found := false
	for name, value := range fields {
		// Some decoders fold the case of names.
		if strings.EqualFold(name, p.name) {
			found = true
			if p.matchValue(value) {
				return true
			}
		}
	}
	return !found && p.blind
}

// matchValue compares a scalar, or each one in a list. What else there is, is
// compared as it is written.
func (p *paramPattern) matchValue(value json.RawMessage) bool {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil && slices.ContainsFunc(list, p.matchScalar) {
		return true
	}
	return p.matchScalar(value)
}

func (p *paramPattern) matchScalar(value json.RawMessage) bool {
	var text string
	if value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return matchPieces(p.pieces, text, false)
	}
	return matchPieces(p.pieces, string(value), false) || len(p.pieces) == 1 && sameNumber(p.pieces[0], string(value))
}

// sameNumber reports whether two texts are one number, however written.
func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
