package extism_test

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// testdata/steps.wasm does what its input says, so that any sequence of Extism's
// functions can be compared between go-sdk and here.

// The operations of steps.wasm, in the order of its table.
const (
	opAlloc = iota
	opFree
	opLength
	opLengthUnsafe
	opLoad8
	opLoad64
	opStore8
	opStore64
	opInputLoad8
	opInputLoad64
	opInputLength
	opInputOffset
	opInputSet
	opOutputSet
	opOutputLength
	opOutputOffset
	opErrorSet
	opErrorGet
	opMemoryBytes
	opReset
	opConfigGet
	opVarGet
	opVarSet
	opLogTrace
	opLogDebug
	opLogInfo
	opLogWarn
	opLogError
	opLogLevel
	opHTTPStatus
	opHTTPHeaders
	opAdd
)

const (
	stepSize = 17
	refA     = 64  // operand a is a step's number
	refB     = 128 // operand b is
)

// program is a list of steps.
type program []byte

// add appends a step and returns its number.
func (p *program) add(op byte, a, b uint64) uint64 {
	*p = append(*p, op)
	*p = binary.LittleEndian.AppendUint64(*p, a)
	*p = binary.LittleEndian.AppendUint64(*p, b)
	return uint64(len(*p)/stepSize - 1)
}

// text makes a block of a text and returns the step that made it.
func (p *program) text(s string) uint64 {
	block := p.add(opAlloc, uint64(len(s)), 0)
	for i := range len(s) {
		at := p.add(opAdd|refA, block, uint64(i))
		p.add(opStore8|refA, at, uint64(s[i]))
	}
	return block
}

// compose makes a program of entropy. It stores into one block alone, so that
// the lists of the kernel stay in order: what a guest gets that breaks them is
// its own affair, and may take for ever. Left out is where the kernel is followed
// and go-sdk does not, see TestWhereTheKernelIsFollowed.
func compose(entropy []byte) program {
	source := rand.New(rand.NewChaCha8([32]byte(append(entropy, make([]byte, 32)...))))
	sizes := []uint64{0, 1, 7, 8, 100, 128, 129, 4000, 65_472, 70_000, 1 << 20, 5 << 20, 1 << 27, 1 << 31, 1 << 40}
	var p program
	scratch := p.add(opAlloc, 32, 0)
	blocks := []uint64{p.text("k"), p.text("a value"), scratch}
	block := func() uint64 { return blocks[source.IntN(len(blocks))] }
	inside := func() uint64 { return p.add(opAdd|refA, scratch, uint64(source.IntN(25))) }
	near := func() uint64 { return p.add(opAdd|refA, block(), uint64(source.IntN(40))) }
	moved := false
	for _, e := range entropy[:min(len(entropy), 120)] {
		switch op := e % (opAdd + 1); op {
		case opAlloc:
			blocks = append(blocks, p.add(op, sizes[source.IntN(len(sizes))], 0))
		case opInputLoad8:
			p.add(op, uint64(source.IntN(100)), 0)
		case opInputLoad64:
			if !moved {
				p.add(op, uint64(source.IntN(2*stepSize)), 0)
			}
		case opInputSet:
			moved = true
			p.add(op|refA, near(), uint64(source.IntN(20)))
		case opOutputSet:
			p.add(op|refA, near(), uint64(source.IntN(200)))
		case opLoad64, opStore8, opStore64:
			p.add(op|refA, inside(), source.Uint64())
		case opVarSet:
			p.add(op|refA|refB, block(), block())
		case opReset: // empties the lists, see TestReset
		default:
			if source.IntN(4) == 0 {
				p.add(op|refA, near(), 0)
			} else {
				p.add(op|refA, block(), 0)
			}
		}
	}
	return p
}

// compareSteps makes the same program run here and through go-sdk.
func compareSteps(tb testing.TB, ours plugins.Instance, theirs reference, p program) {
	tb.Helper()
	for _, export := range []string{"run", "raw", "code"} {
		config := map[string]string{"k": "configured", "a value": ""}
		agree(tb, callOurs(tb, ours, export, string(p), config), theirs.call(tb, export, string(p), config))
	}
	if tb.Failed() {
		for i := 0; i < len(p); i += stepSize {
			tb.Logf("%d: %d(%#x, %#x)", i/stepSize, p[i], binary.LittleEndian.Uint64(p[i+1:]), binary.LittleEndian.Uint64(p[i+9:]))
		}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	wasm := fixture(t, "steps.wasm")
	ours, theirs := mustLoad(t, wasm, limits, "run", "raw", "code"), refer(t, wasm)
	source := rand.New(rand.NewPCG(1, 2))
	for range testenv.Sample(60) {
		entropy := make([]byte, 4+source.IntN(120))
		for i := range entropy {
			entropy[i] = byte(source.Uint32())
		}
		if compareSteps(t, ours, theirs, compose(entropy)); t.Failed() {
			return
		}
	}
}

func FuzzSteps(f *testing.F) {
	wasm := fixture(f, "steps.wasm")
	ours, theirs := mustLoad(f, wasm, limits, "run", "raw", "code"), refer(f, wasm)
	f.Add([]byte{opAlloc, opFree, opLength, opVarSet, opVarGet, opConfigGet})
	f.Add([]byte{opStore64, opLoad64, opOutputSet, opErrorSet, opLogWarn})
	f.Fuzz(func(t *testing.T, entropy []byte) {
		compareSteps(t, ours, theirs, compose(entropy))
	})
}

// TestReset holds that a guest may empty the kernel in the middle of its call.
func TestReset(t *testing.T) {
	t.Parallel()
	wasm := fixture(t, "steps.wasm")
	var p program
	p.text("gone")
	p.add(opReset, 0, 0)
	p.add(opInputLength, 0, 0)
	p.add(opErrorGet, 0, 0)
	block := p.text("k")
	p.add(opConfigGet|refA, block, 0)
	p.add(opMemoryBytes, 0, 0)
	compareSteps(t, mustLoad(t, wasm, limits, "run"), refer(t, wasm), p)
}

// TestWhereTheKernelIsFollowed holds what go-sdk does otherwise: it reads and
// writes 64 bits by itself, with offsets cut to 32 bits and no regard to where
// the input ends, and fails the call where the kernel's own functions, which
// other SDKs call, answer 0. And its kernel begins with 15 pages more than it
// reckons with, into which a guest can store without a block.
func TestWhereTheKernelIsFollowed(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "steps.wasm"), limits, "run")
	var p program
	p.add(opLoad64, 1<<40, 0)
	p.add(opStore64, 1<<40, 1)
	p.add(opStore64, 8, 1)
	p.add(opLoad64, 8, 0)
	p.add(opInputLoad64, 1000, 0)
	p.add(opStore8, 100_000, 7)
	p.add(opLoad8, 100_000, 0)
	got := callOurs(t, guest, "run", string(p), nil)
	if want := strings.Repeat("0", 7*16); got.text != want || got.failed != "" {
		t.Errorf("got %q %q", got.text, got.failed)
	}
}
