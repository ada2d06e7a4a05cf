//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// Resolve walks to where a path leads; one that is not absolute starts at cwd.
//
// A node comes back also where nothing is found, so that its access can be
// judged before anyone learns that; [Node.Err] then tells. Errors are
// *abi.Error: [abi.CodeInvalidInput] for what is no path, [abi.CodeNotRegular]
// for what lies in a file system of the kernel's.
func Resolve(cwd, path string) (*Node, error) {
	p, err := name(cwd, path)
	if err != nil {
		return nil, err
	}
	n := &Node{Target: p.target, Real: p.target, held: handle{fd: -1}}
	if n.held.fd, err = openDirect(p.raw); err != nil {
		return n, walk(n, p)
	}
	if n.Info, err = fstat(n.held.fd); err == nil {
		err = n.check(p.dir)
	}
	return n.settle(err)
}

// unheld returns the handle of a node for which nothing is open.
func unheld() handle { return handle{fd: -1} }

// settle ends a resolution that got as far as a handle.
func (n *Node) settle(err error) (*Node, error) {
	if err == nil {
		return n, nil
	}
	_ = n.held.close() // nothing was written through it
	n.fault = fault(n.Target, err)
	n.Info = Info{}
	if n.fault.Code == abi.CodeNotRegular {
		return nil, n.fault
	}
	return n, nil
}

// check judges what the walk came to.
func (n *Node) check(mustBeDir bool) error {
	if err := refusePath(n.Target, n.Real); err != nil {
		return err
	}
	if mustBeDir && n.Info.Kind != abi.KindDirectory {
		return unix.ENOTDIR
	}
	if n.held.fd >= 0 && kernelOwned(n.held.fd, n.Info) {
		return refused(n.Target, "it lies in a file system of the kernel's")
	}
	return nil
}

// walker resolves a path with links in it.
type walker struct {
	target string
	// stack holds the real directories from the root to where the walk is, so
	// that ".." leads to the parent the walk came through.
	stack []place
	rest  []string // the components still to walk, the next one last
	dir   bool     // what is found must be a directory
	links int
}

func walk(n *Node, p named) error {
	w := &walker{target: p.target, dir: p.dir}
	defer w.close()
	err := w.run(p.raw)
	n.Real = w.real()
	if err == nil {
		end := w.detach()
		n.held, n.Info = handle{fd: end.fd, err: end.err}, end.info
		err = n.check(w.dir)
	}
	_, err = n.settle(err)
	n.bar(slices.Contains(w.rest, ".."), w.dir)
	return err
}

func (w *walker) run(path string) error {
	if err := w.push("", unix.AT_FDCWD, "/"); err != nil {
		return err
	}
	w.expand(path)
	for len(w.rest) > 0 {
		if w.top().info.Kind != abi.KindDirectory {
			return unix.ENOTDIR
		}
		if err := w.next(); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) top() *place { return &w.stack[len(w.stack)-1] }

// expand puts the components of a path in front of what is left to walk.
func (w *walker) expand(path string) {
	parts := strings.Split(path, "/")
	slices.Reverse(parts)
	for _, part := range parts {
		if part != "" && part != "." {
			w.rest = append(w.rest, part)
		}
	}
}

// next walks one component. A name stays in rest until it is done, so that the
// path is whole where it cannot be.
func (w *walker) next() error {
	part := w.rest[len(w.rest)-1]
	if part == ".." {
		w.rest = w.rest[:len(w.rest)-1]
		if len(w.stack) > 1 {
			w.pop()
		}
		return nil
	}
	if len(w.stack) == 1 { // at the root, where the kernel's directories are
		if err := refusePath(w.target, w.real()); err != nil {
			return err
		}
	}
	if err := w.push(part, w.top().fd, part); err != nil {
		return err
	}
	w.rest = w.rest[:len(w.rest)-1]
	if w.top().info.Kind == abi.KindSymlink {
		return w.follow()
	}
	return nil
}

func (w *walker) push(name string, dir int, path string) error {
	p, err := step(dir, path)
	if err != nil {
		return err
	}
	p.name = name
	w.stack = append(w.stack, p)
	return nil
}

func (w *walker) pop() {
	w.top().close()
	w.stack = w.stack[:len(w.stack)-1]
}

// follow replaces the link on top of the stack by where it points.
func (w *walker) follow() error {
	link := w.top().link
	if w.links++; w.links > maxLinks {
		return unix.ELOOP
	}
	if link == "" {
		return unix.ENOENT
	}
	w.pop()
	if link[0] == '/' {
		for len(w.stack) > 1 {
			w.pop()
		}
	}
	w.dir = w.dir || len(w.rest) == 0 && endsAsDir(link)
	w.expand(link)
	return nil
}

// real is the path of where the walk is, with what it has not walked.
func (w *walker) real() string {
	var b strings.Builder
	for _, p := range w.stack[min(1, len(w.stack)):] {
		b.WriteByte('/')
		b.WriteString(p.name)
	}
	for _, part := range slices.Backward(w.rest) {
		b.WriteByte('/')
		b.WriteString(part)
	}
	return filepath.Clean("/" + b.String())
}

// detach takes the end of the walk out of what close closes.
func (w *walker) detach() place {
	end := *w.top()
	w.stack = w.stack[:len(w.stack)-1]
	return end
}

func (w *walker) close() {
	for len(w.stack) > 0 {
		w.pop()
	}
}
