// Package lines answers questions to the permission chain that machines put as
// JSON Lines: one object a line, one answer a line, in order. It looks at no
// file and runs nothing: paths are taken by name, as if no link were on the way.
//
// [Test] judges tool calls by rules that come with them:
//
//	{"rules":{"deny":["Bash(rm *)"]},"tool":"Bash","input":{"command":"rm x"}}
//	{"verdict":"deny","layer":"rule","rule":"Bash(rm *)","source":"project","reason":"..."}
//
// [Classify] says what shell commands would do:
//
//	{"command":"git status"}
//	{"read_only":true,"reason":"...","accesses":[...]}
//
// A line that cannot be read has an answer like any other, in its place:
//
//	{"error":"line 3: ..."}
package lines
