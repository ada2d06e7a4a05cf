package ui

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/host"
)

// Asker asks the person at the terminal. It implements [host.Asker].
type Asker struct {
	out   *Printer
	in    io.Reader
	start sync.Once
	lines chan string
	turn  chan struct{} // holds the one token of who asks
}

var _ host.Asker = (*Asker)(nil)

// NewAsker asks on out and reads the answers from in. Reading begins with the
// first question.
func NewAsker(out *Printer, in io.Reader) *Asker {
	a := &Asker{out: out, in: in, lines: make(chan string), turn: make(chan struct{}, 1)}
	a.turn <- struct{}{}
	return a
}

// line waits for a line from the person. The reading itself cannot be
// interrupted, so it goes on beside, for as long as the program runs.
func (a *Asker) line(ctx context.Context) (string, error) {
	a.start.Do(func() {
		go func() {
			defer close(a.lines)
			for s := bufio.NewScanner(a.in); s.Scan(); {
				a.lines <- s.Text()
			}
		}()
	})
	select {
	case line, open := <-a.lines:
		if !open {
			return "", io.EOF
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Ask puts one question after another, whoever asks at once. y allows once; n
// denies, and what follows it is for the model; anything else asks again.
func (a *Asker) Ask(ctx context.Context, q host.Approval) (host.Reply, error) {
	select {
	case <-a.turn:
		defer func() { a.turn <- struct{}{} }()
	case <-ctx.Done():
		return host.Reply{}, context.Cause(ctx)
	}
	a.describe(q)
	for {
		a.out.Printf("Allow this once? y, n, or n and a message to the model: ")
		line, err := a.line(ctx)
		if err != nil {
			return host.Reply{}, err
		}
		word, rest, _ := strings.Cut(line, " ")
		switch strings.ToLower(word) {
		case "y", "yes":
			return host.Reply{Answer: host.AnswerAllow}, nil
		case "n", "no":
			return host.Reply{Answer: host.AnswerDeny, Message: strings.TrimSpace(rest)}, nil
		}
	}
}

// maxShownInput bounds the input shown where no access says what a call is
// about, in characters.
const maxShownInput = 500

func (a *Asker) describe(q host.Approval) {
	who := q.Tool
	if q.Plugin != "" {
		who += " (plugin " + q.Plugin + ")"
	}
	what := " wants to run: "
	if q.Capability != "" {
		what = " wants " + q.Capability + ": "
	}
	a.out.Line(Span{Yellow, "? "}, Span{Bold, who}, Span{Plain, what + q.Title})
	for _, access := range q.Accesses {
		a.out.Printf("    %s\n", Line(access.String()))
	}
	if len(q.Accesses) == 0 {
		a.out.Printf("    with %s\n", cut(Line(string(q.Input)), maxShownInput))
	}
	if q.Decision != nil {
		a.out.Printf("    because of %s\n", Line(q.Decision.Reason()))
	}
}

// Confirm asks one question that only a y answers with yes.
func (a *Asker) Confirm(ctx context.Context, question string) bool {
	a.out.Printf("%s [y/N] ", question)
	line, err := a.line(ctx)
	return err == nil && (strings.EqualFold(line, "y") || strings.EqualFold(line, "yes"))
}
