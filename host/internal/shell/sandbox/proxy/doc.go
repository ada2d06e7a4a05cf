// Package proxy lets commands without a network of their own reach the hosts that
// rules allow, and no others.
//
// Serve answers on a Unix socket outside the sandbox, as an HTTP proxy (CONNECT
// and absolute URLs) and as a SOCKS5 one, told apart by the first byte. Bridge
// stands inside, in a network namespace that has nothing but its loopback: it
// listens there, carries every connection to the socket, and runs the command with
// the variables set that name it as the proxy.
//
// A connection is admitted in four steps, and the order matters (admit.go). The
// host is read as permissions.HostOf reads it, so that a rule and the dialler never
// mean different hosts by one text. Then the rules are asked. Then the name is
// resolved, once; what comes out is checked again, because any name may resolve to
// this machine. And what was checked is what is dialled: no second look-up that
// could answer otherwise.
//
// A tunnel that begins with TLS must ask for the host that it was opened to: a
// front that serves many hosts at one address would else reach those that no rule
// allows. TLS that names no host is let through: the address is one that the allowed
// name was resolved to, and no other host there can be asked for but by what is inside
// the encryption. That stays unseen, an encrypted ClientHello too, whether or not a host
// was named before.
package proxy
