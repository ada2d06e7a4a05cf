package shell

import (
	"bytes"
	"strings"

	"github.com/toolquay/toolquay/host/internal/sandbox"
)

// Words by which programs tell what a sandbox may have kept from them: that the system
// refused them something, that they reach no host, that a service of this machine did not
// answer at its Unix socket, and that git's settings were not changed.
const (
	readOnlySystem = "read-only file system"
	busy           = "device or resource busy"
)

var (
	refusals = []string{"permission denied", readOnlySystem, "operation not permitted", busy}
	offline  = []string{
		"network is unreachable", "could not resolve", "name resolution", "no such host", "name or service not known",
		"eai_again", "enotfound", // as Node says it
		"connection refused", "failed to connect", "couldn't connect", "could not connect", "no route to host", "proxy connect aborted", "403 forbidden",
	}
	sockets    = []string{"unix://", "dial unix", ".sock", "on socket", "create socket", "unix socket", "unix-domain socket", "unix domain socket"}
	gitSetting = []string{"could not write config file", "could not lock config file", "unable to write upstream branch configuration"}
)

// blame says what of a sandbox may be why the command failed, or a part of it; empty is
// nothing.
func (r *run) blame() string {
	if !r.p.confined() {
		return ""
	}
	return joined(r.launch.denied.text(), r.suspect(), r.elsewhere())
}

// suspect tells by the output what failed for the sandbox. What is known for certain, such
// as a host that was refused, is told otherwise.
func (r *run) suspect() string {
	said := string(bytes.ToLower(r.said()))
	if containsAny(said, gitSetting) {
		return "The settings of a repository cannot be changed in a sandbox, as they name programs that git runs outside of it, too; what else the command did stands. The user can change them, or allow the command with " + leave + "."
	}
	if r.status.Code == 0 {
		return ""
	}
	var missing, settings []string
	closed := r.closed()
	if closed == "" && r.mayNotWrite(said) {
		missing, settings = append(missing, r.writable()), append(settings, "writable")
	}
	if containsAny(said, offline) && r.network() != "" && r.launch.denied.none() {
		missing, settings = append(missing, r.network()), append(settings, "network")
	}
	services := !r.p.c.opts.UnixSockets && containsAny(said, sockets)
	if services {
		missing = append(missing, "where no Unix sockets work, by which Docker and many databases are reached")
	}
	if missing == nil {
		return closed
	}
	text := joined(closed, "It ran in a sandbox "+strings.Join(missing, ", and ")+"; that may be why it failed.")
	switch {
	case services:
		return text + " What needs them runs only outside of it, with " + leave + "."
	case r.p.readOnly():
		return text
	}
	return text + " The user can open it with " + strings.Join(settings, " and ") + " under [sandbox] in the settings."
}

// mayNotWrite reports whether an output tells of what could not be written. What a command
// that only reads is denied is something else.
func (r *run) mayNotWrite(said string) bool {
	if r.p.readOnly() {
		return strings.Contains(said, readOnlySystem)
	}
	return containsAny(said, refusals)
}

// leave is what the tools call the wish to run outside the sandbox.
const leave = "dangerouslyDisableSandbox"

// said is the end of the output.
func (r *run) said() []byte {
	const shown = 8 << 10
	head, tail := r.out.all.ends(shown)
	if tail == nil {
		return head
	}
	return tail
}

// missed says that processes were ended which the command had started to go on without
// it. In a sandbox they end with it uncounted.
func (r *run) missed() string {
	text := ""
	if r.status.Left == 0 {
		if !r.p.confined() || !leavesJobs(&r.p.command) {
			return ""
		}
		text = "What it had started with & was ended with it, if it still ran."
	}
	if r.scope.Tasks != nil {
		return joined(text, "Use run_in_background for what is to go on.")
	}
	return text
}

// advise says what would give a command more time that was ended at its limit.
func (r *run) advise() string {
	longer, background := r.p.timeout() < r.p.c.opts.Time.Max, r.scope.Tasks != nil
	switch {
	case longer && background:
		return "Give it a longer timeout, or run_in_background."
	case longer:
		return "Give it a longer timeout."
	case background:
		return "No timeout is longer here: use run_in_background."
	}
	return "No timeout is longer here."
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// writable says where the command could write.
func (r *run) writable() string {
	if r.p.readOnly() {
		return "in which nothing can be written, as it was judged to read only"
	}
	w := &r.launch.policy
	temp := w.Temp
	if ownTemp {
		temp = "/tmp, which is " + temp + ","
	}
	return "in which only " + strings.Join(w.Working, ", ") + " and " + temp + " can be written to"
}

// network says what of the network the command could not reach; empty is nothing.
func (r *run) network() string {
	switch {
	case r.p.readOnly():
		return "without a network, as it was judged to read only"
	case r.p.c.opts.Network == sandbox.NetworkAll:
		return ""
	case r.p.c.opts.Network == sandbox.NetworkHosts:
		return "from which only the hosts that rules allow can be reached"
	}
	return "without a network"
}

// joined are sentences, of which some may be empty.
func joined(sentences ...string) string {
	var said []string
	for _, s := range sentences {
		if s != "" {
			said = append(said, s)
		}
	}
	return strings.Join(said, " ")
}
