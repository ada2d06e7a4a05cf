//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mount is a line of the kernel's table of mounts.
type mount struct {
	id string
	// device and root are what is mounted: a file system, and a path in that.
	device, root, point, kind string
	options                   []string
}

func (m mount) has(option string) bool { return slices.Contains(m.options, option) }

// shows says that what is mounted is what lies at a path of the host's.
func (m mount) shows(source string, host *mounts) bool {
	from := host.at(source)
	rest := strings.TrimPrefix(source, strings.TrimSuffix(from.point, "/"))
	return m.device == from.device && m.root == filepath.Join(from.root, rest)
}

// mounts are those of a process: the root, and what lies on each.
type mounts struct {
	root mount
	on   map[string][]mount
}

// at is the mount that a path without links lies in. The way there is the kernel's: from
// the root on, at each point into what is mounted on what one is in. A mount that another
// one was put over is not come by.
func (m *mounts) at(path string) mount {
	around := m.root
	for {
		var next *mount
		for i, one := range m.on[around.id] {
			if within(path, one.point) && (next == nil || len(one.point) < len(next.point)) {
				next = &m.on[around.id][i]
			}
		}
		if next == nil {
			return around
		}
		around = *next
	}
}

// openTable opens the mounts of a process's namespace. The open file keeps the namespace: it
// shows its mounts even when the process is gone.
func openTable(pid string) (*os.File, error) {
	return os.OpenFile("/proc/"+pid+"/mountinfo", os.O_RDONLY|unix.O_NONBLOCK, 0) // to be waited on
}

// mountsOf reads the mounts that there are now.
func mountsOf(table *os.File) (*mounts, error) {
	if _, err := table.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(table)
	if err != nil {
		return nil, err
	}
	return parseMounts(content)
}

// mountsIn returns the mounts in a table that others may read at the same time.
func mountsIn(table int) (*mounts, error) {
	content, err := io.ReadAll(io.NewSectionReader(descriptor(table), 0, maxTable))
	if err != nil {
		return nil, fmt.Errorf("the mounts of a sandbox: %w", err)
	}
	return parseMounts(content)
}

// hostMounts are those of this process.
func hostMounts() (*mounts, error) {
	table, err := openTable("self")
	if err != nil {
		return nil, err
	}
	defer func() { _ = table.Close() }() // it is only read
	return mountsOf(table)
}

func parseMounts(content []byte) (*mounts, error) {
	m := &mounts{on: make(map[string][]mount)}
	seen := make(map[string]bool)
	for line := range strings.Lines(string(content)) {
		// 36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw,errors=continue
		place, what, _ := strings.Cut(line, " - ")
		fields := strings.Fields(place)
		if len(fields) < 6 {
			return nil, fmt.Errorf("the kernel's table of mounts: a line that cannot be read: %q", line)
		}
		kind, _, _ := strings.Cut(what, " ")
		one := mount{
			id: fields[0], device: fields[2], root: unescaped.Replace(fields[3]), point: unescaped.Replace(fields[4]),
			options: strings.Split(fields[5], ","), kind: kind,
		}
		seen[one.id] = true
		if on := fields[1]; on == one.id {
			m.root = one
		} else {
			m.on[on] = append(m.on[on], one)
		}
	}
	for on, list := range m.on {
		if !seen[on] { // the root's parent is not listed, unless it is its own parent
			m.root = list[0]
		}
	}
	return m, nil
}

// unescaped undoes how the kernel writes characters that would end a field.
var unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)
