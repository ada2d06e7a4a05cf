//go:build !unix

package audit_test

const childEnv, childDir = "TOOLQUAY_TEST_AUDIT_CHILD", "TOOLQUAY_TEST_AUDIT_DIR"

// children is empty: the tests that need other processes are for Unix.
var children map[string]func(dir string)
