package checkline_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/checkline"
)

type item struct {
	Name string `json:"name"`
	N    int    `json:"n,omitempty"`
}

func TestLines(t *testing.T) {
	t.Parallel()
	want := item{"a \"b\"\n", 3}
	text, err := checkline.Encode(want, 100)
	if err != nil || bytes.Count(text, []byte{'\n'}) != 1 || text[len(text)-1] != '\n' {
		t.Fatalf("%q, %v", text, err)
	}
	text = text[:len(text)-1]
	var got item
	if !checkline.Decode(text, &got) || got != want {
		t.Errorf("%+v of %s", got, text)
	}
	for i := range text {
		other := bytes.Clone(text)
		if other[i] ^= 1; checkline.Decode(other, new(item)) {
			t.Errorf("%s is taken", other)
		}
		if checkline.Decode(text[:i], new(item)) {
			t.Errorf("%s is taken", text[:i])
		}
	}
	if _, err := checkline.Encode(item{Name: strings.Repeat("x", 100)}, 100); err == nil {
		t.Error("a line over the limit is written")
	}
	if checkline.Decode(checkline.Seal([]byte(`{"name":1`)), new(item)) {
		t.Error("a name that is none is taken")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name":"a"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var a, b item
		checkline.Decode(text, &a)
		if checkline.Decode(checkline.Seal(text), &b) {
			if _, err := checkline.Encode(b, 1<<20); err != nil {
				t.Error(err)
			}
		}
	})
}
