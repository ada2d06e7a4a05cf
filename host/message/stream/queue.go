package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/toolquay/toolquay/abi"
)

// maxOpen is how many calls may be under way at once. Their inputs take maxLine
// bytes together at most.
const maxOpen = 1024

// queue holds the calls of a message that have begun and not come out, in their
// order.
type queue struct {
	*sink

	calls []*pending
	held  int
	// known says that some event was of the API.
	known bool
}

// pending is a call that is being written.
type pending struct {
	key      int // the API's number for it
	id, name string
	// input is the inside of a JSON string: the pieces as they came, escapes and all,
	// because a character outside the basic plane may be cut in two between them.
	input []byte
	// given is an input that came as a whole, in place of pieces.
	given json.RawMessage
	// closed says that nothing more of it comes, passed that the model went on
	// after it.
	closed, passed bool
}

func (q *queue) start(s *sink) { q.sink = s }

// begin adds a call, unless there are too many.
func (q *queue) begin(key int, id, name string) *pending {
	p := &pending{key: key, id: id, name: name}
	if len(q.calls) == maxOpen {
		q.drop(p, abi.Errorf(abi.CodeTooLarge, "more than %d calls are under way at once", maxOpen))
		return nil
	}
	q.calls = append(q.calls, p)
	return p
}

// find is the call with a number, the one that began last, or nil.
func (q *queue) find(key int) *pending {
	for _, p := range slices.Backward(q.calls) {
		if p.key == key {
			return p
		}
	}
	return nil
}

// add takes a piece of a call's input: a JSON string.
func (q *queue) add(p *pending, piece json.RawMessage) error {
	if isNull(piece) {
		return nil
	}
	if piece[0] != '"' {
		return invalid("a piece of an input must be a string")
	}
	inside := piece[1 : len(piece)-1]
	p.input = append(p.input, inside...)
	q.weigh(p, len(inside))
	return nil
}

// give takes an input that came as a whole.
func (q *queue) give(p *pending, input json.RawMessage) {
	more := len(input) - len(p.given)
	p.given = bytes.Clone(input)
	q.weigh(p, more)
}

// weigh counts what a call took, and drops it where all of them take too much.
func (q *queue) weigh(p *pending, more int) {
	if q.held += more; q.held > maxLine {
		q.remove(p)
		q.drop(p, errLong)
	}
}

// size is what the call takes of the queue's room.
func (p *pending) size() int { return len(p.input) + len(p.given) }

func (q *queue) remove(p *pending) {
	if i := slices.Index(q.calls, p); i >= 0 {
		q.calls = slices.Delete(q.calls, i, i+1)
		q.held -= p.size()
	}
}

// drop tells that a call does not come out.
func (q *queue) drop(p *pending, why error) {
	lost := abi.ToolUse{ID: p.id, Name: p.name}
	q.fault(lost, abi.Errorf(abi.CodeOf(why), "the call %q of %q is not run: %w", shown(p.id), shown(p.name), why))
}

// pass notes that the model went on after the calls that are closed.
func (q *queue) pass() {
	for _, p := range q.calls {
		p.passed = p.closed
	}
	q.flush()
}

// flush lets out the calls in front that are complete.
func (q *queue) flush() {
	for len(q.calls) > 0 {
		p := q.calls[0]
		if !p.closed {
			return
		}
		input, err := p.text()
		if !p.passed && !whole(input) {
			return
		}
		q.remove(p)
		switch {
		case err != nil:
			q.drop(p, err)
		case p.name == "":
			q.drop(p, invalid("it does not say which tool to call"))
		default:
			q.put(Item{Kind: KindCall, Call: abi.ToolUse{ID: p.id, Name: p.name, Input: input}})
		}
	}
}

// finish ends the message. Where it was cut short, its last call may have been, too.
func (q *queue) finish(stop string, cut bool) {
	if cut {
		q.giveUp(broken("the message was cut short (%s) before its input was complete", shown(stop)), (*pending).doubtful)
	}
	q.giveUp(broken("the message ended before its input did"), (*pending).open)
	q.pass()
	q.put(Item{Kind: KindEnd, Stop: stop})
}

// lost drops the calls that are being written: a piece of theirs may be gone.
func (q *queue) lost(why error) {
	if !q.giveUp(why, (*pending).open) {
		q.fault(abi.ToolUse{}, why)
	}
	q.flush()
}

// breakOff drops what is not known to be complete.
func (q *queue) breakOff(why error) {
	if !q.known && errors.Is(why, errCut) {
		why = errOther
	}
	q.fault(abi.ToolUse{}, why)
	q.giveUp(broken("the stream broke off before it was known to be complete"), (*pending).doubtful)
	q.flush()
}

// giveUp drops the calls that are so, and reports whether there were any.
func (q *queue) giveUp(why error, so func(*pending) bool) bool {
	before := len(q.calls)
	for _, p := range slices.Clone(q.calls) {
		if so(p) {
			q.remove(p)
			q.drop(p, why)
		}
	}
	return len(q.calls) < before
}

func (p *pending) open() bool { return !p.closed }

// doubtful reports whether it cannot be told that the call is complete.
func (p *pending) doubtful() bool {
	if !p.closed || p.passed {
		return !p.closed
	}
	input, err := p.text()
	return err != nil || !whole(input)
}

// text is the input so far.
func (p *pending) text() (json.RawMessage, error) {
	if len(p.input) == 0 {
		return p.given, nil
	}
	doc, err := abi.Canonical(append(append([]byte{'"'}, p.input...), '"'))
	if err != nil {
		return nil, err
	}
	var text string
	if err := json.Unmarshal(doc, &text); err != nil {
		return nil, invalid("%w", err)
	}
	return json.RawMessage(text), nil
}

// whole reports whether an input is a whole JSON object. Other values do not say
// themselves where they end.
func whole(input []byte) bool {
	input = bytes.TrimLeft(input, " \t\r\n")
	return len(input) > 0 && input[0] == '{' && json.Valid(input)
}

// isNull reports whether a value is not there, or null.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
