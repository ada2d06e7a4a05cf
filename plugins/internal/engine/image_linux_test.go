package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/testenv"
)

// ways are those in which a memory is put back: each makes of a snapshot that is
// put back page by page what it says. In the last, the system stops telling pages
// apart.
var ways = map[string]func(*content){
	"page by page": func(*content) {},
	"copied": func(c *content) {
		c.bytes = bytes.Clone(c.image.view)
		c.runs = runsOf(c.bytes)
		c.image.close()
		c.image = nil
	},
	"let go of": func(c *content) {
		_ = unix.Munmap(c.image.view)
		c.image.view = nil
	},
	"unreadable": func(c *content) { c.image.pages = noPagemap },
}

// needPagemap skips a test where pages that were written to cannot be told.
func needPagemap(tb testing.TB) {
	tb.Helper()
	if processPages() == noPagemap {
		testenv.Missing(tb, "the system does not tell which pages were written to (/proc/self/pagemap)")
	}
}

// newMemory is a memory with a snapshot, which it is at.
func newMemory(tb testing.TB, snapshot []byte, way func(*content)) (*linear, *content) {
	tb.Helper()
	needPagemap(tb)
	size := uint64(len(snapshot))
	l, ok := (&slot{owner: &memories{limit: 2 * size}}).Allocate(0, 2*size).(*linear)
	if !ok || l.Reallocate(size) == nil {
		tb.Fatal("there is no memory")
	}
	tb.Cleanup(l.Free)
	c := &content{image: newImage(snapshot, maxNoted)}
	if c.image == nil {
		tb.Fatal("there is no image")
	}
	way(c)
	if c.image != nil {
		tb.Cleanup(c.image.close)
	}
	if !c.restore(l, true) || !bytes.Equal(l.buf, snapshot) {
		tb.Fatal("it cannot be put to the snapshot")
	}
	return l, c
}

// snapshots are memories of all shapes: what is zero is not in the file.
var snapshots = map[string][]byte{
	"full":            bytes.Repeat([]byte("full"), 2*mib/4),
	"zero at the end": append(bytes.Repeat([]byte{1}, 3*pageSize), make([]byte, 3*mib)...),
	"zero between":    append(append(bytes.Repeat([]byte{1}, pageSize), make([]byte, 3*mib)...), bytes.Repeat([]byte{2}, pageSize)...),
	"holes":           bytes.Repeat(append(bytes.Repeat([]byte{3}, pageSize), make([]byte, pageSize)...), 20),
	"zero":            make([]byte, mib),
}

// TestPutBackIsExact does to memories what guests and the system do to them, over
// and over.
func TestPutBackIsExact(t *testing.T) {
	rounds := 60
	if !testenv.Thorough() {
		rounds = 20 // a tenth would not disturb it in every way
	}
	for way, change := range ways {
		for shape, snapshot := range snapshots {
			t.Run(way+", "+shape, func(t *testing.T) {
				l, c := newMemory(t, snapshot, change)
				random := rand.New(rand.NewPCG(1, uint64(len(snapshot))))
				for round := range rounds {
					what := disturb(l.buf, random)
					if !c.restore(l, false) {
						t.Fatalf("round %d, %s: it is not put back", round, what)
					}
					if !bytes.Equal(l.buf, snapshot) {
						t.Fatalf("round %d, %s: it is not as it was", round, what)
					}
				}
			})
		}
	}
}

// disturb changes memory, and tells how.
func disturb(b []byte, random *rand.Rand) string {
	at := func() int { return random.IntN(len(b)) }
	switch random.IntN(7) {
	case 0:
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // files have none, and not every kernel
		b[at()]++
		return "a page that may be large"
	case 1:
		b[at()]++
		_ = unix.Madvise(b, unix.MADV_PAGEOUT) // as far as there is anywhere to go
		return "a page swapped out"
	case 2:
		noise := bytes.Repeat([]byte{byte(random.Uint32())}, pageSize)
		for rest := b; len(rest) > 0; {
			rest = rest[copy(rest, noise):]
		}
		return "all of it"
	case 3:
		b[at()|(comparePage-1)]++
		return "the last byte of a page"
	case 4:
		return fmt.Sprint("nothing, but read: ", bytes.Count(b, []byte{1}))
	case 5:
		from := at()
		clear(b[from:min(from+random.IntN(mib), len(b))])
		return "cleared"
	}
	for range random.IntN(40) {
		b[at()] = byte(random.Uint32())
	}
	return "some bytes"
}

// TestWrittenPagesAreKept, and no others.
func TestWrittenPagesAreKept(t *testing.T) {
	const written = 10
	l, c := newMemory(t, snapshots["full"], ways["page by page"])
	want := make([]bool, len(l.buf)/unix.Getpagesize())
	for i := range written {
		want[i*pageSize/unix.Getpagesize()] = true
	}
	for round := range 100 {
		for i := range written {
			l.buf[i*pageSize]++
		}
		if !c.restore(l, false) {
			t.Fatal("it is not put back")
		}
		if size := written * unix.Getpagesize(); l.own != size || l.stale != 0 {
			t.Fatalf("round %d: %d bytes are kept, %d were compared for nothing; want %d and 0", round, l.own, l.stale, size)
		}
	}
	if got := ownPages(t, l); !slices.Equal(got, want) {
		t.Errorf("these pages are kept: %v", got)
	}
}

