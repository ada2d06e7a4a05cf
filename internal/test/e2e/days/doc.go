// Package days has whole days of a coding agent: four projects, each from a clone to
// commits pushed, through toolquay run --stream, in the mode acceptEdits, in the sandbox,
// with a deny rule on .env, an allow rule on one host and none on commands. It has no code
// but tests.
//
// A day is a file of testdata: the files of the project, and steps with what they are
// expected to say. Registries and the remote are served by the test, so nothing comes from
// outside. The same steps run by bash alone are what the seconds are compared with.
//
// TestStagedDays also spends them, up to the push, in sessions whose writes are staged. Applied
// all at once, the writes leave the same tree.
//
// The tests run where TOOLQUAY_DAYS is set:
//
//	TOOLQUAY_DAYS=1 go test -v ./internal/test/e2e/days
package days
