//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/internal/privatedir"
)

// ProxySocket is where the proxy's socket lies in a sandbox of [NetworkHosts].
const ProxySocket = PrivateDir + "/proxy.sock"

// PrivateDir is a folder that sandboxes have for themselves, for what others put into
// their sight: no command can write there.
const PrivateDir = "/run/toolquay"

// bubblewrap is the program, with what it can do here.
type bubblewrap struct {
	options  Options
	path     string
	features features
	live     live
}

// openState makes the folder for a sandbox's state, and returns its path without links.
func openState(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%w: no folder for its state", ErrSpec)
	}
	err := privatedir.Make(path)
	lies := path
	if err == nil {
		lies, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("the folder for the sandbox's state, %s: %w", path, err)
	}
	quarantineIn(lies).tidy()
	return lies, nil
}

// wrap is [Sandbox.Wrap] by a program that was tried, or is about to be.
func (b *bubblewrap) wrap(spec Spec, argv []string) (*Wrapped, error) {
	inside := b.inside(&spec, argv)
	l, err := newLayout(b.options, spec, nil)
	if err != nil {
		return nil, err
	}
	if l.changeable(b.path) {
		return nil, fmt.Errorf("%w: %s is in a writable folder: a command could replace what holds it", ErrSpec, b.path)
	}
	// Unix sockets are left to the command, or to the bridge.
	filter, err := programFile(confinement(spec.UnixSockets || spec.network() == NetworkHosts, false))
	if err != nil {
		return nil, err
	}
	g, err := newGate(spec, l, b)
	if err != nil {
		return nil, closing(filter, err)
	}
	return &Wrapped{
		Path:  b.path,
		Args:  append(b.features.arguments(b.path, spec, l), inside...),
		Files: []*os.File{filter, g.hold, g.tell},
		gate:  g,
		done:  []io.Closer{g, filter},
	}, nil
}

// inside is what runs in the sandbox, and puts what that needs into sight.
func (b *bubblewrap) inside(spec *Spec, argv []string) []string {
	if spec.network() != NetworkHosts {
		return argv
	}
	binds := append([]Bind(nil), spec.Bind...)
	binds = append(binds, Bind{Source: spec.Proxy, Target: ProxySocket})
	inside := append([]string(nil), b.options.Bridge...)
	if len(inside) > 0 {
		binds = append(binds, Bind{Source: inside[0], Target: inside[0]})
		inside = append(inside, ProxySocket)
	}
	if confine := b.options.Confine; len(confine) > 0 && !spec.UnixSockets {
		binds = append(binds, Bind{Source: confine[0], Target: confine[0]})
		inside = append(inside, confine...)
	}
	spec.Bind = binds
	return append(inside, argv...)
}
