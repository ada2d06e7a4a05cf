package shell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// Words in the output of programs that a sandbox may have made fail: the system refused them
// something, they reached no host, or no local service answered at its Unix socket.
const (
	readOnlySystem = "read-only file system"
	busy           = "device or resource busy"
)

var (
	refusals = []string{"permission denied", readOnlySystem, "operation not permitted", busy}
	offline  = []string{
		"network is unreachable", "could not resolve", "name resolution", "no such host", "name or service not known",
		"eai_again", "enotfound", // as Node says it
		"address family not supported", "connection refused", "failed to connect", "couldn't connect", "could not connect", "no route to host", "proxy connect aborted", "403 forbidden",
	}
	// A name in .sock ends there: self.socket is none.
	sockets = []string{"unix://", "dial unix", ".sock'", ".sock\"", ".sock)", ".sock:", ".sock ", ".sock,", ".sock\n", "on socket", "create socket", "unix socket", "unix-domain socket", "unix domain socket"}
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
	return joined(note, a.interrupted, a.made, a.lacks, a.identity(), a.missed(), a.blame())
}

// blame says how the sandbox may have made the command, or a part of it, fail, and what would
// open it. It is empty if nothing suggests that.
func (a *account) blame() string {
	if !a.held.held() {
		return ""
	}
	var h hints
	said := joined(a.keptFrom(&h), a.around(), a.suspect(&h))
	if a.mayLeave(said) {
		return joined(said, a.elsewhere(), "The settings let this command run outside the sandbox: call it with "+leaveSandbox+" = true.")
	}
	return joined(said, a.elsewhere(), h.text(a.setup.SettingsFile))
}

// mayLeave reports whether a command that failed, or was kept from something, may leave the
// sandbox by the settings.
func (a *account) mayLeave(kept string) bool {
	return (kept != "" || a.status.Code != 0) && !a.isPowerShell() && a.scope.Shell.RunsOutside(&a.known)
}

// suspect guesses from the output what failed because of the sandbox. Hosts that were
// refused are known for certain, and are not guessed.
func (a *account) suspect(h *hints) string {
	if text := a.settings(); text != "" {
		return text
	}
	if a.status.Code == 0 {
		return ""
	}
	closed := a.closed()
	missing := a.missing(closed, h)
	services := !a.held.unixSockets && a.said.has(sockets...)
	if services {
		missing = append(missing, "where no Unix sockets work, by which Docker and many databases are reached")
	}
	if missing == nil {
		return closed
	}
	text := joined(closed, "It ran in "+a.held.kind()+" "+strings.Join(missing, ", and ")+"; that may be why it failed.")
	if services {
		*h = hints{}
		return text + " What needs them runs only outside of it, with " + leaveSandbox + "."
	}
	return text
}

// missing says what the output suggests the command lacked, unless it is known to be a closed
// path, and adds what would open it.
func (a *account) missing(closed string, h *hints) (missing []string) {
	if closed == "" && a.said.has(a.held.refusals()...) {
		missing = append(missing, a.held.writableText())
		if !a.held.readOnly {
			h.addWritable(a.said.paths(refusals...), a.held, a.home())
		}
	}
	if text := a.held.networkText(); text != "" && a.said.has(offline...) && len(a.denied) == 0 {
		missing = append(missing, text)
		h.network = !a.held.readOnly && a.held.network != sandbox.NetworkHosts
	}
	return missing
}

// leaveSandbox is the tools' parameter for running outside the sandbox.
const leaveSandbox = "dangerouslyDisableSandbox"

// keptFrom says which hosts the command was refused, and adds what would open them.
func (a *account) keptFrom(h *hints) string {
	if len(a.denied) == 0 {
		return ""
	}
	var told []string
	for _, d := range a.denied {
		told = append(told, fmt.Sprintf("%s (%s)", d.host, d.why))
	}
	for _, host := range a.refused {
		h.addRule(host)
	}
	h.network = len(a.refused) > 0 && a.held.network != sandbox.NetworkHosts
	return "It ran in a sandbox, which kept it from " + strings.Join(told, ", ") + "."
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

// changedText says which protected paths were made and undone, and which could be changed.
func changedText(undone []sandbox.Undone, replaced []string) string {
	const most = 10
	var made []string
	for _, u := range undone {
		made = append(made, u.Path+" (now "+u.Kept+")")
	}
	text := ""
	if len(made) > 0 {
		text = "Undone: " + strings.Join(made[:min(len(made), most)], ", ") + ". Neither commands nor other programs make that while a command runs, as programs outside the sandbox run or believe what is in it. Edit and Write can, and ask the user."
	}
	if len(replaced) > 0 {
		text = joined(text, "Another program replaced or moved "+strings.Join(replaced[:min(len(replaced), most)], ", ")+" while the command ran, which could have read or changed what lies there now: tell the user.")
	}
	return text
}

// advise says how to give the command more time, once it was ended at its limit.
func (a *account) advise() string {
	longer, background := a.timeout() < a.times.Max, a.scope.Tasks != nil
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
	if h.readOnly && !h.partial {
		return []string{readOnlySystem}
	}
	return refusals
}

// kind says what kind of sandbox it is.
func (h *confinement) kind() string {
	if h.partial {
		return "a partial sandbox"
	}
	return "a sandbox"
}

// writableText says where the command could write.
func (h *confinement) writableText() string {
	if h.readOnly {
		return "in which nothing can be written, as it was judged to read only"
	}
	temp := h.Temp
	switch {
	case h.partial:
		temp += ", /tmp, /var/tmp"
	case OwnTemp:
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
