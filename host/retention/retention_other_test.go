//go:build !unix

package retention_test

const childEnv, childDir = "TOOLQUAY_TEST_RETENTION_CHILD", "TOOLQUAY_TEST_RETENTION_DIR"

var children map[string]func(dir string)
