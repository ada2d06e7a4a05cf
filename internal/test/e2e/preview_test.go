package e2e

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// person allows whatever they are asked about, when as many questions are open as they
// wait for, and keeps what they were shown.
type person struct {
	waits int

	mu    sync.Mutex
	asked []host.Approval
	all   chan struct{}
}

func waitsFor(questions int) *person { return &person{waits: questions, all: make(chan struct{})} }

func (*person) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (p *person) Ask(ctx context.Context, question host.Question) (host.Reply, error) {
	a := *question.Approval
	p.mu.Lock()
	p.asked = append(p.asked, a)
	if len(p.asked) == p.waits {
		close(p.all)
	}
	p.mu.Unlock()
	select {
	case <-p.all:
		return host.Reply{Answer: host.AnswerAllow}, nil
	case <-ctx.Done():
		return host.Reply{}, ctx.Err()
	case <-time.After(time.Minute):
		return host.Reply{Answer: host.AnswerDeny, Message: "the other question never came"}, nil
	}
}

// previews are what was shown, in some order.
func (p *person) previews() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, a := range p.asked {
		out = append(out, a.Preview)
	}
	slices.Sort(out)
	return out
}

// TestPreview shows a person what a call would change, before anything of it is done,
// and asks nobody about a call that would fail.
func TestPreview(t *testing.T) {
	t.Parallel()
	p := waitsFor(1)
	d := newDesk(t, map[string]string{"a.txt": "one\ntwo\n", "plot.ipynb": smallNotebook, "sub/b.txt": ""}, p)
	d.fails(2, "Edit", edit("a.txt", "two", "2"))
	d.does("Read", file("a.txt"))
	d.does("Read", file("plot.ipynb"))
	d.fails(0, "Write", content("sub", "x"), "sub is a directory")
	d.fails(4, "Edit", edit("a.txt", "two", "two"))
	d.fails(5, "Edit", edit("a.txt", "three", "3"))
	d.fails(5, "NotebookEdit", cell("plot.ipynb", "nobody", "x"))
	if len(p.asked) > 0 {
		t.Fatalf("asked about what would fail: %+v", p.asked)
	}
	d.does("Edit", edit("a.txt", "two", "2"))
	d.does("Write", content("new.txt", "new\n"))
	d.does("NotebookEdit", cell("plot.ipynb", "cell-1", "plot(2)"))
	for i, want := range []string{
		"--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
		"--- /dev/null\n+++ new.txt\n@@ -0,0 +1 @@\n+new\n",
		"-    \"plot(1)\"\n+    \"plot(2)\"\n",
	} {
		if i >= len(p.asked) || !strings.Contains(p.asked[i].Preview, want) {
			t.Fatalf("question %d of %d does not show %q: %+v", i, len(p.asked), want, p.asked)
		}
	}
}

// TestEditsSideBySide has the edits of two files under way at once: the person answers
// when both questions are open.
func TestEditsSideBySide(t *testing.T) {
	t.Parallel()
	p := waitsFor(2)
	d := newDesk(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"}, p)
	d.turn(d.use("Read", file("a.txt")), d.use("Read", file("b.txt")))
	for i, r := range d.turn(d.use("Edit", edit("a.txt", "one", "a")), d.use("Edit", edit("b.txt", "one", "b"))) {
		if r.IsError {
			t.Errorf("call %d: %s", i, r.Text())
		}
	}
	d.holds("a.txt", "a\n")
	d.holds("b.txt", "b\n")
	if got := p.previews(); len(got) != 2 || !strings.Contains(got[0], "+a\n") || !strings.Contains(got[1], "+b\n") {
		t.Errorf("shown %q", got)
	}
}

// TestEditsOfOneFile has each edit of a file see what those before it in the message
// made of it.
func TestEditsOfOneFile(t *testing.T) {
	t.Parallel()
	p := waitsFor(1)
	d := newDesk(t, map[string]string{"a.txt": "0\n"}, p)
	uses := []abi.ToolUse{d.use("Read", file("a.txt"))}
	const edits = 9
	for i := range edits {
		from, to := string(rune('0'+i)), string(rune('1'+i))
		uses = append(uses, d.use("Edit", edit("a.txt", from, to)))
	}
	uses = append(uses, d.use("Read", file("a.txt")))
	results := d.turn(uses...)
	for i, r := range results {
		if r.IsError {
			t.Errorf("call %d: %s", i, r.Text())
		}
	}
	if got := results[len(results)-1].Text(); got != "     1\t9" {
		t.Errorf("it reads %q", got)
	}
	d.holds("a.txt", "9\n")
	for i, a := range p.asked {
		if want := "-" + string(rune('0'+i)) + "\n+" + string(rune('1'+i)) + "\n"; !strings.HasSuffix(a.Preview, want) {
			t.Errorf("question %d shows %q", i, a.Preview)
		}
	}
	if len(p.asked) != edits {
		t.Errorf("%d questions", len(p.asked))
	}
}

// TestDeniedEdit leaves everything as it was, and what was read stays known.
func TestDeniedEdit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.txt": "one\n"}, denying{})
	d.does("Read", file("a.txt"))
	for _, use := range []abi.ToolUse{d.use("Edit", edit("a.txt", "one", "two")), d.use("Write", content("sub/b.txt", "x"))} {
		if r := d.turn(use)[0]; r.Error == nil || r.Error.Code != abi.CodeDenied || !strings.Contains(r.Text(), "not that one") {
			t.Errorf("%s: %s", use.Name, r.Text())
		}
	}
	d.holds("a.txt", "one\n")
	if entries, err := os.ReadDir(d.dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

type denying struct{}

func (denying) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (denying) Ask(context.Context, host.Question) (host.Reply, error) {
	return host.Reply{Answer: host.AnswerDeny, Message: "not that one"}, nil
}
