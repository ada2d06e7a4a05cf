package abi

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FuzzValue holds the reading of values to that of encoding/json.
func FuzzValue(f *testing.F) {
	for _, s := range append([]string{
		`null`, `true`, `false`, `-0`, `1e400`, `0.10`, `""`, `"é"`, `"a\"b"`, `"\\"`, `"\n\u0001é\t\\n"`, `"a long text\nof several lines\nand \"quotes\""`, `{}`, `[]`, `[[],{}]`,
		`{"a":[1,2,{"b":null}],"c":"x","d":[true,false]}`, `{"a\nb":1}`, `[[1,"]"],"}",{",":","}]`,
		strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
	}, headSeeds...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		canonical, err := Canonical(in)
		if err != nil {
			_, _ = Value(in) // must not panic
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(canonical))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		got, err := Value(canonical)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %#v, %v; want %#v", canonical, got, err, want)
		}
	})
}

func TestValueIsQuick(t *testing.T) {
	t.Parallel()
	c := cursor{[]byte(`{"a":[1,{"b":null}],"c":"x\\y\n\u0001\"","d":[true,false]}`)}
	if v, ok := c.value(0); !ok || !c.ended() {
		t.Errorf("%#v, %v, %q left", v, ok, c.rest)
	}
}
