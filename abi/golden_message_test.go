package abi_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

const resultMax = 1 << 20

// decodeMessage reads b with the reader of its kind. A result is returned as
// its description.
func decodeMessage(b []byte, message string, handles map[string]vectorBytes) (any, error) {
	switch message {
	case "call":
		head, _, err := abi.DecodeCall(b)
		return head, err
	case "result":
		r, err := abi.DecodeResult(b, resultMax, opener(handles))
		return describe(r), err
	case "request":
		return abi.DecodeRequest(b)
	case "answer":
		head, _, err := abi.DecodeAnswer(b)
		return head, err
	case "progress":
		return abi.DecodeProgress(b)
	case "assess":
		head, _, err := abi.DecodeAssess(b)
		return head, err
	case "assessment":
		return abi.DecodeAssessment(b)
	case "frame":
		return abi.DecodeFrame(b)
	}
	return nil, fmt.Errorf("no reader for %q", message)
}

func opener(handles map[string]vectorBytes) abi.Open {
	return func(handle uint32) (io.ReadCloser, error) {
		v, ok := handles[strconv.Itoa(int(handle))]
		if !ok {
			return nil, abi.Errorf(abi.CodeProtocol, "handle %d was never given", handle)
		}
		if v.Hex == "" {
			return abi.Bytes([]byte(v.Text)), nil
		}
		raw, err := hex.DecodeString(v.Hex)
		return abi.Bytes(raw), err
	}
}

func describe(r abi.ToolResult) vectorResult {
	d := vectorResult{
		Content: []vectorBlock{}, Structured: r.Structured, IsError: r.IsError,
		Error: r.Error, Changes: r.Changes, Messages: r.Messages, Meta: r.Meta,
	}
	for _, b := range r.Content {
		d.Content = append(d.Content, vectorBlock{
			Type: b.Type, MediaType: b.MediaType, Title: b.Title, ToolName: b.ToolName,
			vectorBytes: vectorBytes{Text: b.Text, Hex: hex.EncodeToString(b.Data)},
		})
	}
	return d
}

// checkMessage reads a golden message with its reader, and writes it again with
// its writer.
func checkMessage(t *testing.T, b []byte, v vector) {
	t.Helper()
	got, err := decodeMessage(b, v.Message, v.Handles)
	if err != nil {
		t.Fatal(err)
	}
	if v.Message == "result" {
		if g, w := compactJSON(t, got), compactJSON(t, v.Result); !bytes.Equal(g, w) {
			t.Errorf("result\n got %s\nwant %s", g, w)
		}
		checkResultAgain(t, b, v)
		return
	}
	again := encodeMessage(t, b, v)
	if again == nil {
		return
	}
	reread, err := decodeMessage(again, v.Message, nil)
	if err != nil || !reflect.DeepEqual(reread, got) {
		t.Errorf("written and read again\n got %+v, %v\nwant %+v", reread, err, got)
	}
}

// checkResultAgain writes a result as a guest would and expects the same.
func checkResultAgain(t *testing.T, b []byte, v vector) {
	t.Helper()
	r, err := abi.DecodeResult(b, resultMax, opener(v.Handles))
	if err != nil {
		t.Fatal(err)
	}
	again, err := abi.EncodeResult(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	r2, err := abi.DecodeResult(again, resultMax, nil)
	if err != nil || !reflect.DeepEqual(r2, r) {
		t.Errorf("written and read again\n got %+v, %v\nwant %+v", r2, err, r)
	}
}

func encodeMessage(t *testing.T, b []byte, v vector) []byte {
	t.Helper()
	var out []byte
	var err error
	switch v.Message {
	case "call":
		head, input, e := abi.DecodeCall(b)
		fatal(t, e)
		out, err = abi.EncodeCall(nil, head, input)
		if !bytes.Equal(out, b) {
			t.Errorf("EncodeCall\n got %q\nwant %q", out, b)
		}
	case "request":
		r, e := abi.DecodeRequest(b)
		fatal(t, e)
		out, err = abi.EncodeRequest(nil, r)
	case "answer":
		return answerAgain(t, b)
	case "progress":
		p, e := abi.DecodeProgress(b)
		fatal(t, e)
		out, err = abi.EncodeProgress(nil, p)
	case "assess":
		head, input, e := abi.DecodeAssess(b)
		fatal(t, e)
		out, err = abi.EncodeAssess(nil, head, input)
	case "assessment":
		a, e := abi.DecodeAssessment(b)
		fatal(t, e)
		out, err = abi.EncodeAssessment(nil, a)
	default:
		return nil
	}
	fatal(t, err)
	return out
}

func answerAgain(t *testing.T, b []byte) []byte {
	t.Helper()
	head, parts, err := abi.DecodeAnswer(b)
	fatal(t, err)
	var failure error
	if head.Error != nil {
		failure = head.Error
	}
	a := abi.Answer{OK: head.OK}
	if len(parts) > 0 {
		a.Body = io.NopCloser(bytes.NewReader(parts[0].Data))
		a.BodyType = parts[0].Type
		a.Size = int64(len(parts[0].Data))
	}
	r := abi.NewAnswerReader(a, failure)
	out, err := io.ReadAll(r)
	fatal(t, err)
	if int64(len(out)) != r.Size() {
		t.Errorf("%d bytes, Size said %d", len(out), r.Size())
	}
	return out
}

func fatal(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
