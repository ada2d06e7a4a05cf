// Package proxy lets commands without a network of their own reach the hosts that
// rules allow, and no others.
//
// Serve answers on a Unix socket outside the sandbox, as an HTTP proxy (CONNECT
// and absolute URLs) and as a SOCKS5 one, told apart by the first byte. Bridge
// stands inside, in a network namespace that has nothing but its loopback: it
// listens there, carries every connection to the socket, and runs the command with
// the variables set that name it as the proxy.
//
// A connection is admitted by package egress: what it judged, by the spelling, the rules
// and the addresses of a look-up, is what is dialled.
//
// A tunnel that begins with TLS must ask for the host that it was opened to: a
// front that serves many hosts at one address would else reach those that no rule
// allows. TLS that names no host is let through: the address is one that the allowed
// name was resolved to, and no other host there can be asked for but by what is inside
// the encryption. That stays unseen, an encrypted ClientHello too, whether or not a host
// was named before.
package proxy
