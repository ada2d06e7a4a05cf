// Package stream reads the tool calls out of a model's message while it is still
// being written. A call comes out as soon as it is complete and never before:
// nothing is ever made of half a JSON document.
//
//	items, err := stream.Decode(os.Stdin, stream.AnthropicSSE)
//	...
//	for item := range items {
//		if item.Kind == stream.KindCall {
//			err = turn.Add(item.Call) // turn is a host.Stream
//		}
//	}
//
// However the bytes are cut into reads, the same items come out of them.
//
// # JSON Lines
//
// One JSON object a line, for programs that drive a session themselves. Its type
// says what it is; keys that it does not know are refused.
//
//	{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "go.mod"}}
//	{"type": "answer", "question": "ID", "answer": "allow"}
//	{"type": "interrupt"}
//	{"type": "discard"}
//	{"type": "end"}
//	{"type": "mode", "mode": "plan"}
//	{"type": "background", "tool_use_id": "t1"}
//	{"type": "stop", "task_id": "b7k2m9x4q"}
//
// The answer to a question is allow, deny or later. The question is a permission line's
// approval, or a question line's question.
//
// Of a permission, deny denies this call and no
// other; with "end_turn": true it also ends the turn, so that what has not begun is
// cancelled: that is what a person's plain no means where the question says
// deny_ends_turn. With deny may come a message for the model. With allow may come an
// input in place of the call's, and with remember the scope of the option among offers that is taken:
// session, project-local, project, user, or edits for all edits inside the working
// directories in this session. An answer to a permission may also be of the type permission,
// with the id as approval: programs of earlier versions write it so.
//
// Of a form, allow comes with content: an object of the fields by their names, of which those
// with a default may be left out. One that does not fit the schema is a fault, and the
// question stays open. Of a URL, allow says that the person opens it. Deny declines either,
// perhaps with a message for the tool.
//
// Of a choice, allow comes with the content {"answers": {QUESTION: ANSWER}}: the label of an
// option, the person's own words, or a list of these where more than one may be chosen. Notes
// by question may stand in notes. Of a plan, the content is {"plan": TEXT, "mode": MODE, "rules":
// [RULES]}, each optional: the plan as the person changed it, one of the question's modes, the
// first if there is none, and what is allowed in this session from then on, unless the question
// says no_rules. Deny refuses the
// plan, and the mode stays plan.
//
// A mode changes the session's permission mode; with "leave_plan": true in place of a name, from
// plan to the mode before it. Where nothing is asked over the stream, the mode can only be
// tightened: to plan, or from another mode than plan to dontAsk. A background moves the command that a call waits for to the background: the
// call then has its result. A stop ends a background task. All three count at once, and what is
// wrong with them is an error line.
//
// An end
// says that the model's message is complete; what follows is of the next one.
//
// A line that is broken, longer than [abi.MaxJSON] or of an unknown type is a
// [KindFault] and nothing else: each line stands for itself, so the next ones
// count. The last line needs no line end, because an object says itself where it
// ends.
//
// An interrupt ends what may be ended of the turns under way; where no call has come
// there is nothing to interrupt. A discard makes void the message that is being
// written, or else the last one, if its turn has not ended. Both count at once, before
// what stands in front of them has run. A turn begins with its first call; calls of
// the next message may follow an end at once, and wait for the turn before.
//
// # Server-sent events
//
// The streams of the Anthropic Messages API, and of the OpenAI Chat Completions
// and Responses APIs, as they come over the wire. One stream holds one message,
// and nothing is read beyond its end. A call is complete
//
//   - in a stream of Anthropic's with the content_block_stop of its block;
//   - in one of Chat Completions when the next call begins or finish_reason comes;
//   - in one of Responses with the response.output_item.done of its item.
//
// A complete call whose input is no whole JSON object is held until it is known
// that the model went on after it. It did so where another block or another call
// follows, or where the message ends by the model's own will: then the call comes
// out as it is, an empty input meaning {}, and anything else is the model's
// mistake, for the host to tell it. Where the message was cut short, by max_tokens
// say, the input was, too, and the call does not come out.
//
// Where a stream breaks off (its end before the message's, an error event, an
// event that cannot be read) what was complete stands. Each call that was not is a
// [KindFault] with its id and name. A refusal of Anthropic's makes the whole
// message void, as its API has it, and is a [KindDiscard].
//
// Text, thinking, tools that the API runs itself and events of unknown types are
// passed over.
//
// # Reports
//
// What happens goes out as JSON Lines, too. Each has a type, and a time in UTC, to
// the microsecond. The first is a session ([Opening]), with the version of the
// protocol ([Protocol]) and the names of the tools. Of a turn there come, with its number and elapsed_ms,
//
//	queued         [Queued]: a call waits for its turn
//	started        [Started]: a call's tool runs
//	finished       [Finished]: a call to an MCP server has ended; its result follows
//	progress       [Progress]: at most ten a second for each call
//	log            [Log]: what a tool logs, where that is asked for (run --stream --logs)
//	deed           [GitEvent]: a command did something, such as a commit
//	permission     [Permission]: whether a call may do something; where answerable is true,
//	               to be answered
//	question       [Question]: a form to fill in, a URL to open, a choice, or a plan to
//	               accept, likewise
//	answered       [Answered]: a question, not a permission, is over
//	persisted      [Persisted]: a result was too long, and where the whole of it lies
//	result         [Result]: the call's one result; these come in call order
//	replaced       [Result]: after the last result, what takes the place of an earlier one
//	discarded      [Discarded]: a call has no result, its message being void
//	interruptible  [Interruptible]: whether an interrupt would end all that runs
//	message        [Message]: a hook's word to the person or, with a status, what the model or
//	               a plugin (plugin) tells them, with the files that belong to it
//	worktree       [Worktree]: the session has entered a worktree of git, or left it
//	output         [Output]: the structured output that run --output-schema asks for; the last
//	               one counts, and is in the turn's done line too
//	done           [Done]: the last line of the turn
//
// and at any time, of no turn,
//
//	error          [Fault]: a part of the input that was passed over
//	tools          [Tools]: other tools can be called from the next turn on
//	plugin         [Plugin]: a plugin cannot be used, and why
//	task           [Task]: a background task began or ended
//	deed           [GitEvent], with turn 0: a task did something, such as a commit
//
// The lines of a turn, and those about a call, say in session and agent whose call it is,
// and in chain what the agents of one conversation have in common (see [From]). A line about
// a call that another call made has that one's id as parent, and as depth how many calls are
// above it. Such calls are turns of their own, to be reported by a
// [Reporter] of their own; what the command runs makes none.
//
// Of a queued or started line, a permission, a question, a progress and a result, display is
// one line for people, as the tool words it and safe to show behind its name (see [About]).
//
// Lines about a call to an MCP server name that server, and its own name for the tool
// (server, server_tool).
//
// Sizes are in bytes, and in Unicode code points where a key says chars. Every call
// that came out of the stream has one result or one discarded line, and of a call
// that an error line names neither comes: with a message that has such a call an API
// may want a result all the same, for its author to write.
//
// Keys that are empty are left out, except those that always count: is_error,
// content, accesses, effects, input, the counts of done and go_on. Who reads passes
// over types and keys it does not know, since new ones may come; who writes is told
// of each key that this version does not know, since it would be passed over.
// Within a line, characters that do not show as themselves are written as \u escapes.
package stream
