package config_test

import (
	"os"
	"testing"

	"github.com/toolquay/toolquay/host"
)

func TestMain(m *testing.M) {
	host.Main() // hosts with a shell require it
	os.Exit(m.Run())
}
