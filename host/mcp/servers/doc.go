// Package servers is the client of other people's MCP servers: it runs or reaches them, and
// offers their tools and resources in a [host.Host], behind its rules.
//
// A [Set] has the servers of one host. Each is connected in the background, so that opening a
// set delays nothing; when a server has told its tools, the host offers them from the next turn
// on, as mcp__SERVER__TOOL. Both revisions are spoken, 2025-11-25 and 2026-07-28.
//
// # What a server is trusted with
//
//   - Nothing that it says of itself. Each call of its tools asks, unless a rule on the server
//     or the tool allows it. Its annotations schedule calls only with [Config].TrustAnnotations.
//   - A program of its own ([Config].Command) runs contained, as [host.Host.StartProgram] says,
//     with the files and hosts that its configuration names, and no others.
//   - A server over HTTP is reached as [host.Host.HTTPClient] says.
//   - The definition of each tool is pinned when it is first seen. If it changes, the next call
//     asks again, whatever the rules allow, and says what changed.
//   - What it asks a person (elicitation) is shown as its question. It cannot sample the model.
//
// # Resources
//
// While a connected server has resources, the tools ListMcpResources and ReadMcpResource are
// offered. Listing is a look at the session, and not asked about; servers that a rule denies as a
// whole are left out. Reading is judged as a call of the server's, by rules on the server or on
// ReadMcpResource. Texts and images are shown, and what is neither is saved in the session's
// directory. Lists are asked for anew each time, and so are always what the server has.
//
// # Editors
//
// A server named ide is the user's editor. Its tools are offered last. If it has the tool
// getDiagnostics, which takes the uri of a file and answers with a text of JSON
//
//	[{"uri": "file:///...", "diagnostics": [{"message": "...", "severity": "Error", "source": "...",
//	  "range": {"start": {"line": 0, "character": 0}}}]}]
//
// it is asked before and after Write, Edit and NotebookEdit, and what the edit brought is noted
// behind the result: ten at most, errors first. The edit waits two seconds for that at most, and
// what fails is in the log alone.
//
// # How it goes on
//
// A connection that fails is replaced by another one, after a time that doubles from one second to
// five minutes; a call that it took down is not repeated. What a server writes to its standard
// error goes to the log.
package servers
