package toolquaytest

import (
	"encoding/json"
	"errors"
	"fmt"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/wire"
)

// session is one call's side of the host. It implements guest.Host.
type session struct {
	host     *Host
	tool     string
	manifest *manifest // nil holds the tool to nothing
	contract *contract // of the tool, where there is a manifest
	// claim is that of the capability call under way, nil without a manifest.
	claim *claim
	// shown are what the result is to show of files, and own is what the call has read
	// of them.
	shown []glance
	own   *seen
	// drawn is the state of random.bytes.
	drawn uint64

	last    uint32
	answers map[uint32]*answer

	requests []Request
	logs     []Log
	progress []Progress
	// fault is the first thing a real host would have ended the call for.
	fault string
}

// answer is the message that answers a capability call, and how far it is read.
type answer struct {
	message []byte
	pos     int
	body    int // where the body starts, -1 if there is none
	failed  error
}

func (s *session) violate(format string, args ...any) {
	if s.fault == "" {
		s.fault = fmt.Sprintf(format, args...)
	}
}

// Submit answers a request at once.
func (s *session) Submit(message []byte) uint32 {
	s.last++
	var head wire.RequestHead
	frame, err := wire.Decode(message)
	if err == nil {
		err = wire.Unmarshal(frame.Head, &head)
	}
	if err != nil || head.Capability == "" {
		s.violate("submitted a broken request: %v", err)
	}
	if len(head.Args) == 0 {
		head.Args = wire.Raw("{}")
	}
	s.requests = append(s.requests, Request{Capability: head.Capability, Args: json.RawMessage(head.Args)})
	s.answers[s.last] = s.answer(head, frame.Parts)
	return s.last
}

func (s *session) answer(head wire.RequestHead, parts []wire.Part) *answer {
	if err := s.permit(head.Capability); err != nil {
		return failure(err)
	}
	handler := s.host.handlers[head.Capability]
	if native := capabilities[head.Capability]; handler == nil && native != nil {
		bulk := make([][]byte, len(parts))
		for i, p := range parts {
			bulk[i] = append([]byte{}, p.Data...)
		}
		handler = func(args []byte) (any, []byte, error) { return native(s, args, bulk) }
	}
	if handler == nil {
		return failure(toolquay.Errorf(toolquay.CodeUnsupported, "this test host has no %s; supply it with Host.On", head.Capability))
	}
	value, body, err := handler(head.Args)
	if err != nil {
		return failure(err)
	}
	data, err := json.Marshal(value)
	if err != nil || len(data) == 0 || data[0] != '{' {
		return failure(toolquay.Errorf(toolquay.CodeInternal, "the test's answer to %s is no JSON object", head.Capability))
	}
	ok2 := wire.AnswerHead{OK: data}
	if body == nil {
		message, _ := wire.Append(nil, ok2.AppendJSON)
		return &answer{message: message, body: -1}
	}
	message, err := wire.Append(nil, ok2.AppendJSON, wire.Part{Type: wire.PartBytes, Data: body})
	if err != nil {
		return failure(err)
	}
	return &answer{message: message, body: len(message) - len(body)}
}

func failure(err error) *answer {
	var coded *toolquay.Error
	if !errors.As(err, &coded) {
		coded = &toolquay.Error{Code: toolquay.CodeInternal}
	}
	head := wire.AnswerHead{Error: &toolquay.Error{Code: coded.Code, Message: err.Error()}}
	message, _ := wire.Append(nil, head.AppendJSON)
	return &answer{message: message, body: -1, failed: err}
}

// Wait finds every answer there: the first named is the first answered.
func (s *session) Wait(ids []uint32) (int, int) {
	if len(ids) == 0 || len(ids) > wire.MaxWait {
		s.violate("waited for %d calls", len(ids))
		return 0, 0
	}
	for _, id := range ids {
		s.find("wait", id)
	}
	a := s.find("wait", ids[0])
	return 0, len(a.message) - a.pos
}

func (s *session) find(what string, id uint32) *answer {
	a, ok := s.answers[id]
	if !ok {
		s.violate("named the capability call %d in %s, which was never made or is freed", id, what)
		return &answer{body: -1}
	}
	return a
}

// Read takes the next bytes of an answer.
func (s *session) Read(id uint32, p []byte) int {
	a := s.find("read", id)
	n := copy(p, a.message[a.pos:])
	a.pos += n
	if n == 0 && len(p) > 0 {
		delete(s.answers, id)
	}
	return n
}

// Cancel frees an answer, unless it is freed already.
func (s *session) Cancel(id uint32) {
	if id == 0 || id > s.last {
		s.violate("named the capability call %d in cancel, which was never made", id)
	}
	delete(s.answers, id)
}

// Progress records a report.
func (s *session) Progress(message []byte) {
	var head wire.ProgressHead
	frame, err := wire.Decode(message)
	if err == nil {
		err = wire.Unmarshal(frame.Head, &head)
	}
	if err != nil {
		s.violate("reported broken progress: %v", err)
	}
	if head.Log != nil {
		s.logs = append(s.logs, Log{Level: toolquay.Level(head.Log.Level), Message: head.Log.Message})
	}
	if head.Progress != nil {
		s.progress = append(s.progress, *head.Progress)
	}
}

// rest takes what the guest left of an answer's body, or of that so many bytes; 0 is
// all.
func (s *session) rest(id uint32, length int64) []byte {
	a := s.find("the result", id)
	if length == 0 {
		delete(s.answers, id)
	}
	if a.failed != nil {
		s.violate("passed the failed capability call %d into the result", id)
	}
	if a.body < 0 {
		return nil
	}
	rest := a.message[max(a.pos, a.body):]
	if length > 0 {
		rest = rest[:min(length, int64(len(rest)))]
		a.pos = max(a.pos, a.body) + len(rest)
	}
	return rest
}
