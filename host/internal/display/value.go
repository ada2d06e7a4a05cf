package display

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxRaw is how much of a text is looked at for a line, in bytes: enough for maxLine code
// points and the white space between them.
const maxRaw = 4 << 10

// maxListed is how many members of a list are shown.
const maxListed = 3

// value is what a placeholder stands for. The zero value is none.
type value struct {
	raw json.RawMessage
	// known, if not nil, is the value in place of raw: a text or a number.
	known any
}

func textValue(text string) value {
	if text == "" {
		return value{}
	}
	return value{known: text}
}

// numberValue is a number; 0 is unknown.
func numberValue(n float64) value {
	if n == 0 {
		return value{}
	}
	return value{known: n}
}

// decoded is the value: nil, bool, string, json.Number, []json.RawMessage, or for an object its
// text as json.RawMessage.
func (v value) decoded() any {
	switch known := v.known.(type) {
	case string:
		return known
	case float64:
		return json.Number(strconv.FormatFloat(known, 'f', -1, 64))
	}
	raw := bytes.TrimLeft(v.raw, " \t\r\n")
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil
		}
		return text
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return nil
		}
		return list
	case '{':
		return json.RawMessage(raw)
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	}
	return json.Number(raw)
}

// isTrue reports whether the value is there, and neither false, nor zero, nor empty.
func (v value) isTrue() bool {
	switch d := v.decoded().(type) {
	case bool:
		return d
	case string:
		return d != ""
	case json.Number:
		n, err := d.Float64()
		return err == nil && n != 0
	case []json.RawMessage:
		return len(d) > 0
	case json.RawMessage:
		return len(d) > 2
	}
	return false
}

// count is how many the value says there are: a number, members, or lines of a text.
func (v value) count() (string, bool) {
	switch d := v.decoded().(type) {
	case string:
		n := strings.Count(d, "\n")
		if d != "" && !strings.HasSuffix(d, "\n") {
			n++
		}
		return strconv.Itoa(n), true
	case json.Number:
		return cut(string(d), maxValue), true
	case []json.RawMessage:
		return strconv.Itoa(len(d)), true
	}
	return "", false
}

// short is the value in one line, which may still have to be cut, if there is one.
func (v value) short() (string, bool) {
	switch d := v.decoded().(type) {
	case bool:
		return strconv.FormatBool(d), true
	case string:
		text := oneLine(d, maxValue)
		return text, text != ""
	case json.Number:
		return string(d[:min(len(d), maxRaw)]), true
	case []json.RawMessage:
		return listed(d)
	case json.RawMessage:
		return oneLine(string(d[:min(len(d), maxRaw)]), maxValue), true
	}
	return "", false
}

// all is the whole value, if there is one.
func (v value) all() (string, bool) {
	switch d := v.decoded().(type) {
	case string:
		return d, d != ""
	case nil:
		return "", false
	case []json.RawMessage:
		return string(v.raw), len(d) > 0
	}
	return string(v.raw), true
}

// listed are the first members of a list, and how many more there are.
func listed(list []json.RawMessage) (string, bool) {
	var parts []string
	for _, raw := range list[:min(len(list), maxListed)] {
		v := value{raw: raw}
		if inner, nested := v.decoded().([]json.RawMessage); nested {
			v = value{known: oneLine(string(raw[:min(len(raw), maxRaw)]), maxValue/maxListed)}
			if len(inner) == 0 {
				continue
			}
		}
		if text, ok := v.short(); ok {
			parts = append(parts, cut(text, maxValue/maxListed))
		}
	}
	text := strings.Join(parts, ", ")
	if more := len(list) - maxListed; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text, text != ""
}

// oneLine is the beginning of a text with single spaces for the white space in it, and with
// few more than most code points.
func oneLine(text string, most int) string {
	if len(text) > maxRaw {
		text = text[:maxRaw]
		for range utf8.UTFMax { // a code point that was cut in two
			if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
				break
			}
			text = text[:len(text)-1]
		}
		if text = collapsed(text); utf8.RuneCountInString(text) <= most {
			return text + "…"
		}
		return text
	}
	return collapsed(text)
}

// collapsed has single spaces for the white space in a text.
func collapsed(text string) string { return strings.Join(strings.Fields(text), " ") }

// cut cuts a text to at most so many code points, of which the last one then says so.
func cut(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	n := 0
	for at := range text {
		if n++; n == most {
			return text[:at] + "…"
		}
	}
	return text
}
