package toolquay

import (
	"encoding/json"
	"errors"

	"github.com/toolquay/toolquay/sdk/go/wire"
)

// Output is the result of a call, built step by step: each method returns the
// output with something added. The zero Output is an empty result.
//
//	return toolquay.Text("found 3 files").Structured(files), nil
type Output struct {
	head  wire.ResultHead
	parts []wire.Part
	err   error // the first mistake made while building
}

// Text is an output of one block of text.
func Text(text string) Output { return Output{}.Text(text) }

// Failure is an output that tells the model of a failure in words. Return an
// [Error] instead where a code fits.
func Failure(text string) Output { return Output{}.Text(text).AsError() }

// Text adds a block of text. Bytes that are not UTF-8 become U+FFFD.
func (o Output) Text(text string) Output { return o.TextFrom(Literal(text)) }

// TextFrom adds a block of text joined from pieces: [Literal] strings, and the
// rest of [Answer]s, which goes from the host to the result without entering
// the guest's memory.
func (o Output) TextFrom(pieces ...Piece) Output {
	return o.block(wire.BlockHead{Type: wire.BlockText}, pieces)
}

// Image adds an image of a media type such as "image/png".
func (o Output) Image(mediaType string, data []byte) Output {
	return o.ImageFrom(mediaType, rawBytes(data))
}

// ImageFrom adds an image joined from pieces, as [Output.TextFrom] does.
func (o Output) ImageFrom(mediaType string, pieces ...Piece) Output {
	return o.block(wire.BlockHead{Type: wire.BlockImage, MediaType: mediaType}, pieces)
}

// Document adds a document of a media type such as "application/pdf".
func (o Output) Document(title, mediaType string, data []byte) Output {
	return o.DocumentFrom(title, mediaType, rawBytes(data))
}

// DocumentFrom adds a document joined from pieces, as [Output.TextFrom] does.
func (o Output) DocumentFrom(title, mediaType string, pieces ...Piece) Output {
	return o.block(wire.BlockHead{Type: wire.BlockDocument, MediaType: mediaType, Title: title}, pieces)
}

// ToolReference adds a pointer at another tool.
func (o Output) ToolReference(name string) Output {
	return o.block(wire.BlockHead{Type: wire.BlockToolReference, ToolName: name}, nil)
}

// Structured sets the machine-readable answer to v, encoded by the rules of
// encoding/json. It must fit the tool's output schema.
func (o Output) Structured(v any) Output {
	data, err := json.Marshal(v)
	if err != nil {
		return o.mistake(err)
	}
	return o.StructuredJSON(data)
}

// StructuredJSON sets the machine-readable answer to one JSON value.
func (o Output) StructuredJSON(data []byte) Output {
	source := o.part(wire.Part{Type: wire.PartJSON, Data: data})
	o.head.Structured = &source
	return o
}

// AsError marks the output as telling of a failure.
func (o Output) AsError() Output {
	o.head.IsError = true
	return o
}

// ChangeCwd asks the host to change the session's working directory. It needs
// the capability session.cwd.
func (o Output) ChangeCwd(path string) Output {
	o.head.Changes = append(o.head.Changes, wire.Change{Kind: wire.ChangeCwd, Value: wire.AppendString(nil, path)})
	return o
}

// Message adds a text to the conversation after the results, spoken by the
// role.
func (o Output) Message(role, text string) Output {
	o.head.Messages = append(o.head.Messages, wire.Message{Role: role, Text: text})
	return o
}

// Meta attaches one JSON value that the host passes on unread.
func (o Output) Meta(data []byte) Output {
	o.head.Meta = data
	return o
}

// Piece is something a block can be joined from: a [Literal], an [Answer], or a piece
// of one ([Body.Piece]).
type Piece interface{ addTo(o *Output) wire.Source }

// Literal is a piece of text.
type Literal string

func (l Literal) addTo(o *Output) wire.Source {
	return o.part(wire.Part{Type: wire.PartText, Data: wire.ValidUTF8(string(l))})
}

type rawBytes []byte

func (b rawBytes) addTo(o *Output) wire.Source {
	return o.part(wire.Part{Type: wire.PartBytes, Data: b})
}

// addTo names what is left of the answer. From here on it is the result's.
func (b *Body) addTo(o *Output) wire.Source {
	source := b.give(o, 0)
	b.pieces = false
	return source
}

// give names so many bytes of the answer, or all that is left for a size of 0.
func (b *Body) give(o *Output, size int64) wire.Source {
	if b.given && !b.pieces {
		*o = o.mistake(errors.New("an answer was passed into the result twice"))
	}
	if b.done || b.given && !b.pieces {
		return o.part(wire.Part{Type: wire.PartBytes})
	}
	b.given, b.pieces = true, true
	id := b.id
	return wire.Source{Handle: &id, Length: size}
}

// bodyPiece is a piece of an answer.
type bodyPiece struct {
	body *Body
	size int64
}

func (p bodyPiece) addTo(o *Output) wire.Source {
	if p.size <= 0 {
		return o.part(wire.Part{Type: wire.PartBytes})
	}
	return p.body.give(o, p.size)
}

func (o *Output) part(p wire.Part) wire.Source {
	index := len(o.parts)
	o.parts = append(o.parts, p)
	return wire.Source{Part: &index}
}

func (o Output) block(head wire.BlockHead, pieces []Piece) Output {
	for _, p := range pieces {
		head.Source = append(head.Source, p.addTo(&o))
	}
	o.head.Content = append(o.head.Content, head)
	return o
}

func (o Output) mistake(err error) Output {
	if o.err == nil {
		o.err = err
	}
	return o
}

// encode writes the message that call returns, with the error that Run did.
func (o Output) encode(err error) []byte {
	if err == nil && o.err != nil {
		o, err = Output{}, Errorf(CodeTrap, "the tool built a broken result: %v", o.err)
	}
	var coded *Error
	switch {
	case err == nil:
	case errors.As(err, &coded):
		o.head.Error = &Error{Code: coded.Code, Message: err.Error()}
	default:
		o = o.Text(err.Error()).AsError()
	}
	message, broken := wire.Append(nil, o.head.AppendJSON, o.parts...)
	if broken != nil {
		head := wire.ResultHead{Error: &Error{Code: CodeLimit, Message: "the tool's result: " + broken.Error()}}
		message, _ = wire.Append(nil, head.AppendJSON)
	}
	return message
}
