package message

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/toolquay/toolquay/abi"
)

// object is a JSON object of the message, with the path that leads to it. Keys
// are taken exactly as written: decoding into structs would also take Settings
// for settings.
type object struct {
	place string
	keys  map[string][]byte
}

// asObject reads an object out of canonical JSON.
func asObject(place string, raw []byte) (object, error) {
	if len(raw) == 0 {
		return object{}, invalid("%s is missing", place)
	}
	if raw[0] != '{' {
		return object{}, invalid("%s must be an object, not %s", place, kindOf(raw))
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return object{}, invalid("%s: %w", place, err)
	}
	o := object{place: place, keys: make(map[string][]byte, len(keys))}
	for key, value := range keys {
		o.keys[key] = value
	}
	return o, nil
}

// has reports whether a key is there and not null.
func (o object) has(key string) bool {
	raw := o.keys[key]
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}

func (o object) at(key string) string {
	if o.place == "" || o.place == "the message" {
		return key
	}
	return o.place + "." + key
}

// text is a string, empty where it is absent.
func (o object) text(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	return asText(o.at(key), o.keys[key])
}

func asText(place string, raw []byte) (string, error) {
	var s string
	if raw[0] != '"' {
		return "", invalid("%s must be a string, not %s", place, kindOf(raw))
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", invalid("%s: %w", place, err)
	}
	return s, nil
}

// list is an array, empty where it is absent.
func (o object) list(key string) ([]json.RawMessage, error) {
	if !o.has(key) {
		return nil, nil
	}
	raw := o.keys[key]
	var items []json.RawMessage
	if raw[0] != '[' {
		return nil, invalid("%s must be a list, not %s", o.at(key), kindOf(raw))
	}
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, invalid("%s: %w", o.at(key), err)
	}
	return items, nil
}

// texts is a list of strings.
func (o object) texts(key string) ([]string, error) {
	items, err := o.list(key)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, raw := range items {
		place := o.at(key) + "[" + strconv.Itoa(i) + "]"
		s, err := asText(place, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// each visits the objects of a list.
func (o object) each(key string, visit func(object) error) error {
	items, err := o.list(key)
	if err != nil {
		return err
	}
	for i, raw := range items {
		item, err := asObject(o.at(key)+"["+strconv.Itoa(i)+"]", raw)
		if err != nil {
			return err
		}
		if err := visit(item); err != nil {
			return err
		}
	}
	return nil
}

// call reads a call's id and name from the keys given.
func (o object) call(id, name string) (abi.ToolUse, error) {
	var call abi.ToolUse
	var err error
	if call.ID, err = o.text(id); err != nil {
		return call, err
	}
	if call.Name, err = o.text(name); err != nil {
		return call, err
	}
	if call.Name == "" {
		return call, invalid("%s has no name; it must say which tool to call", o.place)
	}
	return call, nil
}

// kindOf names the kind of a JSON value.
func kindOf(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// arguments is the JSON document inside the string that the OpenAI APIs wrap it in. Some
// compatible servers leave out the wrapping.
func (o object) arguments() ([]byte, error) {
	if raw := o.keys["arguments"]; o.has("arguments") && raw[0] == '{' {
		return raw, nil
	}
	text, err := o.text("arguments")
	return []byte(text), err
}

func invalid(format string, args ...any) error {
	return abi.Errorf(abi.CodeInvalidInput, format, args...)
}
