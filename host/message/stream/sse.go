package stream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// event is one server-sent event.
type event struct {
	name string
	data []byte
	// line is where its data begins.
	line int
	// long says that the data was over maxLine, and none was kept.
	long bool
}

// events reads server-sent events as the HTML standard has them, which is what a
// library would be for. Those there are hand out the event that a stream breaks
// off in, or end at one that is too long, or do not know their lines.
type events struct {
	in *lines
	// head is what came first, and seen says that some line was of an event stream.
	head []byte
	seen bool
}

// next returns the next event. Its data is good until the next call. An event that
// no empty line ends is none; then, as at the end, the error is io.EOF.
func (e *events) next() (event, error) {
	var ev event
	for {
		line, err := e.in.next()
		e.keep(line)
		switch {
		case errors.Is(err, errLong) && !errors.Is(err, io.EOF):
			ev.begin(e.in.number)
			ev.long, ev.data = true, nil
		case err != nil:
			return event{}, err
		case len(line) > 0:
			e.field(&ev, line)
		case ev.line > 0:
			return ev, nil
		default:
			ev = event{} // there was a name, and nothing to it
		}
	}
}

// keep notes what comes instead of events, for the error.
func (e *events) keep(line []byte) {
	if room := maxHead - len(e.head); !e.seen && room > 0 {
		e.head = append(append(e.head, line[:min(len(line), room)]...), '\n')
	}
}

// field adds a line to an event. Comments, id, retry and unknown fields say nothing
// of a message.
func (e *events) field(ev *event, line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	e.seen = e.seen || oneOf(string(name), "", "event", "data", "id", "retry")
	switch string(name) {
	case "event":
		ev.name = string(value[:min(len(value), maxShown)])
	case "data":
		if ev.begin(e.in.number) {
			ev.data = append(ev.data, '\n')
		}
		if ev.long || len(ev.data)+len(value) > maxLine {
			ev.long, ev.data = true, nil
			return
		}
		ev.data = append(ev.data, value...)
	}
}

// begin notes where the data begins, and reports whether it had begun before.
func (ev *event) begin(line int) bool {
	if ev.line > 0 {
		return true
	}
	ev.line = line
	return false
}

// decoder understands the events of one API.
type decoder interface {
	// start hands it where to put what it finds.
	start(s *sink)
	// event takes an event's data, a JSON document, and the name that came with it.
	// It reports whether the message is over. An error says that the event is not
	// what it should be, and lost with what it held.
	event(name string, data []byte) (over bool, err error)
	// lost is called for an event that could not be read. It reports whether nothing
	// behind it can be trusted.
	lost(why error) (over bool)
	// breakOff is called where the stream ends before the message.
	breakOff(why error)
}

// decodeEvents reads server-sent events up to the end of their message.
func decodeEvents(r io.Reader, s *sink, d decoder) {
	d.start(s)
	in := &events{in: newLines(r, true)}
	for over := false; !over && !s.gone; {
		ev, err := in.next()
		if s.line = ev.line; err != nil {
			s.line = in.in.number
			d.breakOff(in.reason(err))
			return
		}
		over = takeEvent(ev, d)
	}
}

// takeEvent reports whether an event was the message's last.
func takeEvent(ev event, d decoder) bool {
	if string(ev.data) == "[DONE]" { // of Chat Completions, and nothing comes behind it
		d.breakOff(errCut)
		return true
	}
	over, err := false, ev.check()
	if err == nil {
		over, err = d.event(ev.name, ev.data)
	}
	if err != nil {
		over = d.lost(abi.Errorf(abi.CodeOf(err), "this event cannot be read: %w", err))
	}
	return over
}

var (
	// errCut is that of a stream that does not say how its message ends.
	errCut = broken("the stream ended before the message did")
	// errOther is that of one in which nothing was of the API.
	errOther = broken("the stream ended, and no event of it was of this API; is it another's?")
)

// check looks whether the data can be read at all. Bytes that are not UTF-8 would
// be replaced where they are decoded.
func (ev *event) check() error {
	switch {
	case ev.long:
		return errLong
	case !utf8.Valid(ev.data):
		return invalid("it is not UTF-8")
	}
	var doc json.RawMessage
	if err := json.Unmarshal(ev.data, &doc); err != nil {
		return invalid("%w", err)
	}
	return nil
}

// kindOf is the type of an event, as its data says or else its name. One that is no
// string is none.
func kindOf(name string, data []byte) string {
	var head struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(data, &head)
	return cmp.Or(head.Type, name)
}

// unmarshal decodes an event. What is wrong is said in the words of JSON.
func unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalid("%s: %s does not fit there", wrong.Field, shown(wrong.Value))
	}
	if err != nil {
		return invalid("%w", err)
	}
	return nil
}

// reason is why a stream ended before its message.
func (e *events) reason(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return broken("reading the stream: %w", err)
	case !e.seen:
		return notEvents(e.head)
	}
	return errCut
}
