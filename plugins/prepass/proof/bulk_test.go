package proof

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
)

// TestLongBulkOperations compares memory.fill, memory.copy and memory.init of
// all lengths and overlaps, which random modules, of small memories, do not
// reach: the pre-pass does long ones in pieces.
func TestLongBulkOperations(t *testing.T) {
	t.Parallel()
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			d := newDifferential(t.Context(), t, e, false)
			defer d.close(t.Context(), t)
			if err := compareBulk(d, rand.New(rand.NewPCG(5, 6))); err != nil {
				t.Error(err)
			}
			t.Logf("operations compared: %v", d.ended)
		})
	}
}

const (
	bulkPages = 40
	bulkBytes = bulkPages << 16
)

func compareBulk(d *differential, random *rand.Rand) error {
	wasm := bulkModule()
	if _, err := d.compile(wasm); err != nil {
		return err
	}
	d.memory = true
	if _, _, err := d.step("instantiation", func(s *subject) outcome { s.allow(d.fuel); return s.start(wasm) }); err != nil {
		return err
	}
	pattern := make([]byte, bulkBytes)
	for i := range pattern {
		pattern[i] = byte(random.Uint32())
	}
	for _, s := range append(d.others, d.original) {
		s.module.Memory().Write(0, pattern)
	}
	for range 200 {
		name := []string{"fill", "copy", "copy", "init"}[random.IntN(4)]
		to := place(random)
		from, length := near(random, to), near(random, 0)
		if name == "init" {
			from = uint64(random.IntN(64))
		}
		what := fmt.Sprintf("%s(%#x, %#x, %#x)", name, to, from, length)
		o, _, err := d.step(what, func(s *subject) outcome {
			s.allow(d.fuel)
			return s.invoke(name, []uint64{to, from, length})
		})
		if err != nil {
			return err
		}
		d.ended[o.class]++
	}
	return nil
}

// place chooses an address at or near one that matters.
func place(random *rand.Rand) uint64 {
	switch random.IntN(4) {
	case 0:
		return uint64(random.IntN(64))
	case 1:
		return uint64(random.IntN(bulkPages)) << 16
	case 2:
		return bulkBytes - uint64(random.IntN(1<<20))
	default:
		return uint64(random.IntN(bulkBytes))
	}
}

// near chooses a number that is a few pages, or bytes, away from another; seldom
// one that is far too large.
func near(random *rand.Rand, n uint64) uint64 {
	away := []uint64{0, 1, 7, 4096, 4097, 1 << 16, 256 << 10, 512 << 10, 1 << 20, uint64(random.IntN(1 << 21))}[random.IntN(10)]
	away += uint64(random.IntN(3)) - 1
	if random.IntN(2) == 0 && away <= n {
		away = -away
	}
	if random.IntN(20) == 0 {
		away = 1 << 31
	}
	return uint64(uint32(n + away))
}

// bulkModule exports fill, copy and init of a memory, of type
// [to, from or value, length] -> [].
func bulkModule() []byte {
	var m wasmgen.Module
	m.Export("memory", wasmgen.Memory, m.Memory(wasmgen.AtLeast(bulkPages)))
	data := make([]byte, 600<<10)
	for i := range data {
		data[i] = byte(i * i >> 3)
	}
	segment := m.PassiveData(data)
	t := wasmgen.Sig([]wasmgen.ValType{wasmgen.I32, wasmgen.I32, wasmgen.I32}, nil)
	operands := func() *wasmgen.Code { return new(wasmgen.Code).LocalGet(0).LocalGet(1).LocalGet(2) }
	m.Export("fill", wasmgen.Function, m.Func(t, operands().MemoryFill()))
	m.Export("copy", wasmgen.Function, m.Func(t, operands().MemoryCopy()))
	m.Export("init", wasmgen.Function, m.Func(t, operands().MemoryInit(segment)))
	return m.Bytes()
}
