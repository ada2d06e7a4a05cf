//go:build !unix

package hooks

import (
	"os"
	"syscall"
)

// ownGroup asks for nothing: there are no process groups.
func ownGroup() *syscall.SysProcAttr { return nil }

// killGroup kills the command alone. What it started goes on; its pipes are not
// waited for.
func killGroup(p *os.Process) error { return p.Kill() }
