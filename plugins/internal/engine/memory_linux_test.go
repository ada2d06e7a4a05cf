package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/testenv"
)

// mappings counts the process's mappings and open files.
func mappings(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(maps), "\n") + len(files)
}

func TestMemoryNeverMoves(t *testing.T) {
	const limit = 1 << 30
	l, ok := (&slot{owner: &memories{limit: limit}}).Allocate(0, limit).(*linear)
	if !ok || !l.reserved {
		t.Fatal("no address space is reserved")
	}
	b := l.Reallocate(pageSize)
	b[0] = 1
	work := testenv.Work(func() {
		for size := uint64(pageSize); size <= limit; size *= 2 {
			if grown := l.Reallocate(size); &grown[0] != &b[0] || uint64(len(grown)) != size {
				t.Fatalf("it moved at %d bytes", size)
			}
		}
	})
	if work > 100*time.Millisecond {
		t.Errorf("growing to 1 GiB took %v", work)
	}
	l.Reallocate(limit)[limit-1] = 1
	if l.Reallocate(limit+1) != nil {
		t.Error("it grew over its limit")
	}
	l.Free()
}

// TestWithLittleAddressSpace runs guests where the process may not reserve what
// their limit is.
func TestWithLittleAddressSpace(t *testing.T) { inChild(t, "little address space") }

// helper is what a child process of a test does.
func helper() int {
	do := map[string]func() error{"little address space": littleAddressSpace, "peak": peak, "compile": compileHere}
	if err := do[os.Getenv(helperEnv)](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func littleAddressSpace() error {
	size, err := statusOf("VmSize")
	if err != nil {
		return err
	}
	room := uint64(size) + 512*mib
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: room, Max: room}); err != nil {
		return err
	}
	if reserve(1 << 30).reserved {
		return errors.New("1 GiB was reserved")
	}
	wasm, err := os.ReadFile(filepath.Join("testdata", "state_3.wasm"))
	if err != nil {
		return err
	}
	ctx := context.Background()
	e := New(Options{})
	defer e.Close(ctx)
	program, err := e.Compile(ctx, Source{Hash: sha256.Sum256(wasm), Wasm: wasm, MaxMemory: 1 << 30})
	if err == nil {
		err = e.LinkWASI(ctx)
	}
	if err != nil {
		return err
	}
	p := NewPool(e, planOf(program, 1<<30, PutBackPure, "init"))
	defer p.Close()
	var want uint64
	for i := range 20 {
		in, err := p.Take(ctx)
		if err != nil {
			return err
		}
		got, err := in.Host.call(ctx, time.Minute, "sum")
		if i == 0 {
			want = got
		}
		if err != nil || got != want {
			return fmt.Errorf("call %d sees %x, %v; want %x", i, got, err, want)
		}
		if _, err := in.Host.call(ctx, time.Minute, "grow", uint64(i)); err != nil {
			return err
		}
		if _, err := in.Host.call(ctx, time.Minute, "scribble", 64); err != nil {
			return err
		}
		p.Put(in, true)
		settle(p)
	}
	return nil
}

// resident counts the pages of 4 KiB that a part of the process's memory takes.
func resident(t *testing.T, b []byte) (pages int) {
	t.Helper()
	size := os.Getpagesize()
	state := make([]byte, (len(b)+size-1)/size)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(unsafe.Pointer(unsafe.SliceData(state))))
	if errno != 0 {
		t.Fatal(errno)
	}
	for _, s := range state {
		pages += int(s & 1)
	}
	return pages * size / 4096
}

// TestRevivedMemoryIsNotTouched: putting a new instance to a snapshot takes no
// memory for what is zero in both.
func TestRevivedMemoryIsNotTouched(t *testing.T) {
	e := newEngine(t)
	const size = 6 * mib
	p := newPool(t, e, planOf(compile(t, e, large(size, []byte("data")), size), size, PutBackPure, ""))
	p.Put(take(t, p), true)
	settle(p)
	first, second := take(t, p), take(t, p)
	defer p.Put(first, true)
	defer p.Put(second, true)
	third := take(t, p)
	defer p.Put(third, true)
	if third.core.snap == nil {
		t.Fatal("it was not put to a snapshot")
	}
	if n := resident(t, third.core.parts[0].memory.buf); n > 2*pageSize/4096 {
		t.Errorf("it takes %d pages", n)
	}
}
