// Package mcpservers drives other people's MCP servers by toolquay call and toolquay run under
// rules: the reference servers for files, git, fetching and everything there is, from the
// registries of Node and Python, and the examples of the SDK for Go. It has no code but tests.
//
// Calls that rules allow are answered, and those that they deny, or that nobody can be asked for,
// are not sent. What a program was not allowed, the kernel refuses.
//
// The test installs what it needs, as the files of testdata pin it, and runs where
// TOOLQUAY_MCP_SERVERS is set:
//
//	TOOLQUAY_MCP_SERVERS=1 go test -v ./internal/test/e2e/mcpservers
package mcpservers
