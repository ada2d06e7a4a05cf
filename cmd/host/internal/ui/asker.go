package ui

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/toolquay/toolquay/host"
)

// Asker asks the person: with single keys where there is a terminal, with lines
// where there is only a pipe. It implements [host.Asker].
type Asker struct {
	out  *Printer
	in   *os.File
	keys keyboard
	turn chan struct{} // holds the one token of who asks
	// watch has the keys while nobody asks.
	watch watch
	// hold has the keys of signals be for another program, until release is called.
	hold func() (release func())
}

// settling is how long a question waits behind another one's answer, which may have
// decided it too: then it is withdrawn without having been shown.
const settling = 50 * time.Millisecond

var _ host.Asker = (*Asker)(nil)

// NewAsker asks on out and reads the answers from in, which it does not touch
// before the first question.
func NewAsker(out *Printer, in *os.File) *Asker {
	a := &Asker{out: out, in: in, keys: newKeyboard(in), turn: make(chan struct{}, 1)}
	a.turn <- struct{}{}
	a.hold = func() func() { return func() {} }
	return a
}

// HoldSignals has a function called once an editor has the terminal, and what it returns
// afterwards: Ctrl-C is the editor's meanwhile.
func (a *Asker) HoldSignals(hold func() (release func())) { a.hold = hold }

// Abandon leaves the terminal for good as it was found, for a program that ends at once.
func (a *Asker) Abandon() { a.keys.abandon() }

// await waits for the turn to ask.
func (a *Asker) await(ctx context.Context) error {
	select {
	case <-a.turn:
		return nil
	default:
	}
	select {
	case <-a.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	settled := time.NewTimer(settling)
	defer settled.Stop()
	select {
	case <-settled.C:
		return nil
	case <-ctx.Done():
		a.turn <- struct{}{}
		return context.Cause(ctx)
	}
}

// Carries is true of every kind.
func (a *Asker) Carries(kind host.QuestionKind) bool { return slices.Contains(host.Kinds(), kind) }

// Ask puts one question after another, whoever asks at once. What was typed
// before a question was shown does not answer it.
func (a *Asker) Ask(ctx context.Context, q host.Question) (host.Reply, error) {
	put, err := a.putting(q)
	if err != nil {
		return host.Reply{}, err
	}
	defer a.watch.ask()()
	if err := a.await(ctx); err != nil {
		return host.Reply{}, err
	}
	defer func() { a.turn <- struct{}{} }()
	defer a.out.Hold()()
	reply, err := put(ctx)
	if err != nil {
		a.out.Wrapped(2, Span{Dim, "  not answered: " + err.Error()})
	}
	return reply, err
}

// putting returns what puts a question.
func (a *Asker) putting(q host.Question) (func(context.Context) (host.Reply, error), error) {
	var v shown
	switch {
	case q.Choice != nil:
		return func(ctx context.Context) (host.Reply, error) { return a.choose(ctx, q) }, nil
	case q.Approval != nil:
		v = newQuestion(*q.Approval)
	case q.Plan != nil:
		v = newPlanView(a, q)
	default:
		r, err := newRequest(q)
		if err != nil {
			return nil, err
		}
		v = r
	}
	return func(ctx context.Context) (host.Reply, error) {
		v.show(a.out)
		return a.answer(ctx, v)
	}, nil
}

// shown is what the person is asked, with keys to answer it.
type shown interface {
	show(out *Printer)
	// showAll prints what show left out.
	showAll(out *Printer)
	choices() []choice
}

// answer reads keys until one of them is an answer.
func (a *Asker) answer(ctx context.Context, v shown) (host.Reply, error) {
	choices := v.choices()
	a.menu(choices)
	for {
		key, err := a.keys.key(ctx)
		if err != nil {
			return host.Reply{}, err
		}
		i := slices.IndexFunc(choices, func(c choice) bool { return c.key == unicode.ToLower(key) })
		switch {
		case i < 0 && !a.keys.single():
			a.menu(choices)
		case i < 0:
		case choices[i].shows:
			v.showAll(a.out)
			choices = v.choices()
			a.menu(choices)
		case choices[i].does != nil:
			a.out.Wrapped(4, Span{Dim, "  " + choices[i].says})
			if answers, err := choices[i].does(ctx); answers || err != nil {
				return choices[i].reply, err
			}
			choices = v.choices()
			a.menu(choices)
		default:
			a.out.Wrapped(4, Span{Dim, "  " + choices[i].says})
			return a.reply(ctx, choices[i])
		}
	}
}

// reply is what a choice answers.
func (a *Asker) reply(ctx context.Context, c choice) (host.Reply, error) {
	switch {
	case c.fills != nil:
		return a.fill(ctx, c.fills)
	case c.tells == "":
		return c.reply, nil
	}
	a.out.Printf("  %s: ", c.tells)
	words, err := a.keys.line(ctx)
	if err != nil {
		return host.Reply{}, err
	}
	c.reply.Message = words
	return c.reply, nil
}

// menu prints what the keys do.
func (a *Asker) menu(choices []choice) {
	how := ""
	if !a.keys.single() {
		how = " and Enter"
	}
	for _, c := range choices {
		key := fmt.Sprintf("  [%c%s] ", c.key, how)
		a.out.Wrapped(len(key), Span{Bold, key}, Span{Plain, c.says})
	}
}

// Confirm asks one question that only a y answers with yes, typed after it was asked.
func (a *Asker) Confirm(ctx context.Context, question string) bool {
	defer a.out.Hold()()
	if a.keys.drop() != nil {
		return false
	}
	a.out.Printf("%s [y/N] ", question)
	line, err := a.keys.line(ctx)
	return err == nil && (strings.EqualFold(line, "y") || strings.EqualFold(line, "yes"))
}
