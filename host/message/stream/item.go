package stream

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// Format says how a stream is written.
type Format string

// The formats.
const (
	// JSONL is one JSON object a line.
	JSONL Format = "jsonl"
	// AnthropicSSE are the server-sent events of the Anthropic Messages API.
	AnthropicSSE Format = "anthropic-sse"
	// OpenAISSE are those of the OpenAI Chat Completions API or the Responses API;
	// which of the two is told by each event.
	OpenAISSE Format = "openai-sse"
)

// Formats lists the formats there are.
func Formats() []Format { return []Format{JSONL, AnthropicSSE, OpenAISSE} }

// Kind says what an [Item] is.
type Kind uint8

// The kinds of item.
const (
	// KindCall is a complete call.
	KindCall Kind = iota + 1
	// KindAnswer answers a question.
	KindAnswer
	// KindInterrupt says that the user wrote something new.
	KindInterrupt
	// KindDiscard says that the message is void; Err may say why.
	KindDiscard
	// KindEnd says that the message is complete.
	KindEnd
	// KindMode changes the session's permission mode.
	KindMode
	// KindBackground moves the command that a call waits for to the background, and KindStop
	// ends a background task.
	KindBackground
	KindStop
	// KindFault is something that could not be read, and was passed over. Where it
	// cost a call, Call has what is known of its id and name.
	KindFault
)

// Item is one thing that a stream says. Fields that do not apply to its kind are
// zero.
type Item struct {
	Kind Kind
	// Line is where it stands, counted from 1.
	Line   int
	Call   abi.ToolUse
	Answer Answer
	// Mode, with KindMode, is the one to change to; empty leaves the mode plan, for that before.
	Mode permissions.Mode
	// ID is the call's, with KindBackground, or the task's, with KindStop.
	ID string
	// Stop is why the model stopped, in the words of its API, with KindEnd.
	Stop string
	// Err, with KindFault, carries [abi.CodeInvalidInput], [abi.CodeTooLarge] or, for
	// a stream that broke off, [abi.CodeIO].
	Err error
}

// Answer is a person's answer to a [host.Question].
type Answer struct {
	// Question is the question's id.
	Question string
	// Answer, Message, EndTurn, Input and Content are as in [host.Reply].
	Answer  host.Answer
	Message string
	EndTurn bool
	Input   json.RawMessage
	Content json.RawMessage
	// Remember is the target of the option that the person took; empty is none.
	Remember host.RuleTarget
}

// Decode reads a stream to its end. The sequence can be ranged over once, and
// yields each item as soon as the bytes for it were read.
func Decode(r io.Reader, f Format) (iter.Seq[Item], error) {
	decode := map[Format]func(io.Reader, *sink){
		JSONL:        decodeLines,
		AnthropicSSE: func(r io.Reader, s *sink) { decodeEvents(r, s, &anthropic{}) },
		OpenAISSE:    func(r io.Reader, s *sink) { decodeEvents(r, s, &openAI{}) },
	}[f]
	if decode == nil {
		return nil, fmt.Errorf("no format %q for a stream; there are %v", f, Formats())
	}
	return func(yield func(Item) bool) { decode(r, &sink{yield: yield}) }, nil
}
