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

// Sought reports whether the commands of a namespace tried to reach something beyond its loopback,
// or a name server on it, and whether they tried to connect to a port of it on which nothing listens, as
// the counters of its network tell.
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

// unreached are the counters of what found no way. NoPorts counts packets to a port of UDP where
// nothing listens, such as that of a name server on the machine's own loopback.
var unreached = []string{"Ip OutNoRoutes", "Ip6OutNoRoutes", "Udp NoPorts", "Udp6NoPorts"}

// unanswered is the counter of connections that were refused, by IPv4 and IPv6.
var unanswered = []string{"Tcp AttemptFails"}

// counts are counters by their names.
type counts map[string]string

// any reports whether one of some is not zero.
func (c counts) any(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		n, err := strconv.ParseUint(c[name], 10, 64)
		return err == nil && n > 0
	})
}

// counters reads the counters in a file. In snmp a line of names comes before one of numbers, in snmp6
// each line has both.
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
