// Package shell tests the tool Bash as a whole, the way a model's call takes it: through
// a host with its rules, its gate and its guest, to real processes in a real sandbox.
// It has no code but tests.
//
// There are three suites. The escapes are what commands try to get out of a sandbox, the
// survivors what they try to outlive their call, and the bombs what they try to take the
// machine with. Each runs as the user that there is and, where that is root and CI is set,
// once more as an ordinary one, with samples.
package shell
