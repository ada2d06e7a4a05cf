package main

import (
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message/stream"
)

// TestAnswersAfterTheEnd: once a turn is told to be done, no answer to one of its
// questions counts, though its call may not have noticed yet.
func TestAnswersAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := newStreamAsker(nil)
	s.expect(host.Approval{ID: "one"})
	s.expect(host.Approval{ID: "two"})
	s.end("one")
	for id, want := range map[string]abi.Code{"one": abi.CodeNotFound, "two": "", "three": abi.CodeNotFound} {
		err := s.answer(stream.Answer{Approval: id, Answer: host.AnswerAllow})
		if (err != nil) != (want != "") || err != nil && abi.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", id, err, want)
		}
	}
}
