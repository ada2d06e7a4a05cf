package toolset

import "testing"

// TestWithoutProperty takes one out wherever it stands, and nothing else.
func TestWithoutProperty(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"x":{"a":[1,{}]},"b":{}},"required":["b"]}`: `{"type":"object","properties":{"b":{}},"required":["b"]}`,
		`{"properties": {"b": {"properties":{"x":1}}, "x": {}, "c": true}}`:         `{"properties": {"b": {"properties":{"x":1}}, "c": true}}`,
		`{"properties":{"b":{},"x":{"description":"x"}}}`:                           `{"properties":{"b":{}}}`,
		`{"properties":{ "x" : {} }}`:                                               `{"properties":{ }}`,
		`{"x":1,"properties":{"b":{}}}`:                                             `{"x":1,"properties":{"b":{}}}`,
		`{}`:                                                                        `{}`,
	} {
		if got, err := withoutProperty(schema, "x"); err != nil || got != want {
			t.Errorf("of %s\n got %s, %v\nwant %s", schema, got, err, want)
		}
	}
	if got, err := withoutProperty(`{"properties":{"x":`, "x"); err == nil {
		t.Errorf("got %s", got)
	}
}

// TestWithoutItems takes items out of lists, whole.
func TestWithoutItems(t *testing.T) {
	t.Parallel()
	const text = "About it.\n\nHow:\n- one\n  goes on\n- two has the word\n  and more\n- three\n\nThe end."
	const want = "About it.\n\nHow:\n- one\n  goes on\n- three\n\nThe end."
	if got := withoutItems(text, "word"); got != want {
		t.Errorf("got %q", got)
	}
}
