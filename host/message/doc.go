// Package message reads the tool calls out of a model's message and writes
// their results back in the form the model's API expects.
//
// It knows the Anthropic Messages API, the OpenAI Chat Completions and Responses APIs,
// the Gemini API, and a plain list of calls for programs that have none of them:
//
//	m, err := message.Parse(body)
//	...
//	reply, err := message.Reply(m.Format, m.Calls, session.Results(ctx, m.Calls))
//
// A message is model output, and nothing in it is trusted: it is read strictly
// (see [Parse]), and what it says of permissions can only tighten them (see
// [Settings]).
package message
