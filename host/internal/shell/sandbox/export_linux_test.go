//go:build amd64 || arm64

package sandbox

import (
	"context"

	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// Machine is what a failed probe is explained with.
type Machine = machine

// MaxWaiting is how many processes wait at most.
const MaxWaiting = maxWaiting

// What the tests of the probe call.
var (
	Diagnose     = diagnose
	ParseVersion = parseVersion
	Receive      = receive
)

// NewMachine is one with nothing wrong but what is said.
func NewMachine(namespaces, clone, apparmor string, seccomp, container bool) Machine {
	return machine{namespaces: namespaces, clone: clone, apparmor: apparmor, seccomp: seccomp, container: container}
}

// WithoutUsers makes a sandbox do without user namespaces, as root does where there
// are none.
func (s *Sandbox) WithoutUsers(ctx context.Context) error {
	if s.own == nil {
		s.features.users, s.features.noUsers = false, false
		return nil
	}
	n, err := newNamespace(ctx, s.own.options.Supervisors, false)
	if err == nil {
		s.own.common, n = n, s.own.common
		err = n.Close()
	}
	return err
}

// ShareNothing leaves commands without a sandbox no directories that they share with others.
func (s *Sandbox) ShareNothing() { s.partial.shared = nil }

// Landlock is the version of Landlock that commands without a sandbox are held by, and
// SetLandlock has them held by an older one.
func (s *Sandbox) Landlock() int           { return int(s.partial.landlock) }
func (s *Sandbox) SetLandlock(version int) { s.partial.landlock = landlockABI(version) }

// Waiting are the processes that wait for commands which share a namespace; nil is that of the
// commands without a session.
func (s *Sandbox) Waiting(n *Namespace) (list []*process.Process) {
	if n == nil {
		n = s.own.common
	}
	n.templates.mu.Lock()
	defer n.templates.mu.Unlock()
	for _, one := range n.templates.list {
		if one.next != nil {
			list = append(list, one.next.process)
		}
	}
	return list
}

// Spoil has no more copies of a namespace's mounts be made.
func (n *Namespace) Spoil() {
	n.templates.mu.Lock()
	defer n.templates.mu.Unlock()
	for _, one := range n.templates.list {
		_ = one.mounts.Close()
	}
}

// Templates counts what commands without a session share of their mounts.
func (s *Sandbox) Templates() int {
	t := &s.own.common.templates
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.list)
}

// Common is the namespace of commands without a session.
func (s *Sandbox) Common() *Namespace { return s.own.common }
