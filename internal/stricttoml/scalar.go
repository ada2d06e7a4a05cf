package stricttoml

import (
	"encoding"
	"fmt"
	"reflect"
	"time"
)

// scalar decodes a value without parts, and reports whether it fits its field.
// A number out of the field's range is its own fault.
func (d *decoder) scalar(v any, rv reflect.Value, at spot) bool {
	switch v := v.(type) {
	case string:
		if rv.Kind() == reflect.String {
			rv.SetString(v)
			return true
		}
	case bool:
		if rv.Kind() == reflect.Bool {
			rv.SetBool(v)
			return true
		}
	case int64:
		if d.integer(v, rv, at) {
			return true
		}
	case float64:
		if rv.CanFloat() {
			rv.SetFloat(v)
			return true
		}
	}
	if rv.Kind() == reflect.Interface && rv.NumMethod() == 0 {
		rv.Set(reflect.ValueOf(v))
		return true
	}
	return false
}

func (d *decoder) integer(v int64, rv reflect.Value, at spot) bool {
	switch {
	case rv.CanInt():
		if rv.OverflowInt(v) {
			d.fault(at, "%d does not fit %s", v, rv.Type())
			return true
		}
		rv.SetInt(v)
	case rv.CanUint():
		if v < 0 || rv.OverflowUint(uint64(v)) {
			d.fault(at, "%d does not fit %s", v, rv.Type())
			return true
		}
		rv.SetUint(uint64(v))
	case rv.CanFloat():
		rv.SetFloat(float64(v))
	default:
		return false
	}
	return true
}

// found names a TOML value for a fault.
func found(v any) string {
	switch v := v.(type) {
	case string:
		const most = 40
		if len(v) > most {
			return "a string"
		}
		return fmt.Sprintf("the string %q", v)
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case int64:
		return fmt.Sprintf("the integer %d", v)
	case float64:
		return fmt.Sprintf("the number %v", v)
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "an array"
	}
	return fmt.Sprintf("a value of type %T", v)
}

// expected names what a field takes.
func expected(t reflect.Type) string {
	pointer := reflect.PointerTo(t)
	switch {
	case pointer.Implements(reflect.TypeFor[BoolUnmarshaler]()):
		return "a boolean or a string"
	case pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return "a string"
	case pointer.Implements(reflect.TypeFor[StringUnmarshaler]()):
		return "a string or " + expectedKind(t)
	}
	return expectedKind(t)
}

// expectedKind names what a type takes that does not read itself.
func expectedKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array, each element " + expected(t.Elem())
	case reflect.Struct, reflect.Map:
		return "a table"
	case reflect.Pointer:
		return expected(t.Elem())
	}
	return "an integer"
}
