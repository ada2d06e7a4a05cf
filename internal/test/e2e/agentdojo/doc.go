// Package agentdojo has the tasks of AgentDojo done through toolquay mcp, without a model. The
// tools of its four suites are an MCP server each (testdata/serve.py), which Toolquay starts in
// its sandbox and offers to a client (testdata/drive.py) under rules. It has no code but tests.
//
// The calls are those which the suites give as the right ones: of 97 tasks of users, and of the
// tasks which attackers inject into what the tools return. Rules allow the tools that user tasks
// need, and no others. The suites' own checks tell which tasks were done. All those of users have
// to be; which of the injected calls were stopped is a table in docs/benchmarks.md, which has to
// be as measured (-update writes it).
//
// The test installs what it needs from the registry of Python, as testdata/packages.txt pins it,
// and runs where TOOLQUAY_AGENTDOJO is set:
//
//	TOOLQUAY_AGENTDOJO=1 go test -v ./internal/test/e2e/agentdojo
package agentdojo
