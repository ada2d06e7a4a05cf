//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

// Sought reports whether the commands of a namespace tried to reach something beyond its loopback,
// or a name server on it, as the counters of its network tell.
func (s *Sandbox) Sought(ctx context.Context, n *Namespace) (bool, error) {
	p := &calls.Program{}
	n.join(p)
	var opened []calls.Arg
	for _, path := range []string{"/proc/self/net/snmp", "/proc/self/net/snmp6"} {
		opened = append(opened, p.Call("opening "+path, unix.SYS_OPENAT, current, p.Text(path), calls.Int(unix.O_RDONLY|unix.O_CLOEXEC)))
	}
	files, err := received(ctx, s.own.options.Supervisors, p, opened)
	if err != nil {
		return false, err
	}
	sought := false
	for _, f := range files {
		found, failed := counts(f)
		sought, err = sought || found, errors.Join(err, failed, f.Close())
	}
	return sought, err
}

// unreached are the counters of what found no way. NoPorts counts packets to a port of UDP where
// nothing listens, such as that of a name server on the machine's own loopback.
var unreached = []string{"Ip OutNoRoutes", "Ip6OutNoRoutes", "Udp NoPorts", "Udp6NoPorts"}

// counts reports whether one of the counters is not zero. In snmp a line of names comes before one
// of numbers, in snmp6 each line has both.
func counts(f *os.File) (bool, error) {
	seen := make(map[string]string)
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
	for _, name := range unreached {
		if n, err := strconv.ParseUint(seen[name], 10, 64); err == nil && n > 0 {
			return true, nil
		}
	}
	return false, lines.Err()
}
