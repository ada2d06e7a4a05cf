package permissions

import "github.com/toolquay/toolquay/permissions/internal/hosts"

// Host is the host that a URL or an address names, as a dialler reads it. Name is empty
// where Odd says why readers of the URL may disagree; no rule allows such a host. Local
// marks this machine, private and link-local networks, and metadata services.
type Host = hosts.Host

// HostOf reads a URL, or a host with or without a port. Only http and https URLs name a
// host for sure, without user information, backslashes or encoded characters before the
// path, in ASCII (write xn-- for others), and addresses in their usual form.
func HostOf(target string) Host { return hosts.Of(target) }
