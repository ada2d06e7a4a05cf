package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

const (
	peakMemory = 32 * mib
	peakExtra  = 64 * mib
)

// TestPeakOfLargeModules loads and calls a module that is nearly as large as one
// may be, in a process of its own: what it takes at most is the guest's memory
// and 64 MiB.
func TestPeakOfLargeModules(t *testing.T) {
	if testenv.Race {
		return // the race detector takes memory of its own
	}
	dir := t.TempDir()
	data := bytes.Repeat([]byte("0123456789abcdef"), (peakMemory-2*mib)/16)
	if err := os.WriteFile(filepath.Join(dir, "large.wasm"), large(peakMemory, data), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{"cold", "warm"} {
		c := exec.Command(os.Args[0])
		c.Dir, c.Env = dir, append(os.Environ(), helperEnv+"=peak")
		out, err := c.CombinedOutput()
		if t.Logf("%s: %s", cache, out); err != nil {
			t.Error(err)
		}
	}
}

// peak is what a process does whose memory is watched.
func peak() error {
	debug.FreeOSMemory()
	before, err := statusOf("VmRSS")
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil {
		before, err = statusOf("VmHWM") // the peak so far cannot be forgotten here
	}
	if err == nil {
		err = loadAndCall()
	}
	most, err2 := statusOf("VmHWM")
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	fmt.Printf("%d MiB more than before", (most-before)/mib)
	if most-before > peakMemory+peakExtra {
		return fmt.Errorf(", over %d", (peakMemory+peakExtra)/mib)
	}
	return nil
}

func loadAndCall() (err error) {
	ctx := context.Background()
	e := New(Options{CacheDir: "cache", Compiler: process{}})
	defer func() { err = errors.Join(err, e.Close(ctx)) }()
	wasm, err := os.ReadFile("large.wasm")
	if err != nil {
		return err
	}
	s := Source{Hash: sha256.Sum256(wasm), Wasm: wasm, MaxMemory: peakMemory}
	program, err := e.Compile(ctx, s)
	if err != nil {
		return err
	}
	p := NewPool(e, planOf(program, peakMemory, PutBackPure, ""))
	for range 3 {
		in, err := p.Take(ctx)
		if err != nil {
			return err
		}
		p.Put(in, true)
		settle(p)
	}
	p.Close()
	return program.Close(ctx)
}

// process compiles in a process of its own.
type process struct{}

func (process) Compile(ctx context.Context, dir string, wasm []byte) error {
	c := exec.CommandContext(ctx, os.Args[0])
	c.Dir, c.Env = dir, append(os.Environ(), helperEnv+"=compile")
	c.Stdin = bytes.NewReader(wasm)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func compileHere() error {
	wasm, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	return CompileInto(context.Background(), ".", wasm)
}

// statusOf is a figure of the process's own status, in bytes.
func statusOf(key string) (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	var kib int64
	_, after, _ := strings.Cut(string(status), key+":")
	_, err = fmt.Sscan(after, &kib)
	return kib << 10, err
}
