package sandbox

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// profileBase is what every command on macOS needs: programs, its own processes, and
// the services without which the system's libraries do not start.
const profileBase = `(version 1)
(deny default)
(allow process-exec process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.bsd.dirhelper"))
(allow ipc-posix-sem)
(allow ipc-posix-shm-read* (ipc-posix-name "apple.shm.notification_center"))
(allow pseudo-tty)
(allow file-map-executable)
(allow file-write-data file-ioctl
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper") (regex #"^/dev/fd/[0-2]$"))
`

// profileView is what is in sight where that is told: the names and the times of all files,
// which looking up a path takes, and devices.
const profileView = `(allow file-read-metadata)
(allow file-read*
  (literal "/") (literal "/dev") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom")
  (literal "/dev/tty") (literal "/dev/dtracehelper") (literal "/dev/autofs_nowait") (subpath "/dev/fd"))
`

// dataVolume is where everything lies once more on macOS.
const dataVolume = "/System/Volumes/Data"

// Profile is a specification for sandbox-exec (seatbelt), where of several rules the
// last that matches holds. The paths are to be resolved: a profile matches the paths
// that files have without links.
//
// Names there hold whether the files are there or not, in any case and form of Unicode, and
// folders on the way to a hidden or protected name cannot be renamed. Temp is at its own path
// alone, for nothing can be mounted; Bind is for what is read and written at its own path too.
func Profile(spec Spec) string {
	var b strings.Builder
	b.WriteString(profileBase)
	if len(spec.Visible) == 0 {
		b.WriteString("(allow file-read*)\n")
	} else {
		b.WriteString(profileView)
	}
	rules := profileRules(spec)
	for _, r := range rules {
		fmt.Fprintf(&b, "(%s (subpath %s))\n", r.verb, quote(r.path))
		if r.deny {
			fmt.Fprintf(&b, "(%s (regex %s))\n", r.verb, quote(folded(r.path)+"(/.*)?$"))
		}
	}
	for _, dir := range profilePins(rules) {
		fmt.Fprintf(&b, "(deny file-write-unlink (regex %s))\n", quote(folded(dir)+"$"))
	}
	switch spec.network() {
	case NetworkAll:
		b.WriteString("(allow network-outbound (remote ip))\n(allow network-inbound network-bind (local ip))\n" +
			"(allow system-socket)\n(allow mach-lookup (global-name \"com.apple.SystemConfiguration.configd\")" +
			" (global-name \"com.apple.trustd.agent\"))\n" +
			"(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n")
	case NetworkHosts:
		fmt.Fprintf(&b, "(allow network-outbound (remote ip \"localhost:%d\"))\n", spec.ProxyPort)
	}
	if spec.UnixSockets {
		b.WriteString("(allow network-bind network-inbound (local unix-socket))\n(allow network-outbound (remote unix-socket))\n")
	}
	return b.String()
}

// profileRule says something about a path and what lies below.
type profileRule struct {
	verb, path string
	rank       int
	deny       bool
}

// profileRules are a specification's, so that the rule which should hold comes last:
// outer paths before inner ones, and for one path hidden after protected after
// writable.
func profileRules(spec Spec) []profileRule {
	var rules []profileRule
	add := func(rank int, deny bool, verb string, paths ...string) {
		for _, p := range paths {
			rules = append(rules, profileRule{verb: verb, path: path.Clean(p), rank: rank, deny: deny})
		}
	}
	const nothing = "deny file-read* file-write* process-exec"
	add(2, true, nothing, spec.Hidden...)
	if len(spec.Visible) > 0 {
		add(0, false, "allow file-read*", spec.Visible...)
		add(2, true, nothing, dataVolume)
	}
	for _, bind := range spec.Bind {
		add(0, false, "allow file-read*", bind.Source)
		if bind.FIFO || bind.Writable && !spec.ReadOnly {
			add(0, false, "allow file-write*", bind.Source)
		}
	}
	const open = "allow file-read* file-write* process-exec"
	if spec.ReadOnly {
		add(0, false, "allow file-read* process-exec", spec.Writable...)
		if spec.Temp != "" {
			add(0, false, "allow file-read* process-exec", spec.Temp)
		}
	} else {
		add(0, false, open, spec.Writable...)
		if spec.Temp != "" {
			add(0, false, open, spec.Temp)
		}
		add(1, true, "deny file-write*", spec.protected()...)
	}
	slices.SortStableFunc(rules, func(a, b profileRule) int {
		return cmp.Or(cmp.Compare(profileOrder(a.path), profileOrder(b.path)), cmp.Compare(a.rank, b.rank), cmp.Compare(a.verb, b.verb))
	})
	return slices.Compact(rules)
}

func profileOrder(p string) string { return strings.ReplaceAll(p, "/", "\x00") }

// profilePins are the folders above what is denied: one that is renamed would take
// what is in it to a path that no rule names.
func profilePins(rules []profileRule) []string {
	var dirs []string
	for _, r := range rules {
		if !r.deny {
			continue
		}
		for dir := path.Dir(r.path); dir != "/" && dir != "."; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// quote writes a string as profiles have them.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
