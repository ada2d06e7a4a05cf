//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/internal/privatedir"
)

// ProxySocket is where the proxy's socket lies in a sandbox of [NetworkHosts].
const ProxySocket = PrivateDir + "/proxy.sock"

// PrivateDir is a folder that sandboxes have for themselves, for what others put into
// their sight: no command can write there.
const PrivateDir = "/run/toolquay"

// bubblewrap is the program, with what it can do here and what it is given of the state.
type bubblewrap struct {
	options      Options
	path         string
	features     features
	placeholders *placeholders
}

// open makes what the sandbox needs in its folder.
func (b *bubblewrap) open(ctx context.Context) error {
	if !filepath.IsAbs(b.options.State) {
		return fmt.Errorf("%w: no folder for its state", ErrSpec)
	}
	if err := privatedir.Make(b.options.State); err != nil {
		return fmt.Errorf("the folder for the sandbox's state, %s: %w", b.options.State, err)
	}
	err := errors.Join(isThere(absentIn(b.options.State)), hasContent(standInIn(b.options.State), standInContent))
	if err != nil {
		return err
	}
	b.placeholders, err = openPlaceholders(ctx, b.options.State)
	return err
}

// isThere makes what is mounted on placeholders of files: the same as these are.
func isThere(path string) error {
	_, err := placeholder{path: path}.make()
	if errors.Is(err, fs.ErrExist) && isPlaceholder(path) {
		return nil
	}
	return err
}

// hasContent makes a file of the sandbox's own. It is not emptied first: other
// processes' commands may have it in sight.
func hasContent(path, content string) error {
	f, _, err := privatedir.OpenOwn(path, os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// wrap is [Sandbox.Wrap] by a program that was tried, or is about to be.
func (b *bubblewrap) wrap(ctx context.Context, spec Spec, argv []string) (*Wrapped, error) {
	inside := b.inside(&spec, argv)
	l, err := newLayout(b.options, spec)
	if err != nil {
		return nil, err
	}
	if l.changeable(b.path) {
		return nil, fmt.Errorf("%w: %s is in a writable folder: a command could replace what holds it", ErrSpec, b.path)
	}
	// Unix sockets are left to the command, or to the bridge.
	filter, err := programFile(confinement(spec.UnixSockets || spec.network() == NetworkHosts))
	if err != nil {
		return nil, err
	}
	h, err := b.placeholders.hold(ctx, l.placeholders())
	if err != nil {
		return nil, closing(filter, err)
	}
	g, err := newGate(spec, l, b.features)
	if err != nil {
		return nil, errors.Join(err, h.Close(), filter.Close()) //nolint:contextcheck // it is given up whatever becomes of the call
	}
	return &Wrapped{
		Path:  b.path,
		Args:  append(b.features.arguments(b.path, spec, l), inside...),
		Files: []*os.File{filter, g.hold, g.tell},
		gate:  g,
		// Nobody is to watch any more when the placeholders go.
		done: []io.Closer{g, filter, h},
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
