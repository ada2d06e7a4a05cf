package proxy

import (
	"net"
	"os"
	"time"

	"github.com/toolquay/toolquay/internal/relay"
)

// relayTo carries the connections of a listener to a Unix socket, until the listener
// is closed. The proxy behind the socket has the limits; a connection that waits
// there waits here too.
func relayTo(ln net.Listener, socket string) {
	const pause = 50 * time.Millisecond
	for {
		down, err := ln.Accept()
		switch {
		case err == nil:
			go carry(down, socket)
		case passes(err):
			time.Sleep(pause)
		default:
			return
		}
	}
}

// carry joins one connection with the socket until both sides are done.
func carry(down net.Conn, socket string) {
	defer down.Close()
	up, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer up.Close()
	relay.Join(up, down)
}

// environment is what Bridge starts from.
func environment(addr string) []string { return Environment(os.Environ(), addr) }
