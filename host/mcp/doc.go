// Package mcp serves the tools of a host over the Model Context Protocol, to clients of its
// revisions 2025-11-25 and 2026-07-28, by standard input and output or over HTTP.
//
// It uses only the public API of package host, as a program that embeds the host does. Every
// call passes the host's checks: its arguments are held to the tool's schema by the host alone,
// and rules, hooks, judge and person decide as in any session. The person is asked through the
// client, by elicitation: in the revision 2025-11-25 by a request to it, in 2026-07-28 by a
// result of the type input_required, which the client answers with another request. The call
// goes on in the host meanwhile, so that nothing is done twice.
//
// A call that takes long becomes a task for clients of 2026-07-28 that know the Tasks extension
// ([TaskOptions]): it goes on without a request that waits for it.
//
// A [Server] serves one principal: the client at the other end of a pipe, or the holder of one token.
// It knows nothing of tokens, addresses or certificates.
package mcp
