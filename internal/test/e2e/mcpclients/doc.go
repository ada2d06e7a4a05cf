// Package mcpclients has real clients of MCP, each with a real session against toolquay mcp over
// standard input and output: FastMCP's client, Pydantic AI, the OpenAI Agents SDK, LangChain's
// adapters, the AI SDK and the Inspector's command line. The agents among them have a scripted
// model. It has no code but tests.
//
// Each session lists the tools, reads a file, makes three calls at once, is denied a write by a
// rule, has another approved where the client can ask its person, gives up a call, and connects
// a second time.
//
// The test installs what it needs from the registries of Python and Node, as the files of
// testdata pin it, and runs where TOOLQUAY_MCP_CLIENTS is set:
//
//	TOOLQUAY_MCP_CLIENTS=1 go test -v ./internal/test/e2e/mcpclients
package mcpclients
