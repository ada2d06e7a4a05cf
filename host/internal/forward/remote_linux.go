package forward

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// socketName is the socket's in its directory.
const socketName = "socket"

const (
	// clients is how many others may be connected to a session at once; more wait.
	clients = 128
	// answering is how long one of them may take to read an answer.
	answering = 5 * time.Second
	// maxAnswer bounds one, in bytes.
	maxAnswer = 4 << 10
)

// answer is what a session says: once to whoever connects, with port 0, and to each port.
type answer struct {
	// Error is why there is no connection; empty where there is one.
	Error string `json:"error,omitempty"`
	// Refused says that nothing listens there.
	Refused bool `json:"refused,omitempty"`
}

// at is the address of a socket in an open directory, whose path may be too long for one.
func at(dir *os.File) *net.UnixAddr {
	return &net.UnixAddr{Net: "unixpacket", Name: fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socketName)}
}

// Server lets other processes of this user reach a session.
type Server struct {
	end  context.CancelFunc
	done chan error
}

// Listen has others reach a session at a socket in a directory that is the user's own. A socket
// that a crash left there is replaced. Dial connects to a port inside, and with port 0 says,
// instead of [syscall.ECONNREFUSED], why there is no such network.
func Listen(dir string, dial func(ctx context.Context, port int) (net.Conn, error)) (*Server, error) {
	open, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, open.Close())
	}
	ln, err := net.ListenUnix("unixpacket", at(open))
	if err == nil {
		if err = os.Chmod(path, 0o600); err != nil {
			err = errors.Join(err, ln.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(err, open.Close())
	}
	ctx, end := context.WithCancel(context.Background())
	s := &Server{end: end, done: make(chan error, 1)}
	go func() {
		err := serve(ctx, ln, clients, func(ctx context.Context, conn net.Conn) { attend(ctx, conn, dial) })
		s.done <- errors.Join(err, open.Close())
	}()
	return s, nil
}

// Close removes the socket and ends what is connected to it; connections that were handed out
// stay.
func (s *Server) Close() error {
	s.end()
	return <-s.done
}

// attend answers one client, until it is gone.
func attend(ctx context.Context, conn net.Conn, dial func(ctx context.Context, port int) (net.Conn, error)) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	client, ok := conn.(*net.UnixConn)
	if !ok {
		return
	}
	text := make([]byte, 8)
	for port := 0; hand(ctx, client, port, dial) == nil; {
		n, err := client.Read(text)
		if err != nil {
			return
		}
		if port, err = strconv.Atoi(string(text[:n])); err != nil || port < 1 || port > math.MaxUint16 {
			return
		}
	}
}

// hand answers with a connection to a port.
func hand(ctx context.Context, client *net.UnixConn, port int, dial func(ctx context.Context, port int) (net.Conn, error)) error {
	ctx, cancel := context.WithTimeout(ctx, dialing)
	defer cancel()
	conn, err := dial(ctx, port)
	var say answer
	var rights []byte
	if err != nil {
		say = answer{Error: strings.ToValidUTF8(err.Error()[:min(len(err.Error()), maxAnswer/8)], ""), Refused: errors.Is(err, syscall.ECONNREFUSED)}
	} else {
		defer conn.Close()
	}
	if file, ok := conn.(interface{ File() (*os.File, error) }); ok {
		f, err := file.File()
		if err != nil {
			return err
		}
		defer f.Close()
		rights = syscall.UnixRights(int(f.Fd()))
	}
	text, err := json.Marshal(say)
	if err != nil {
		return err
	}
	if err := client.SetWriteDeadline(time.Now().Add(answering)); err != nil {
		return err
	}
	_, _, err = client.WriteMsgUnix(text, rights, nil)
	return err
}

// Remote is a session of another process.
type Remote struct {
	dir   *os.File
	watch *net.UnixConn
	done  chan struct{}
}

// Open reaches a session at the socket in a directory. It fails with [os.ErrNotExist] or
// [syscall.ECONNREFUSED] where no process has the session, and where its commands have no network
// of their own, with the reason.
func Open(ctx context.Context, dir string) (*Remote, error) {
	open, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	r := &Remote{dir: open, done: make(chan struct{})}
	if r.watch, err = r.connect(ctx); err != nil {
		return nil, errors.Join(err, open.Close())
	}
	go func() {
		defer close(r.done)
		_, _ = r.watch.Read(make([]byte, 1)) // it sends nothing unasked
	}()
	return r, nil
}

// Done is closed when the session has ended, or r was closed.
func (r *Remote) Done() <-chan struct{} { return r.done }

// Close lets the session go; connections stay.
func (r *Remote) Close() error {
	err := r.watch.Close()
	<-r.done
	return errors.Join(err, r.dir.Close())
}

// connect connects to the socket, and reads whether there is a network.
func (r *Remote) connect(ctx context.Context) (*net.UnixConn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unixpacket", at(r.dir).Name)
	if err != nil {
		return nil, err
	}
	client, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, conn.Close())
	}
	if _, err := take(ctx, client); !errors.Is(err, syscall.ECONNREFUSED) {
		return nil, errors.Join(err, conn.Close())
	}
	return client, nil
}

// Dial connects to a port on the loopback of the session's commands. Where nothing listens there,
// the error is [syscall.ECONNREFUSED].
func (r *Remote) Dial(ctx context.Context, port int) (net.Conn, error) {
	client, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if _, err := client.Write(strconv.AppendInt(nil, int64(port), 10)); err != nil {
		return nil, err
	}
	return take(ctx, client)
}

// take reads an answer, and the connection that came with it.
func take(ctx context.Context, client *net.UnixConn) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = client.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	text, rights := make([]byte, maxAnswer), make([]byte, syscall.CmsgSpace(4))
	n, m, _, _, err := client.ReadMsgUnix(text, rights)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	var said answer
	if err := json.Unmarshal(text[:n], &said); err != nil {
		return nil, fmt.Errorf("what the session answered: %w", err)
	}
	switch {
	case said.Refused:
		return nil, syscall.ECONNREFUSED
	case said.Error != "":
		return nil, abi.Errorf(abi.CodeUnsupported, "%s", said.Error)
	}
	return connOf(rights[:m])
}

// connOf is the connection whose descriptor came with a message.
func connOf(rights []byte) (net.Conn, error) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("the session sent no connection"), err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(errors.New("the session sent no connection"), err)
	}
	f := os.NewFile(uintptr(fds[0]), "connection")
	defer f.Close()
	return net.FileConn(f)
}
