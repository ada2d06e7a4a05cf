// Package forward reaches the network that the commands of a session share, from outside of it.
//
//	f := forward.Forwarding{Dial: func(ctx context.Context) (net.Conn, error) { ... }}
//	err := f.Serve(ctx, listener) // whoever connects to the listener is connected by Dial
//
// A session that goes on in another process is reached over a socket in its directory:
//
//	server, err := forward.Listen(dir, dial)  // in the process that has the session
//	remote, err := forward.Open(ctx, dir)     // in another one of the same user
//	conn, err := remote.Dial(ctx, 3000)
//
// Over the socket whoever connects names a port, and gets a connection to it, as a descriptor:
// what goes over the connection does not pass through the host. Nothing can be asked for but
// ports inside, so that a command that got hold of the socket could reach what it reaches anyway.
// It is the asking process that listens on the machine, not the host.
package forward
