package approvals

import (
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
)

// TestUseIsExclusive has two askers that read the same answer: one while the
// other uses it, one after the other took it away. The last thinks that the question
// is still open, and replaces it.
func TestUseIsExclusive(t *testing.T) {
	t.Parallel()
	s, err := OpenStore(t.TempDir()+"/approvals", Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := host.Question{ID: "Q1", Session: "s", Binding: "b", Tool: "T", Asked: time.Now(), Approval: &host.Approval{}}
	r := newRecord(&a, nil, Resume{}, time.Now().Add(time.Hour))
	if err := s.save(r); err != nil {
		t.Fatal(err)
	}
	if err := s.save(r); err == nil {
		t.Error("one question is written over another")
	}
	n := nameOf(r)
	for i, want := range []bool{true, false} {
		if won, err := s.dir.use(n); err != nil || won != want {
			t.Errorf("use %d: %v, %v", i, won, err)
		}
	}
	if err := s.dir.remove(n); err != nil {
		t.Fatal(err)
	}
	if won, err := s.dir.use(n); err != nil || won {
		t.Errorf("use of what is gone: %v, %v", won, err)
	}
	if won, err := s.dir.putAnswer(n, Answer{Answer: answerReplaced}); err != nil || won {
		t.Errorf("an answer to what is gone: %v, %v", won, err)
	}
	if left, err := s.dir.names(nil); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
