package prepass

// writer builds a binary.
type writer struct{ b []byte }

func (w *writer) byte(b ...byte) { w.b = append(w.b, b...) }

func (w *writer) u32(v uint32) {
	for v >= 0x80 {
		w.b = append(w.b, byte(v)|0x80)
		v >>= 7
	}
	w.b = append(w.b, byte(v))
}

// s64 writes a signed integer, of any size.
func (w *writer) s64(v int64) {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && b&0x40 == 0) || (v == -1 && b&0x40 != 0) {
			w.b = append(w.b, b)
			return
		}
		w.b = append(w.b, b|0x80)
	}
}

func (w *writer) name(s string) {
	w.u32(uint32(len(s)))
	w.b = append(w.b, s...)
}

// maxLEB is the room that the length of something takes at most.
const maxLEB = 5

// sized writes something with its length in front.
func (w *writer) sized(write func()) {
	start := w.open()
	write()
	w.close(start)
}

// open leaves room for a length; close puts it there.
func (w *writer) open() int {
	w.b = append(w.b, 0, 0, 0, 0, 0)
	return len(w.b)
}

func (w *writer) close(start int) {
	length := writer{b: make([]byte, 0, maxLEB)}
	length.u32(uint32(len(w.b) - start))
	n := copy(w.b[start-maxLEB:], length.b)
	end := copy(w.b[start-maxLEB+n:], w.b[start:])
	w.b = w.b[:start-maxLEB+n+end]
}

func (w *writer) section(id byte, write func()) {
	w.byte(id)
	w.sized(write)
}

// Instructions that the rewriting puts in.

func (w *writer) globalGet(i uint32) { w.byte(0x23); w.u32(i) }
func (w *writer) globalSet(i uint32) { w.byte(0x24); w.u32(i) }
func (w *writer) localGet(i uint32)  { w.byte(0x20); w.u32(i) }
func (w *writer) localSet(i uint32)  { w.byte(0x21); w.u32(i) }
func (w *writer) localTee(i uint32)  { w.byte(0x22); w.u32(i) }
func (w *writer) i32(v int32)        { w.byte(0x41); w.s64(int64(v)) }
func (w *writer) i64(v int64)        { w.byte(0x42); w.s64(v) }
func (w *writer) call(f uint32)      { w.byte(0x10); w.u32(f) }

const (
	opCallVoid          = 0x40 // block type of no values
	opI32Add            = 0x6a
	opI32Sub            = 0x6b
	opI32LtS            = 0x48
	opI32LtU            = 0x49
	opI32GtU            = 0x4b
	opI32GeS            = 0x4e
	opI64GeS            = 0x59
	opI32ReinterpretF32 = 0xbc
	opI64ReinterpretF64 = 0xbd
	opF32ReinterpretI32 = 0xbe
	opF64ReinterpretI64 = 0xbf
	opVec               = 0xfd
	opVecNot            = 0x4d
	typeF32             = 0x7d
	typeF64             = 0x7c
	typeV128            = 0x7b
	opI32LeU            = 0x4d
	opI32ShrU           = 0x76
	opI64LtS            = 0x53
	opI64LeU            = 0x58
	opI64Add            = 0x7c
	opI64Sub            = 0x7d
	opI64Mul            = 0x7e
	opI64Shl            = 0x86
	opExtendS           = 0xac
	opExtendU           = 0xad
	opDrop              = 0x1a
	opSelect            = 0x1b
	opUnreach           = 0x00
	opMemSize           = 0x3f
	typeI32             = 0x7f
	typeI64             = 0x7e
	opMiscCode          = 0xfc
	memCopyCode         = 10
	memFillCode         = 11
)
