package engine

import (
	"reflect"
	"sync"

	"github.com/tetratelabs/wazero/api"
)

// maxStack is the most native stack that the functions of an instance that is
// kept may have together, in bytes. A guest that recursed deeply leaves up to its
// whole budget to each function that was called, which is memory of Go's that no
// limit on linear memory sees. Stacks start with 10 KiB and double.
const maxStack = 512 << 10

// StackOf returns how much native stack functions have, in bytes. They keep for
// their next call what the deepest call so far took; nil functions have none.
//
// The engine does not tell. It is looked up in its function objects, by
// reflection and without a way to change anything; what is not known there counts
// nothing, and a test fails when an engine comes that keeps it elsewhere.
func StackOf(functions ...api.Function) (size int64) {
	for _, f := range functions {
		v := reflect.ValueOf(f)
		if v.Kind() != reflect.Pointer || v.IsNil() {
			continue
		}
		if field := stackField(v.Type().Elem()); field >= 0 {
			size += int64(v.Elem().Field(field).Len())
		}
	}
	return size
}

// stackFields holds which field of a function object is its stack, by type.
var stackFields sync.Map

// stackField is the number of a type's field of that name, -1 for none.
func stackField(t reflect.Type) int {
	if known, ok := stackFields.Load(t); ok {
		n, _ := known.(int)
		return n
	}
	n := -1
	if t.Kind() == reflect.Struct {
		f, ok := t.FieldByName("stack")
		if ok && len(f.Index) == 1 && f.Type == reflect.TypeFor[[]byte]() {
			n = f.Index[0]
		}
	}
	stackFields.Store(t, n)
	return n
}
