package abi

import (
	"encoding/json"
	"reflect"
	"testing"
)

// headSeeds are heads of the plain shapes, and others that are nearly so.
var headSeeds = []string{
	`{"capability":"fs.read"}`,
	`{"capability":"fs.read","args":{"path":"a\"}b","lines":[1,2,{"x":"]"}]}}`,
	`{"capability":"fs.\u0041","args":{}}`,
	`{"capability":"a\nb","args":{}}`,
	`{"Capability":"fs.read"}`,
	`{"args":null,"capability":"x"}`,
	`{"args":[],"capability":"x"}`,
	`{"args":{},"capability":7}`,
	`{"args":{},"capability":"x","z":1}`,
	`{"content":[{"type":"text","source":[{"part":0}]}]}`,
	`{"content":[{"type":"text","source":[{"handle":4294967295},{"part":12}]},{"type":"text","source":[{"part":1}]}],"is_error":true}`,
	`{"content":[{"type":"text","source":[{"handle":999999999}]}],"is_error":false}`,
	`{"content":[{"type":"text","source":[{"handle":1.5}]}]}`,
	`{"content":[{"type":"text","source":[{"part":-1}]}]}`,
	`{"content":[{"type":"text","source":[{"part":1e2}]}]}`,
	`{"content":[{"type":"text","source":[{"part":1,"handle":2}]}]}`,
	`{"content":[{"type":"text","source":[]}]}`,
	`{"content":[{"type":"text"}]}`,
	`{"content":[{"type":"image","media_type":"image/png","source":[{"part":0}]}]}`,
	`{"content":[],"is_error":true}`,
	`{"content":[{"type":"text","source":[{"part":0}]}],"meta":{}}`,
	`{"is_error":true}`, `{}`, `[]`, `"x"`,
}

// checkHead holds the quick reading of a head to that of encoding/json.
func checkHead[H any](t *testing.T, canonical []byte) {
	t.Helper()
	var quick, plain H
	errQuick, errPlain := unmarshalHead(canonical, &quick), json.Unmarshal(canonical, &plain)
	if (errQuick == nil) != (errPlain == nil) {
		t.Fatalf("%s: quickly %v, else %v", canonical, errQuick, errPlain)
	}
	if errPlain == nil && !reflect.DeepEqual(quick, plain) {
		t.Fatalf("%s: quickly %+v, else %+v", canonical, quick, plain)
	}
}

func FuzzQuickHeads(f *testing.F) {
	for _, s := range headSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		canonical, err := Canonical(in)
		if err != nil {
			return
		}
		checkHead[RequestHead](t, canonical)
		checkHead[ResultHead](t, canonical)
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
		canonical, err := Canonical(f.Head)
		if err != nil || !tc.head.quick(canonical) {
			t.Errorf("%s: %s is not read quickly (%v)", name, canonical, err)
		}
	}
}
