//go:build !unix

package config_test

const childFile = "TOOLQUAY_TEST_OWN_FILE"

func setsAsChild() {}