// ownPages says of each page of a memory whether it is its own.
func ownPages(t *testing.T, l *linear) (own []bool) {
	t.Helper()
	entries := make([]uint64, len(l.buf)/unix.Getpagesize())
	if !processPages().read(entries, &l.buf[0]) {
		t.Fatal("the pagemap cannot be read")
	}
	for _, entry := range entries {
		own = append(own, isOwn(entry))
	}
	return own
}

// TestStalePagesAreLetGoOf: what one call wrote and later ones do not is neither
// kept nor compared for ever.
func TestStalePagesAreLetGoOf(t *testing.T) {
	l, c := newMemory(t, snapshots["full"], ways["page by page"])
	call := func(stride int) {
		t.Helper()
		for at := 0; at < len(l.buf); at += stride {
			l.buf[at]++
		}
		if !c.restore(l, false) {
			t.Fatal("it is not put back")
		}
	}
	call(comparePage)
	if l.own != len(l.buf) {
		t.Fatalf("%d bytes are kept; want %d", l.own, len(l.buf))
	}
	const few = 8 * pageSize
	call(few)
	if own := ownPages(t, l); slices.Contains(own, true) || l.own != 0 {
		t.Errorf("after a call that wrote little %d bytes are kept, page by page %v", l.own, own)
	}
	call(few)
	if want := len(l.buf) / few * unix.Getpagesize(); l.own != want {
		t.Errorf("then %d bytes are kept; want %d", l.own, want)
	}
}

// TestWhatIsKeptIsBounded however much a call writes.
func TestWhatIsKeptIsBounded(t *testing.T) {
	snapshot := bytes.Repeat([]byte{1}, maxOwn+mib)
	l, c := newMemory(t, snapshot, ways["page by page"])
	for _, test := range []struct{ write, kept int }{{mib, mib}, {maxOwn, maxOwn}, {maxOwn + mib, 0}, {mib, mib}} {
		clear(l.buf[:test.write])
		if !c.restore(l, false) || !bytes.Equal(l.buf, snapshot) {
			t.Fatalf("%d bytes are not put back", test.write)
		}
		if l.own != test.kept {
			t.Errorf("of %d bytes written %d are kept; want %d", test.write, l.own, test.kept)
		}
	}
}

// TestHolesTakeNoMemory: what is zero is neither in the file nor looked for there.
func TestHolesTakeNoMemory(t *testing.T) {
	snapshot := snapshots["zero between"]
	l, c := newMemory(t, snapshot, ways["page by page"])
	for range 3 {
		for i := range l.buf {
			l.buf[i]++
		}
		if !c.restore(l, false) {
			t.Fatal("it is not put back")
		}
	}
	var stat unix.Stat_t
	if err := unix.Fstat(c.image.fd, &stat); err != nil {
		t.Fatal(err)
	}
	if got := stat.Blocks * 512; got != c.image.weight() {
		t.Errorf("the file takes %d bytes; want %d", got, c.image.weight())
	}
}

// TestKeptPagesAreIdleMemory: they count while the instance waits for a call.
func TestKeptPagesAreIdleMemory(t *testing.T) {
	needPagemap(t)
	e := newEngine(t)
	p := newPool(t, e, planOf(compile(t, e, fixture(t, "state_40"), 64*mib), 64*mib, PutBackPure, "init"))
	for range samples + 3 {
		in := take(t, p)
		in.Host.must(t, "scribble", 8*pageSize)
		p.Put(in, true)
		settle(p)
	}
	in := take(t, p)
	defer p.Put(in, true)
	m := in.core.parts[0].memory
	if want := len(m.buf) / (8 * pageSize) * unix.Getpagesize(); m.own < want {
		t.Errorf("%d bytes are kept; want %d", m.own, want)
	}
	if in.size != int64(mappedIdle+m.own) {
		t.Errorf("%d bytes were idle, of which %d are kept", in.size, m.own)
	}
}

// TestWithoutPagemap runs pools as where the system does not tell pages apart.
func TestWithoutPagemap(t *testing.T) {
	defer func(pages func() pagemap) { processPages = pages }(processPages)
	processPages = func() pagemap { return noPagemap }
	t.Run("clean", TestMemoryIsCleanForEveryCall)
	t.Run("hammer", TestPoolHammer)
	t.Run("large", TestLargeMemoriesArePutBack)
}

// BenchmarkPutBack is what the ways cost that a memory is put back: with the next
// call's writes, which may be faults, and without.
func BenchmarkPutBack(b *testing.B) {
	page := unix.Getpagesize()
	for _, size := range []int{mib / 2, mib, 4 * mib} {
		for _, written := range []int{4, 16, 64} {
			for _, way := range []string{"copied", "let go of", "page by page"} {
				b.Run(fmt.Sprintf("%d of %d pages/%s", written, size/page, way), func(b *testing.B) {
					l, c := newMemory(b, bytes.Repeat([]byte{1}, size), ways[way])
					for b.Loop() {
						for i := range written {
							l.buf[size/written*i]++
						}
						c.restore(l, false)
					}
				})
			}
		}
	}
}
