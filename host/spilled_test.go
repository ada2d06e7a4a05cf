package host_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// mostHeap is by how much a long output may make the heap grow on its way to disk,
// in bytes, whatever its length.
const mostHeap = 32_000_000

// longSize is how long the output is, in bytes; with the race detector, which looks at
// each of them, it is less.
func longSize() int64 {
	if testenv.Race {
		return 40_000_000
	}
	return 200_000_000
}

// longOutput is a capability that answers with a long text, as a command does: piece
// by piece, its length unknown.
type longOutput struct {
	testCapability
	size int64
}

func (c *longOutput) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return longPlan{testPlan{&c.testCapability}, c.size}, nil
}

type longPlan struct {
	testPlan
	size int64
}

func (p longPlan) Do(context.Context, capability.Judge) (abi.Answer, error) {
	return abi.Answer{OK: struct{}{}, Body: io.NopCloser(longText(p.size)), Size: -1}, nil
}

// longText is so many bytes of lines.
func longText(size int64) io.Reader {
	return io.LimitReader(new(endlessLines), size)
}

// endlessLines are lines, of which the first of each page is numbered.
type endlessLines struct {
	page    [32 << 10]byte
	rest, n int // of the page, and how many there were
}

func (e *endlessLines) Read(p []byte) (int, error) {
	if e.rest == 0 {
		copy(e.page[:], bytes.Repeat([]byte(".........: what the command says\n"), len(e.page)/33+1))
		copy(e.page[:], fmt.Sprintf("%09d", e.n))
		e.rest, e.n = len(e.page), e.n+1
	}
	n := copy(p, e.page[len(e.page)-e.rest:])
	e.rest -= n
	return n, nil
}

// longSession is a session whose tool Fixture hands on such an answer.
func longSession(tb testing.TB, size int64) *host.Session {
	tb.Helper()
	o := kept(tb)
	o.Plugins.Sources = []plugins.Source{plugin(tb, "pass_through", fixtureTool+fixtureCapability+"[limits]\ntime = \"5m\"\n")}
	o.Capabilities = []capability.Capability{&longOutput{size: size}}
	o.Plugins.Granted = []string{"fixture"}
	o.Plugins.Ceilings = plugins.Limits{Time: 5 * time.Minute}
	return session(tb, open(tb, o), host.SessionOptions{})
}

// TestLongOutputInLittleMemory takes a long output through the whole pipeline, from a
// capability through a guest to the session's folder, in a process of its own.
func TestLongOutputInLittleMemory(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	s := longSession(t, longSize())
	var r abi.ToolResult
	var events []host.Event
	grown := testenv.HeapGrowth(func() { r, events = one(t, s, "Fixture", `{}`) })
	t.Logf("the heap grew by %.1f MB for %d MB", float64(grown)/1e6, longSize()/1_000_000)
	if grown > mostHeap {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	persisted := of(events, host.EventPersisted)
	if len(persisted) != 1 || r.IsError || !strings.Contains(r.Text(), persisted[0].Stored.Path) || len(r.Text()) > 3_000 {
		t.Fatalf("%+v, %.500s", persisted, r.Text())
	}
	checkLong(t, persisted[0].Stored.Path)
}

// checkLong wants a file to hold all of the output.
func checkLong(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, want := sha256.New(), sha256.New()
	n, err := io.Copy(got, f)
	if err != nil || n != longSize() {
		t.Fatalf("the file has %d bytes, %v", n, err)
	}
	if _, err := io.Copy(want, longText(longSize())); err != nil || string(got.Sum(nil)) != string(want.Sum(nil)) {
		t.Error("the file is not what the capability answered")
	}
}

// TestLongGuestInLittleMemory has a guest that writes a long result itself, almost as
// long as it may.
func TestLongGuestInLittleMemory(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	const size = 10<<20 - 1000 // the limit on a guest's output is 10 MiB
	o := kept(t)
	o.Plugins.Sources = []plugins.Source{{Origin: plugins.OriginFlag, Path: "/test", FS: fstest.MapFS{
		"fixture/plugin.toml":  {Data: []byte("manifest = 1\nname = \"fixture\"\nversion = \"1.0.0\"\n" + fixtureTool)},
		"fixture/fixture.wasm": {Data: longGuest(size)},
	}}}
	o.Plugins.Granted = []string{"fixture"}
	s := session(t, open(t, o), host.SessionOptions{})
	var events []host.Event
	grown := testenv.HeapGrowth(func() { _, events = one(t, s, "Fixture", `{}`) })
	t.Logf("the heap grew by %.1f MB", float64(grown)/1e6)
	if grown > mostHeap {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	persisted := of(events, host.EventPersisted)
	if len(persisted) != 1 || persisted[0].Stored.Bytes != size {
		t.Fatalf("%+v", persisted)
	}
}

// longGuest is a module whose tool answers with so many NULs.
func longGuest(size int) []byte {
	const at = 64
	head := `{"content":[{"type":"text","source":[{"part":0}]}]}`
	frame := binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, uint32(len(head)))
	frame = append(frame, head...)
	frame = append(frame, 2, 0, 0, 0)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(size))
	room := at + len(frame) + size // for the host's message, behind the answer
	answer := int64(at)<<32 | int64(len(frame)+size)
	body := func(code ...byte) []byte { return sized(append(append([]byte{0}, code...), 0x0b)) }
	var m []byte
	section := func(id byte, count byte, content ...byte) {
		m = append(append(m, id), sized(append([]byte{count}, content...))...)
	}
	m = append(m, "\x00asm\x01\x00\x00\x00"...)
	section(1, 2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 1, 0x7e)
	section(3, 2, 0, 1)
	section(5, 1, append([]byte{0}, leb(int64(room>>16+2))...)...)
	section(7, 3, []byte("\x06memory\x02\x00\x05alloc\x00\x00\x04call\x00\x01")...)
	section(10, 2, append(body(append([]byte{0x41}, leb(int64(room))...)...), body(append([]byte{0x42}, leb(answer)...)...)...)...)
	section(11, 1, append(append([]byte{0, 0x41}, leb(at)...), append([]byte{0x0b}, sized(frame)...)...)...)
	return m
}

// sized puts a length before bytes.
func sized(b []byte) []byte { return append(binary.AppendUvarint(nil, uint64(len(b))), b...) }

// leb is a positive number in signed LEB128.
func leb(n int64) []byte {
	b := binary.AppendUvarint(nil, uint64(n))
	if last := len(b) - 1; b[last]&0x40 != 0 {
		b[last] |= 0x80
		b = append(b, 0)
	}
	return b
}

// BenchmarkLongOutput is a command's output of 200 MB on its way to disk.
func BenchmarkLongOutput(b *testing.B) {
	s := longSession(b, longSize())
	b.SetBytes(longSize())
	for i := 0; b.Loop(); i++ {
		if r := s.Results(b.Context(), []abi.ToolUse{use(strconv.Itoa(i), "Fixture", `{}`)})[0]; r.IsError {
			b.Fatal(r.Text())
		}
	}
}

const aloneVariable = "TOOLQUAY_TEST_HOST_ALONE"

// ownProcess has the test that calls it run in a process of its own, in which it is true.
func ownProcess(t *testing.T) bool {
	t.Helper()
	if os.Getenv(aloneVariable) != "" {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.v", "-test.run", "^"+t.Name()+"$")
	child.Env = append(os.Environ(), aloneVariable+"=1")
	out, err := child.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a process of its own: %v", err)
	}
	return false
}
