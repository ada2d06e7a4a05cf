package abi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// headSeeds are heads of the plain shapes, and others that are nearly so.
var headSeeds = []string{
	`{"capability":"fs.read"}`,
	`{"capability":"fs.read","args":{"path":"a\"}b","lines":[1,2,{"x":"]"}]}}`,
	`{"capability":"fs.\u0041","args":{}}`,
	`{"capability":"a\nb","args":{}}`,
	`{"Capability":"fs.read"}`,
	"{\"capability\":\"a\xff\",\"args\":{}}",
	"{\"capability\":\"a\tb\"}",
	`{"capability":"x","args":null}`,
	`{"capability":"x","args":[]}`,
	`{"capability":7,"args":{}}`,
	`{"capability":"x","args":{},"z":1}`,
	`{"capability":"x","args":{},"args":{}}`,
	`{"capability":"x","args":{"a":1,"a":2}}`,
	`{"capability":"x","args":{ "b" : 1, "a" : [ 2 ] } }`,
	`{"capability":"x","args":` + nested(MaxDepth-1) + `}`,
	`{"capability":"x","args":` + nested(MaxDepth) + `}`,
	`{"args":{},"capability":"x"}`,
	`{"content":[{"type":"text","source":[{"part":0}]}]}`,
	`{"content":[{"type":"text","source":[{"handle":4294967295},{"part":12}]},{"type":"text","source":[{"part":1}]}],"is_error":true}`,
	`{"content":[{"type":"text","source":[{"handle":999999999}]}],"is_error":false}`,
	`{"content":[{"type":"text","source":[{"handle":1.5}]}]}`,
	`{"content":[{"type":"text","source":[{"part":-1}]}]}`,
	`{"content":[{"type":"text","source":[{"part":01}]}]}`,
	`{"content":[{"type":"text","source":[{"part":1e2}]}]}`,
	`{"content":[{"type":"text","source":[{"part":1,"handle":2}]}]}`,
	`{"content":[{"type":"text","source":[]}]}`,
	`{"content":[{"type":"text"}]}`,
	`{"content":[{"type":"image","media_type":"image/png","source":[{"part":0}]}]}`,
	`{"content":[],"is_error":true}`,
	`{"content":[{"type":"text","source":[{"part":0}]}],"meta":{}}`,
	`{"is_error":true}`, `{}`, `[]`, `"x"`,
}

// nested is objects inside each other, so many deep.
func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
}

// checkHead holds the quick reading of a head to that of encoding/json.
func checkHead[H any](t *testing.T, head []byte) {
	t.Helper()
	var quick, plain H
	if q, ok := any(&quick).(quickHead); !ok || !q.quick(head) {
		return
	}
	canonical, err := Canonical(head)
	if err != nil {
		t.Fatalf("%s: quickly %+v, else %v", head, quick, err)
	}
	if err := json.Unmarshal(canonical, &plain); err != nil || !reflect.DeepEqual(quick, plain) {
		t.Fatalf("%s: quickly %+v, else %+v, %v", head, quick, plain, err)
	}
}

func FuzzQuickHeads(f *testing.F) {
	for _, s := range headSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		checkHead[RequestHead](t, in)
		checkHead[ResultHead](t, in)
	})
}

// TestQuickHeadsAreQuick makes sure that the plain shapes are the ones that
// guests send.
func TestQuickHeadsAreQuick(t *testing.T) {
	t.Parallel()
	request, err := EncodeRequest(nil, Request{Name: "fs.read", Args: json.RawMessage(`{"path":"x"}`)})
	if err != nil {
		t.Fatal(err)
	}
	part := 0
	result, err := encodeHead(nil, ResultHead{Content: []BlockHead{{Type: BlockText, Source: []Source{{Part: &part}}}}, IsError: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		message []byte
		head    quickHead
	}{"request": {request, &RequestHead{}}, "result": {result, &ResultHead{}}} {
		f, err := DecodeFrame(tc.message)
		if err != nil {
			t.Fatal(err)
		}
		if !tc.head.quick(f.Head) {
			t.Errorf("%s: %s is not read quickly", name, f.Head)
		}
	}
}
