package stricttoml

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/BurntSushi/toml"
)

// BoolUnmarshaler is a type that may be written as a TOML boolean as well as in
// its own way, such as a string type with the values "true", "false" and
// "derived".
type BoolUnmarshaler interface {
	UnmarshalBool(bool) error
}

// StringUnmarshaler is a type that may be written as a TOML string as well as in
// its own way, such as a struct whose other fields are seldom wanted.
type StringUnmarshaler interface {
	UnmarshalString(string) error
}

// Decode reads a document into the struct that into points at, whose fields are
// named by `toml:"name"` tags; a field without one is not part of the document.
//
// Fields may be strings, booleans, numbers, time.Time, any, pointers, slices,
// maps with string keys, structs, and types that implement
// [encoding.TextUnmarshaler] (from strings and integers), [BoolUnmarshaler] or
// [StringUnmarshaler].
// A document over [MaxSize] is refused. Decode never panics on a document.
//
// With any fault what into points at is part-filled and not to be used. The
// document returned is never nil.
func Decode(src []byte, into any) (*Document, []Fault) {
	rv := reflect.ValueOf(into)
	if rv.Kind() != reflect.Pointer || rv.IsNil() || rv.Elem().Kind() != reflect.Struct {
		return &Document{}, []Fault{{Message: fmt.Sprintf("cannot decode into %T: not a pointer to a struct", into)}}
	}
	if f := check(src); f != nil {
		return &Document{}, []Fault{*f}
	}
	values, fault := parse(src)
	if fault != nil {
		return &Document{}, []Fault{*fault}
	}
	doc := &Document{root: index(src)}
	var d decoder
	d.table(values, rv.Elem(), spot{node: doc.root})
	return doc, sorted(d.faults)
}

// parse has the syntax judged. The parser panics on what it thinks impossible;
// that is a fault of the document as far as the reader of it can tell.
func parse(src []byte) (values map[string]any, fault *Fault) {
	defer func() {
		if r := recover(); r != nil {
			fault = &Fault{Message: fmt.Sprintf("the TOML parser gave up: %v", r)}
		}
	}()
	_, err := toml.Decode(string(src), &values)
	if bad, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, &Fault{Line: bad.Position.Line, Path: clip(bad.LastKey), Message: bad.Message}
	}
	if err != nil {
		return nil, &Fault{Message: err.Error()}
	}
	return values, nil
}

// spot is where a value is: its path, and its node if the index has one.
type spot struct {
	*place
	node *node
}

func (s spot) key(k string) spot {
	next := s.node
	if kid, ok := s.node.kids[k]; ok {
		next = kid
	}
	return spot{place: &place{parent: s.place, key: k, elem: -1}, node: next}
}

func (s spot) index(i int) spot {
	next := s.node
	if i < len(s.node.elems) {
		next = s.node.elems[i]
	}
	return spot{place: &place{parent: s.place, elem: i}, node: next}
}

type decoder struct{ faults []Fault }

func (d *decoder) fault(at spot, format string, args ...any) {
	d.faults = append(d.faults, Fault{
		Line: at.node.line, Path: clip(at.String()), Message: fmt.Sprintf(format, args...),
	})
}

func clip(path string) string {
	if len(path) > maxPath {
		return path[:maxPath] + "..."
	}
	return path
}

// table decodes a TOML table into a struct.
func (d *decoder) table(values map[string]any, rv reflect.Value, at spot) {
	fields := fieldsOf(rv.Type())
	for _, key := range sortedKeys(values) {
		i, ok := fields[key]
		if !ok {
			d.fault(at.key(key), "unknown key%s", DidYouMean(key, sortedKeys(fields)))
			continue
		}
		d.value(values[key], rv.Field(i), at.key(key))
	}
}

func fieldsOf(t reflect.Type) map[string]int {
	fields := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("toml"); name != "" && name != "-" && t.Field(i).IsExported() {
			fields[name] = i
		}
	}
	return fields
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// value decodes any TOML value.
func (d *decoder) value(v any, rv reflect.Value, at spot) {
	if rv.Kind() == reflect.Pointer {
		rv.Set(reflect.New(rv.Type().Elem()))
		d.value(v, rv.Elem(), at)
		return
	}
	if reflect.TypeOf(v) == rv.Type() { // strings, and the dates of TOML
		rv.Set(reflect.ValueOf(v))
		return
	}
	if d.unmarshaler(v, rv, at) {
		return
	}
	switch rv.Kind() {
	case reflect.Struct:
		if values, ok := v.(map[string]any); ok {
			d.table(values, rv, at)
			return
		}
	case reflect.Map:
		if values, ok := v.(map[string]any); ok && rv.Type().Key().Kind() == reflect.String {
			d.mapping(values, rv, at)
			return
		}
	case reflect.Slice:
		if elems, ok := elements(v); ok {
			d.slice(elems, rv, at)
			return
		}
	default:
		if d.scalar(v, rv, at) {
			return
		}
	}
	d.fault(at, "found %s, expected %s", found(v), expected(rv.Type()))
}

func (d *decoder) mapping(values map[string]any, rv reflect.Value, at spot) {
	t := rv.Type()
	rv.Set(reflect.MakeMapWithSize(t, len(values)))
	for _, key := range sortedKeys(values) {
		elem := reflect.New(t.Elem()).Elem()
		d.value(values[key], elem, at.key(key))
		rv.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), elem)
	}
}

// elements returns a TOML array's elements; the parser has a type of its own
// for arrays of tables.
func elements(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []map[string]any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out, true
	}
	return nil, false
}

func (d *decoder) slice(elems []any, rv reflect.Value, at spot) {
	rv.Set(reflect.MakeSlice(rv.Type(), len(elems), len(elems)))
	for i, v := range elems {
		d.value(v, rv.Index(i), at.index(i))
	}
}

// unmarshaler decodes into types that read themselves, and reports whether it
// had to do with one.
func (d *decoder) unmarshaler(v any, rv reflect.Value, at spot) bool {
	if !rv.CanAddr() {
		return false
	}
	var err error
	switch target := rv.Addr().Interface().(type) {
	case BoolUnmarshaler:
		b, ok := v.(bool)
		if !ok {
			return false
		}
		err = target.UnmarshalBool(b)
	case StringUnmarshaler:
		s, ok := v.(string)
		if !ok {
			return false
		}
		err = target.UnmarshalString(s)
	case encoding.TextUnmarshaler:
		switch v := v.(type) {
		case string:
			err = target.UnmarshalText([]byte(v))
		case int64:
			err = target.UnmarshalText(fmt.Append(nil, v))
		default:
			return false
		}
	default:
		return false
	}
	if err != nil {
		d.fault(at, "%v", err)
	}
	return true
}
