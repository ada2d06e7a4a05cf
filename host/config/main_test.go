package config_test

import (
	"os"
	"testing"

	"github.com/toolquay/toolquay/host"
)

func TestMain(m *testing.M) {
	host.Main() // hosts with a shell require it
	if os.Getenv(childFile) != "" {
		setsAsChild()
		return
	}
	os.Exit(m.Run())
}
