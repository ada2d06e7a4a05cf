// Package relay joins two connections, so that what comes on either goes out on the other.
package relay

import (
	"io"
	"net"
	"sync"
)

// Join carries bytes both ways until both sides are done, or one of them fails. A side that
// says that nothing more comes may still read. The caller closes both.
func Join(a, b net.Conn) {
	var both sync.WaitGroup
	for _, way := range [2][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			to, from := way[0], way[1]
			_, err := io.Copy(to, from)
			if err == nil {
				err = CloseWrite(to)
			}
			if err != nil {
				_ = to.Close()
				_ = from.Close()
			}
		})
	}
	both.Wait()
}

// CloseWrite tells the other side that nothing more comes, or closes a connection that has no
// way to.
func CloseWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
