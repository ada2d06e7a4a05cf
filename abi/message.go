package abi

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
)

// The Encode functions append a message to dst and return dst as it was where
// they fail. The Decode functions refuse with [CodeProtocol] what is not a
// message of their kind; what they return may alias the bytes they were given,
// but for [DecodeResult], whose result outlives a guest's memory.

// EncodeCall appends the message that call receives. The input must be what
// [Canonical] returned.
func EncodeCall(dst []byte, head CallHead, input []byte) ([]byte, error) {
	start := len(dst)
	out := AppendHeader(dst, 0)
	out = append(out, `{"tool":`...)
	out = appendString(out, head.Tool)
	out = append(out, `,"id":`...)
	out = appendString(out, head.ID)
	if head.Cwd != "" {
		out = append(out, `,"cwd":`...)
		out = appendString(out, head.Cwd)
	}
	if head.UserModified {
		out = append(out, `,"user_modified":true`...)
	}
	out, err := appendConfig(out, head.Config)
	if err != nil {
		return dst, err
	}
	out = append(out, '}')
	size := len(out) - start - HeaderSize
	if size > MaxHead {
		return dst, Errorf(CodeProtocol, "call head of %d bytes is over the limit of %d", size, MaxHead)
	}
	binary.LittleEndian.PutUint32(out[start+4:], uint32(size))
	return appendPart(out, Part{Type: PartJSON, Data: input})
}

func appendConfig(dst []byte, config map[string]json.RawMessage) ([]byte, error) {
	if len(config) == 0 {
		return dst, nil
	}
	dst = append(dst, `,"config":`...)
	sep := byte('{')
	for _, key := range slices.Sorted(maps.Keys(config)) {
		dst = appendString(append(dst, sep), key)
		dst = append(dst, ':')
		var err error
		if dst, err = AppendCanonical(dst, config[key]); err != nil {
			return dst, Errorf(CodeOf(err), "configuration value %q: %w", key, err)
		}
		sep = ','
	}
	return append(dst, '}'), nil
}

// DecodeCall reads the message that call receives, as a guest does.
func DecodeCall(b []byte) (head CallHead, input []byte, err error) {
	f, err := decodeHead(b, "call", &head)
	if err != nil {
		return CallHead{}, nil, err
	}
	if head.Tool == "" {
		return CallHead{}, nil, Errorf(CodeProtocol, "call names no tool")
	}
	input, err = inputPart(f, "call")
	return head, input, err
}

// EncodeAssess appends the message that assess receives. The input must be what
// [Canonical] returned.
func EncodeAssess(dst []byte, head AssessHead, input []byte) ([]byte, error) {
	return encodeHead(dst, head, Part{Type: PartJSON, Data: input})
}

// DecodeAssess reads the message that assess receives, as a guest does.
func DecodeAssess(b []byte) (head AssessHead, input []byte, err error) {
	f, err := decodeHead(b, "assess", &head)
	if err != nil {
		return AssessHead{}, nil, err
	}
	if head.Tool == "" {
		return AssessHead{}, nil, Errorf(CodeProtocol, "assess names no tool")
	}
	input, err = inputPart(f, "assess")
	return head, input, err
}

func inputPart(f Frame, what string) ([]byte, error) {
	if len(f.Parts) == 0 || f.Parts[0].Type != PartJSON {
		return nil, Errorf(CodeProtocol, "%s has no input: its first part must be JSON", what)
	}
	return f.Parts[0].Data, nil
}

// EncodeAssessment appends the message that assess returns.
func EncodeAssessment(dst []byte, a Assessment) ([]byte, error) { return encodeHead(dst, a) }

// DecodeAssessment reads the message that assess returns.
func DecodeAssessment(b []byte) (Assessment, error) {
	var a Assessment
	if _, err := decodeHead(b, "assessment", &a); err != nil {
		return Assessment{}, err
	}
	if a.Check != nil {
		switch a.Check.Verdict {
		case "allow", "ask", "deny", "passthrough":
		default:
			return Assessment{}, Errorf(CodeProtocol, "assessment has the verdict %q; write allow, ask, deny or passthrough", a.Check.Verdict)
		}
	}
	if n := len(a.Touches); n > MaxTouches {
		return Assessment{}, Errorf(CodeProtocol, "assessment touches %d paths, over the limit of %d; name a directory above them", n, MaxTouches)
	}
	for i, t := range a.Touches {
		if t.Path == "" {
			return Assessment{}, Errorf(CodeProtocol, "assessment touches[%d] has no path", i)
		}
	}
	return a, nil
}

// MaxTouches bounds the paths that one assessment says a call touches.
const MaxTouches = 1024

// EncodeRequest appends the message that submit takes.
func EncodeRequest(dst []byte, r Request) ([]byte, error) {
	return encodeHead(dst, RequestHead{Capability: r.Name, Args: r.Args}, r.Parts...)
}

// DecodeRequest reads the message that submit takes. The arguments come out as
// canonical JSON, "{}" where there are none; the parts alias b.
func DecodeRequest(b []byte) (Request, error) {
	var head RequestHead
	f, err := decodeHead(b, "request", &head)
	if err != nil {
		return Request{}, err
	}
	if head.Capability == "" {
		return Request{}, Errorf(CodeProtocol, "request names no capability")
	}
	switch {
	case len(head.Args) == 0:
		head.Args = json.RawMessage("{}")
	case head.Args[0] != '{':
		return Request{}, Errorf(CodeProtocol, "the arguments of %s are no JSON object", head.Capability)
	}
	return Request{Name: head.Capability, Args: head.Args, Parts: f.Parts}, nil
}

// encodeHead appends a frame with the head v.
func encodeHead(dst []byte, v any, parts ...Part) ([]byte, error) {
	head, err := marshal(v)
	if err != nil {
		return dst, Errorf(CodeInternal, "encoding a head: %w", err)
	}
	f := Frame{Head: head, Parts: parts}
	return f.Append(dst)
}

// marshal encodes v without escaping for HTML, which frames are not.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decodeHead reads a frame whose head is a strict JSON object into a zero v.
func decodeHead[H any](b []byte, what string, v *H) (Frame, error) {
	f, err := DecodeFrame(b)
	if err != nil {
		return Frame{}, err
	}
	if q, ok := any(v).(quickHead); ok && q.quick(f.Head) {
		return f, nil
	}
	*v = *new(H) // of which quick may have set a part
	head, err := Canonical(f.Head)
	if err != nil {
		return Frame{}, Errorf(CodeProtocol, "head of the %s: %w", what, err)
	}
	if head[0] != '{' {
		return Frame{}, Errorf(CodeProtocol, "head of the %s is no JSON object", what)
	}
	if err := json.Unmarshal(head, v); err != nil {
		return Frame{}, Errorf(CodeProtocol, "head of the %s: %w", what, err)
	}
	return f, nil
}
