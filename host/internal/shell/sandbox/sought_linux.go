//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

// Sought reads from the counters of a namespace's network what its commands tried. beyond says that they tried
// to reach something beyond the loopback, or a name server on it; refused, that they tried to connect to a port
// of the loopback on which nothing listened.
func (s *Sandbox) Sought(ctx context.Context, n *Namespace) (beyond, refused bool, err error) {
	p := &calls.Program{}
	n.join(p)
	var opened []calls.Arg
	for _, path := range []string{"/proc/self/net/snmp", "/proc/self/net/snmp6"} {
		opened = append(opened, p.Call("opening "+path, unix.SYS_OPENAT, current, p.Text(path), calls.Int(unix.O_RDONLY|unix.O_CLOEXEC)))
	}
	files, err := received(ctx, s.own.options.Supervisors, p, opened)
	if err != nil {
		return false, false, err
	}
	for _, f := range files {
		seen, failed := counters(f)
		beyond, refused = beyond || seen.any(unreached), refused || seen.any(unanswered)
		err = errors.Join(err, failed, f.Close())
	}
	return beyond, refused, err
}

// unreached are the counters of packets without a route. NoPorts counts packets to a UDP port on which nothing
// listens, such as the port of a name server on the host's loopback.
var unreached = []string{"Ip OutNoRoutes", "Ip6OutNoRoutes", "Udp NoPorts", "Udp6NoPorts"}

// unanswered is the counter of refused connections, by IPv4 and IPv6.
var unanswered = []string{"Tcp AttemptFails"}

// counts maps the names of counters to their values.
type counts map[string]string

// any reports whether one of the named counters is not zero.
func (c counts) any(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		n, err := strconv.ParseUint(c[name], 10, 64)
		return err == nil && n > 0
	})
}

// counters reads the counters in a file. In snmp a line of names precedes a line of values; in snmp6 each line
// has a name and a value.
func counters(f *os.File) (counts, error) {
	seen := make(counts)
	lines := bufio.NewScanner(io.LimitReader(f, 1<<20))
	var names []string
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 2 && !strings.HasSuffix(fields[0], ":"):
			seen[fields[0]] = fields[1]
		case names != nil && len(names) == len(fields) && names[0] == fields[0]:
			for i := 1; i < len(fields); i++ {
				seen[strings.TrimSuffix(names[0], ":")+" "+names[i]] = fields[i]
			}
			names = nil
		default:
			names = fields
		}
	}
	return seen, lines.Err()
}
