package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// counts is a server for python3 that answers each connection, once it says that no more comes,
// with a name and how much came.
const counts = `exec python3 -c '
import socket, socketserver
class H(socketserver.BaseRequestHandler):
    def handle(self):
        n = 0
        while d := self.request.recv(65536): n += len(d)
        self.request.sendall(b"%[1]s got %%d" %% n)
class S(socketserver.ThreadingTCPServer):
    address_family = socket.%[2]s
    request_queue_size = 128
S(("%[3]s", %[4]d), H).serve_forever()'`

// askedAt connects, sends some bytes and reads the answer.
func askedAt(ctx context.Context, addr string, bytesSent int) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	return asked(conn, bytesSent)
}

func asked(conn net.Conn, bytesSent int) (string, error) {
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(testenv.Patience)); err != nil {
		return "", err
	}
	if _, err := conn.Write(bytes.Repeat([]byte("x"), bytesSent)); err != nil {
		return "", err
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return "", err
	}
	said, err := io.ReadAll(conn)
	return string(said), err
}

// forwarding forwards a port until the test ends, and returns where it listens and what failed.
func forwarding(t *testing.T, dial func(ctx context.Context, port int) (net.Conn, error), port, most int) (addr string, failed func() []error) {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	var mu sync.Mutex
	var faults []error
	f := host.Forwarding{
		Dial: func(ctx context.Context) (net.Conn, error) { return dial(ctx, port) }, Connections: most,
		Failed: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			faults = append(faults, err)
		},
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Serve(ctx, ln) }()
	t.Cleanup(func() {
		end()
		must(t, <-done)
	})
	return ln.Addr().String(), func() []error {
		mu.Lock()
		defer mu.Unlock()
		return faults
	}
}

// TestForward reaches servers that commands of two sessions left in the background, from outside:
// by the session, and by its directory as another process does.
func TestForward(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	h := newShelled(t)
	const four, six, none = 8141, 8142, 8143
	names := []string{"one", "two"}
	var sessions []*host.Session
	for _, name := range names {
		s := session(t, h.Host, host.SessionOptions{ID: name})
		background(t, s, fmt.Sprintf(counts, name, "AF_INET", "127.0.0.1", four))
		background(t, s, fmt.Sprintf(counts, name+" by six", "AF_INET6", "::1", six))
		sessions = append(sessions, s)
	}
	for i, s := range sessions {
		for _, port := range []int{four, six} { // each begins when it gets the processor
			soon(t, "the server", func() bool {
				conn, err := s.Dial(t.Context(), port)
				if err == nil {
					_, err = asked(conn, 1)
				}
				return err == nil
			})
		}
		var remote *host.RemoteSession
		soon(t, "the way in", func() bool {
			var err error
			remote, err = host.ReachSession(t.Context(), s.Dir())
			return err == nil
		})
		t.Cleanup(func() { _ = remote.Close() })
		for how, dial := range map[string]func(ctx context.Context, port int) (net.Conn, error){"session": s.Dial, "directory": remote.Dial} {
			for port, want := range map[int]string{four: names[i], six: names[i] + " by six"} {
				addr, failed := forwarding(t, dial, port, 0)
				var all sync.WaitGroup
				for range 40 {
					all.Go(func() {
						if said, err := askedAt(t.Context(), addr, 100_000); said != want+" got 100000" {
							t.Errorf("by %s, port %d: got %q, %v; failed: %v", how, port, said, err, failed())
						}
					})
				}
				all.Wait()
			}
			addr, failed := forwarding(t, dial, none, 0)
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
			if err == nil {
				_, err = conn.Read(make([]byte, 1))
			}
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("where nothing listens: %v", err)
			}
			if got := failed(); len(got) != 1 || !errors.Is(got[0], syscall.ECONNREFUSED) {
				t.Errorf("where nothing listens: failed %v", got)
			}
		}
	}
	first, err := host.ReachSession(t.Context(), sessions[0].Dir())
	must(t, err)
	defer first.Close()
	must(t, sessions[0].Close(t.Context()))
	select {
	case <-first.Done():
	case <-time.After(testenv.Patience):
		t.Error("the end of the session is not told")
	}
	if _, err := sessions[0].Dial(t.Context(), four); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after the session: %v", err)
	}
	if _, err := host.ReachSession(t.Context(), sessions[0].Dir()); !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("by its directory after the session: %v", err)
	}
	conn, err := sessions[1].Dial(t.Context(), four)
	must(t, err)
	if said, err := asked(conn, 1); said != "two got 1" {
		t.Errorf("the other session: %q, %v", said, err)
	}
}

// TestForwardBounds has no more connections than are wanted reach a server.
func TestForwardBounds(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				n := now.Add(1)
				defer now.Add(-1)
				most.Store(max(most.Load(), n))
				time.Sleep(50 * time.Millisecond)
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	addr, _ := forwarding(t, func(ctx context.Context, _ int) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Addr().String())
	}, 0, 3)
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			if _, err := askedAt(t.Context(), addr, 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := most.Load(); got < 1 || got > 3 {
		t.Errorf("%d at once", got)
	}
}

// TestForwardNothing says why there is nothing to reach, to who asks the session and to who asks
// by its directory.
func TestForwardNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *host.SandboxOptions){
		"without a sandbox":        func(s *host.SandboxOptions) { s.Mode = host.SandboxOff },
		"have this machine's netw": func(s *host.SandboxOptions) { s.Network = host.NetworkAll },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session(t, newShelled(t, func(o *host.Options) { change(&o.Shell.Sandbox) }).Host, host.SessionOptions{ID: "one"})
			if _, err := s.Dial(t.Context(), 80); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("before the first command: %v", err)
			}
			background(t, s, "sleep 60")
			_, err := s.Dial(t.Context(), 80)
			if abi.CodeOf(err) != abi.CodeUnsupported || !strings.Contains(err.Error(), name) {
				t.Errorf("the session: %v", err)
			}
			soon(t, "the same by its directory", func() bool {
				_, err := host.ReachSession(t.Context(), s.Dir())
				return err != nil && strings.Contains(err.Error(), name)
			})
		})
	}
}

// TestForwardFromInside has a command, which may make Unix sockets, ask at the socket of its own
// session for a server of this machine, and put another socket in its place.
func TestForwardFromInside(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	outside, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	var came atomic.Int64
	go func() {
		for {
			conn, err := outside.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = outside.Close() })
	h := newShelled(t, func(o *host.Options) { o.Shell.Sandbox.UnixSockets = true })
	s := session(t, h.Host, host.SessionOptions{ID: "one"})
	background(t, s, "sleep 60")
	soon(t, "the way in", func() bool {
		remote, err := host.ReachSession(t.Context(), s.Dir())
		if err == nil {
			err = remote.Close()
		}
		return err == nil
	})
	got := told(t, s, fmt.Sprintf(`exec python3 -c '
import os, socket
path = "%s/reach/socket"
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    s.connect(path)
    print("greeted", s.recv(4096))
    s.send(b"%d")
    print("answered", s.recv(4096))
except OSError as e: print("connecting", e)
for f in (lambda: os.unlink(path), lambda: os.rename(path, path + "2")):
    try: f(); print("CHANGED")
    except OSError as e: print("changing", e)
'`, s.Dir(), outside.Addr().(*net.TCPAddr).Port))
	if came.Load() > 0 || strings.Contains(got, "CHANGED") || strings.Contains(got, "answered b'{}'") {
		t.Errorf("it reached %d times: %s", came.Load(), got)
	}
	t.Log(got)
}
