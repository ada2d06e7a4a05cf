//go:build unix

package hooks

import (
	"errors"
	"os"
	"syscall"
)

// ownGroup puts a command into a session of its own: it can be killed with all it
// started, and neither reads from the user's terminal nor gets its signals.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// killGroup kills a command and all of its group.
func killGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
