// Package serve answers HTTP requests of clients that hold tokens. It knows HTTP and
// nothing of what is served: a program mounts a handler for each token at a path.
//
//	s, err := serve.New(serve.Options{
//		TokenFile: "tokens.toml",
//		Mounts:    map[string]serve.Mount{"/mcp": mount},
//	})
//	...
//	listener, err := net.Listen("tcp", "127.0.0.1:8484")
//	...
//	err = s.Serve(ctx, listener)
//
// Each request passes these checks before a handler sees it, and whatever fails gets an
// error as JSON that says what to do:
//
//  1. Its Host header names the address it came to, a name of the loopback, or one of
//     [Options.Hosts]. A page that rebinds a name of its own to this machine sends that name.
//  2. If a browser sent it, its origin is the server's own or one of [Options.Origins].
//  3. Its token is one of the file's, compared in constant time. On the loopback a server can
//     do without tokens.
//  4. It is within the bounds of [Limits].
//
// A handler sees the path below its mount point, and none of the headers that were checked:
// no token and no origin. The whole body is there when it begins.
// Handlers of one token are never called for another. A token that leaves the file, or is
// changed there, ends its requests and its handler.
//
// The server speaks HTTP/1.1, over TLS 1.2 or later where it has a certificate. It trusts no
// header of a proxy.
package serve
