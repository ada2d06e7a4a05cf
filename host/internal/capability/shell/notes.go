package shell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/sandbox"
)

// Words in the output of programs that a sandbox may have made fail: the system refused them
// something, they reached no host, no local service answered at its Unix socket, or git's
// settings were not changed.
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

// notes explain the end of the command.
func (a *account) notes() string {
	note := a.why.note
	if a.status.Err != nil {
		note = joined(note, "How it ended is not known for certain: "+a.status.Err.Error()+".")
	}
	if a.why.timedOut {
		note = joined(note, a.advise())
	}
	return joined(note, a.interrupted, a.made, a.blame(), a.missed())
}

// blame says how the sandbox may have made the command, or a part of it, fail. It is empty
// if nothing suggests that.
func (a *account) blame() string {
	if !a.held.sandboxed {
		return ""
	}
	return joined(deniedText(a.denied), a.suspect(), a.elsewhere())
}

// suspect guesses from the output what failed because of the sandbox. Hosts that were
// refused are known for certain, and are not guessed.
func (a *account) suspect() string {
	if a.said.has(gitSetting...) {
		return "The settings of a repository cannot be changed in a sandbox, as they name programs that git runs outside of it, too; what else the command did stands. The user can change them, or allow the command with " + leaveSandbox + "."
	}
	if a.status.Code == 0 {
		return ""
	}
	var missing, settings []string
	closed := a.closed()
	if closed == "" && a.said.has(a.held.refusals()...) {
		missing, settings = append(missing, a.held.writableText()), append(settings, "writable")
	}
	if a.said.has(offline...) && a.held.networkText() != "" && len(a.denied) == 0 {
		missing, settings = append(missing, a.held.networkText()), append(settings, "network")
	}
	services := !a.held.unixSockets && a.said.has(sockets...)
	if services {
		missing = append(missing, "where no Unix sockets work, by which Docker and many databases are reached")
	}
	if missing == nil {
		return closed
	}
	text := joined(closed, "It ran in a sandbox "+strings.Join(missing, ", and ")+"; that may be why it failed.")
	switch {
	case services:
		return text + " What needs them runs only outside of it, with " + leaveSandbox + "."
	case a.held.readOnly:
		return text
	}
	return text + " The user can open it with " + strings.Join(settings, " and ") + " under [sandbox] in the settings."
}

// leaveSandbox is the tools' parameter for running outside the sandbox.
const leaveSandbox = "dangerouslyDisableSandbox"

// deniedText says which hosts were refused, and how to allow them.
func deniedText(denied []denial) string {
	if len(denied) == 0 {
		return ""
	}
	var told []string
	for _, d := range denied {
		told = append(told, fmt.Sprintf("%s (%s)", d.host, d.why))
	}
	return "It ran in a sandbox from which only the hosts that rules allow can be reached, and was kept from " + strings.Join(told, ", ") +
		". The user can allow a host with a rule such as WebFetch(domain:" + denied[0].host + ")."
}

// missed says that processes were ended that the command had left behind. In a sandbox they
// end with it, and are not counted.
func (a *account) missed() string {
	text := ""
	if a.status.Left == 0 {
		if !a.held.sandboxed || !leavesJobs(&a.known) {
			return ""
		}
		text = "What it had started with & was ended with it, if it still ran."
	}
	if a.scope.Tasks != nil {
		return joined(text, "Use run_in_background for what is to go on.")
	}
	return text
}

// advise says how to give the command more time, once it was ended at its limit.
func (a *account) advise() string {
	longer, background := a.timeout() < a.setup.Time.Max, a.scope.Tasks != nil
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

// refusals are the words that tell of a failed write. A command that only reads may be
// denied other things.
func (h *confinement) refusals() []string {
	if h.readOnly {
		return []string{readOnlySystem}
	}
	return refusals
}

// writableText says where the command could write.
func (h *confinement) writableText() string {
	if h.readOnly {
		return "in which nothing can be written, as it was judged to read only"
	}
	temp := h.Temp
	if OwnTemp {
		temp = "/tmp, which is " + temp + ","
	}
	return "in which only " + strings.Join(h.Working, ", ") + " and " + temp + " can be written to"
}

// networkText says how the network was restricted; it is empty if it was not.
func (h *confinement) networkText() string {
	switch {
	case h.readOnly:
		return "without a network, as it was judged to read only"
	case h.network == sandbox.NetworkAll:
		return ""
	case h.network == sandbox.NetworkHosts:
		return "from which only the hosts that rules allow can be reached"
	}
	return "without a network"
}

// joined joins sentences, and skips empty ones.
func joined(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}
