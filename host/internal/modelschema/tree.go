package modelschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// object is a JSON object whose members keep their order: authors put the fields that
// matter first.
type object []member

type member struct {
	key   string
	value any // object, []any, string, json.Number, bool or nil
}

func (o object) get(key string) (any, bool) {
	i := slices.IndexFunc(o, func(m member) bool { return m.key == key })
	if i < 0 {
		return nil, false
	}
	return o[i].value, true
}

// text is a value as JSON, without escapes for HTML.
func text(v any) string {
	var b bytes.Buffer
	write(&b, v)
	return b.String()
}

func write(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, m.key)
			b.WriteByte(':')
			write(b, m.value)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, e)
		}
		b.WriteByte(']')
	default:
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v)         // a scalar can always be written
		b.Truncate(b.Len() - 1) // without the line end
	}
}

// maxTree is how deep a schema may nest.
const maxTree = 256

// parse reads a schema.
func parse(schema string) (object, error) {
	d := json.NewDecoder(strings.NewReader(schema))
	d.UseNumber()
	v, err := value(d, 0)
	if err != nil {
		return nil, err
	}
	o, ok := v.(object)
	if !ok {
		return nil, errors.New("the schema is not a JSON object")
	}
	return o, nil
}

func value(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, nested := token.(json.Delim)
	if !nested {
		return token, nil
	}
	if depth == maxTree {
		return nil, errors.New("the schema nests too deep")
	}
	list, members := []any{}, object{}
	for d.More() {
		var key any
		if open == '{' {
			if key, err = d.Token(); err != nil {
				return nil, err
			}
		}
		v, err := value(d, depth+1)
		if err != nil {
			return nil, err
		}
		if name, ok := key.(string); ok {
			members = append(members, member{name, v})
		} else {
			list = append(list, v)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if open == '{' {
		return members, nil
	}
	return list, nil
}
