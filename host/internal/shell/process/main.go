package process

import (
	"os"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
)

// The one variable in a supervisor's environment says that it is one. The value is a
// protocol version and a random number: nobody sets it by accident. The name is an older
// one, for a supervisor can be another program than the host.
const (
	markerName  = "TOOLQUAY_KEEPER"
	markerValue = "1-c2b7e0941d5f48a3"
)

// mainCalled is set by Main.
var mainCalled atomic.Bool

// isSupervisor reports whether this process was started as a supervisor.
func isSupervisor() bool { return os.Getenv(markerName) == markerValue }

// Startable reports why no supervisor can be started by a command, or nil.
func Startable(command []string) error {
	switch {
	case isSupervisor():
		return abi.Errorf(abi.CodeUnsupported, "this process was started as a supervisor and starts none itself; its program must call host.Main first")
	case len(command) == 0 && !mainCalled.Load():
		return abi.Errorf(abi.CodeUnsupported, "host.Main was not called: started as a supervisor, this program would run as itself")
	}
	return nil
}
