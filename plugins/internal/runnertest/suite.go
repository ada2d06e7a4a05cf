// Package runnertest is what every runner of plugins must do, as tests: one
// suite, run over each of them, so that a plugin behaves the same wherever it
// runs.
//
// A runner brings guests, one for each behaviour, by these names. Their tool is
// [ToolName], its export, where the ABI has tools as exports, named as the guest.
//
//	ok               answers "ok"
//	echo             answers its input
//	counter          counts the calls that it remembers, and answers the number
//	grow             grows its memory to the end; answers one character a page
//	spin             never ends
//	start_spin       never ends in its start function
//	initialize_spin  never ends in its _initialize
//	trap             traps
//	trap_start       traps in its start function
//	exit_zero        exits with code 0 in the middle of a call
//	log_flood        logs "still here" a million times, at the level info, then
//	                 answers "ok"
//	pass_through     makes one capability call and answers with the answer's body,
//	                 unread where the ABI can
//	pass_mixed       does so with "<" before the body and ">" behind it, and answers
//	                 ">" in another block
//	pass_two         makes two capability calls and answers with the body of each, in
//	                 a block of its own
//	report_output    reports "one\ntwo\n" as put out, with the message "building", then
//	                 "three\x1b[0m\n", and answers "ok"
//	report_flood     reports progress a million times, with the number of the report in
//	                 seven digits as its message, then answers "ok"; after the first
//	                 half it makes a capability call and waits for the answer
//	report_ask       reports 0.5 of 1 as done, and then is as pass_through
//	read_answer      makes one capability call, reads the whole answer and answers
//	                 with its message; traps where reading fails
//	drain            makes one capability call, reads the whole answer in pieces,
//	                 keeps none of it, and answers "ok"
//	submit_flood     makes 20,000 capability calls and reads no answer
//	submit_endless   makes capability calls for ever
//	dirty            traps where its memory is not clean, makes a capability call,
//	                 and fills all its memory
//	request_at_start makes a capability call in its start function
//	assess           answers a question: read-only, and invalid with the code 7
//	assess_touches   answers a question: the call reads a and writes /b
//	assess_spin      never ends in its assess
//
// Capability calls are of test.echo with the arguments {"n":1}. The module of ok
// ends in a data section of more than 20 bytes.
package runnertest

import (
	"maps"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// Suite says what is tested.
type Suite struct {
	// New makes a runner as it is meant to be used. The suite closes it.
	New func(tb testing.TB) plugins.Runner
	// Guest returns the module of a behaviour.
	Guest func(tb testing.TB, name string) []byte
	// BadCalls are more guests that break a call, as only their ABI lets them, by
	// name.
	BadCalls map[string]BadCall
	// Without names the tests that do not apply, and says why.
	Without map[string]string

	// Told, if not nil, is for an ABI whose guests read every answer before they
	// hand it on: it returns the failure of a capability call that a guest was told
	// of and handed on in its result, nil where it did not.
	Told func(abi.ToolResult) error
	// ClosingEndsCalls says that closing an instance cancels the calls under way.
	// Else they come to their end.
	ClosingEndsCalls bool
}

// Run runs every test of the suite, but for those that do not apply.
func Run(t *testing.T, s Suite) {
	t.Helper()
	unknown := maps.Clone(s.Without)
	for _, test := range tests {
		if reason, ok := s.Without[test.name]; ok {
			delete(unknown, test.name)
			t.Logf("without %q: %s", test.name, reason)
			continue
		}
		t.Run(test.name, func(t *testing.T) { test.run(t, &s) })
	}
	for name := range unknown {
		t.Errorf("there is no test %q to go without", name)
	}
}

// BadCall is how the call of a bad guest fails.
type BadCall struct {
	Code abi.Code
	Says []string
}

var tests = []struct {
	name string
	run  func(*testing.T, *Suite)
}{
	{"echo", testEcho},
	{"bad calls", testBadCalls},
	{"unloadable", testUnloadable},
	{"memory is clean", testCleanMemory},
	{"memory limit", testMemoryLimit},
	{"recycled memory is clean", testRecycledMemory},
	{"capability answers", testAnswers},
	{"refused capability", testRefused},
	{"panicking answers", testPanickingAnswers},
	{"panic in encoding lets go of the body", testPanicInEncoding},
	{"panic in closing an answer", testPanicInClosing},
	{"capability that ends its goroutine", testGoexit},
	{"oversized answer", testOversized},
	{"error with the last bytes", testErrorWithLastBytes},
	{"error of no code with the last bytes", testUncodedError},
	{"large body in little memory", testLargeBody},
	{"body that nobody reads", testUnreadBody},
	{"long text is spilled", testSpilled},
	{"failing spill", testSpillFails},
	{"cancelled spill", testSpillCancelled},
	{"long text in little memory", testSpillMemory},
	{"slow capability", testSlowCapability},
	{"blocked capability", testBlockedCapability},
	{"deaf capability", testDeafCapability},
	{"blocked body", testBlockedBody},
	{"body that ends with its call", testEndingBody},
	{"unread answers are few", testUnreadAnswers},
	{"endless capability calls", testEndlessCalls},
	{"cancelled call", testCancelled},
	{"call past its deadline", testDeadline},
	{"log flood", testLogFlood},
	{"output while it runs", testOutput},
	{"progress flood", testProgressFlood},
	{"progress comes at once", testProgressAtOnce},
	{"parallel calls", testParallel},
	{"nested call", testNested},
	{"start function serves no call", testStartServesNoCall},
	{"assess", testAssess},
	{"no assess", testNoAssess},
	{"kept instance", testKept},
	{"kept instance is lost on a trap", testKeptTrap},
	{"kept instance refuses re-entry", testKeptReentry},
	{"closing under a call", testClosing},
	{"nothing leaks", testNothingLeaks},
}
