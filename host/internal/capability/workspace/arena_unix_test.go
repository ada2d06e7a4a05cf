//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// swapper is a name and a link in the same directory that trade places, at once.
type swapper struct{ name, link string }

func newSwapper(t *testing.T, root, name, target string) swapper {
	t.Helper()
	s := swapper{name: filepath.Join(root, name), link: filepath.Join(root, name+".link")}
	if err := os.Symlink(target, s.link); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s swapper) swap() error { return exchange(unix.AT_FDCWD, s.name, s.link) }

// needExchange skips what needs two names to trade places, as Linux and macOS can.
func needExchange(t *testing.T) {
	t.Helper()
	if incapable(exchange(unix.AT_FDCWD, t.TempDir(), t.TempDir())) {
		testenv.Permitted(t, testenv.Linux)
	}
}

// arena is where a race runs: directories that are held, so that what is in them is
// seen wherever their names lead.
type arena struct {
	root    string
	in, out *os.Root
}

func newArena(t *testing.T) arena {
	t.Helper()
	needExchange(t)
	a := arena{root: tree(t, "d/f", "d/g", "out/f")}
	var err error
	if a.in, err = os.OpenRoot(filepath.Join(a.root, "d")); err != nil {
		t.Fatal(err)
	}
	if a.out, err = os.OpenRoot(filepath.Join(a.root, "out")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(a.in.Close(), a.out.Close()) })
	return a
}

// escaped checks that a file holds what it held or what was judged to go there.
func (a arena) escaped(t *testing.T, dir *os.Root, name string, judged ...string) {
	t.Helper()
	content, err := dir.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return // away for the moment
	}
	if err != nil {
		return // a link that leads out, for the moment
	}
	for _, path := range judged {
		if string(content) == path || string(content) == filepath.Join(a.root, path) {
			return
		}
	}
	t.Errorf("%s/%s holds %q", filepath.Base(dir.Name()), name, content)
}

// A race swaps a name and its link so often, and drafts so often meanwhile.
const (
	swaps  = 10_000
	drafts = 300
)

// tally is what came of races.
type tally struct {
	swaps, drafts int
	codes         map[abi.Code]int
	began         time.Time
}

// enough reports whether it was raced so often, and drafts were seen to succeed and
// to fail.
func (c *tally) enough() bool {
	return c.swaps >= swaps && c.drafts >= drafts && c.codes["done"] > 0 && c.codes[abi.CodeChanged] > 0
}

// race swaps, and drafts by try, until it is enough or try says that it is over.
func (c *tally) race(t *testing.T, s swapper, try func() (over bool, err error)) {
	t.Helper()
	var swapped atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := s.swap(); err != nil {
				t.Error(err)
				return
			}
			swapped.Add(1)
		}
	}()
	before := c.swaps
	for over := false; !over && !c.enough() && !t.Failed() && time.Since(c.began) < testenv.Patience; {
		var err error
		over, err = try()
		c.drafts++
		c.swaps = before + int(swapped.Load())
		switch code := abi.CodeOf(err); {
		case err == nil:
			c.codes["done"]++
		case code == abi.CodeChanged || code == abi.CodeNotFound:
			c.codes[code]++
		default:
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
}

func newTally() *tally { return &tally{codes: map[abi.Code]int{}, began: time.Now()} }

func (c *tally) report(t *testing.T) {
	t.Helper()
	t.Logf("%d swaps, drafts: %v", c.swaps, c.codes)
	if !c.enough() {
		t.Error("the race did not happen")
	}
}
