//go:build amd64 || arm64

package shell_test

import (
	"os"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/test/place"
	"github.com/toolquay/toolquay/internal/testenv"
)

// secret is in the environment of the host and must be in no command's.
const (
	secretName  = "TOOLQUAY_E2E_SECRET"
	secretValue = "4711-do-not-pass-on"
)

// stateName is the variable that makes the test binary a host that is to be killed.
const stateName = "TOOLQUAY_E2E_HOST"

func TestMain(m *testing.M) {
	host.Main() // returns, unless this process was started as a supervisor
	switch state := os.Getenv(stateName); state {
	case "":
	case once:
		runOnce()
	case undoing:
		runUndoing()
	default:
		crash(state)
	}
	if err := os.Setenv(secretName, secretValue); err != nil {
		panic(err)
	}
	place.Main()
	testenv.Waiting()
	m.Run()
}
