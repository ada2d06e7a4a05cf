// Package egress is the one way by which the host reaches the network over HTTP: it
// judges where a connection leads before it is opened.
//
// A connection is judged in four steps (admit.go). The host is read as
// permissions.HostOf reads it, so that a rule and the dialer never understand two hosts
// by one text. Allow is asked. The name is resolved, once, and each address is judged
// again, since any name may resolve to this machine. The addresses that were judged are
// then dialled, without a second look-up. The proxy of the commands' sandbox judges by the
// same steps.
//
// Local destinations (this machine, private, link-local and carriers' networks, metadata
// services, multicast, tunnels such as 6to4 and Teredo) are refused unless they are
// named: by a rule ([Options.Named]), or by a URL of the settings whose spelling is
// local ([Options.Configured]).
//
// [Dialer.Client] judges each request and each redirect too. Nothing is taken from the
// environment: no proxy, no credentials, no cookies, no netrc file.
//
// With [Options.Proxy] set, the proxy looks the names up, since often nothing else can.
// The name is judged as before, its addresses are not: CONNECT names the judged
// spelling, for http as for https. Hosts whose spelling is local are dialled without the
// proxy, since they would mean the proxy's own network there.
package egress
