package prepass

import "math"

// blockType reads how many values a block takes and leaves.
func (s *scanner) blockType(at, next int) (params, results, end int, err *Error) {
	if next >= len(s.buf) {
		return 0, 0, 0, s.fault(at, "cut off instruction")
	}
	switch b := s.buf[next]; b {
	case 0x40:
		return 0, 0, next + 1, nil
	case 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f:
		return 0, 1, next + 1, nil
	default:
		if b >= 0x40 && b < 0x80 {
			return 0, 0, 0, s.fault(at, "unknown block type, or one of an unsupported proposal")
		}
	}
	t, end := s.u32(next)
	if end < 0 || uint64(t) >= uint64(len(s.m.types)) {
		return 0, 0, 0, s.fault(at, "no such block type")
	}
	ft := &s.m.types[t]
	return len(ft.params), len(ft.results), end, nil
}

// u32 reads an integer; end is negative where there is none.
func (s *scanner) u32(p int) (v uint32, end int) {
	if p < len(s.buf) && s.buf[p] < 0x80 {
		return uint32(s.buf[p]), p + 1
	}
	var x uint64
	for shift := 0; shift < 35 && p < len(s.buf); shift += 7 {
		b := s.buf[p]
		p++
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if x > math.MaxUint32 {
				break
			}
			return uint32(x), p
		}
	}
	return 0, -1
}

// skip passes over an integer of at most size bytes.
func (s *scanner) skip(p, size int) int {
	for range size {
		if p >= len(s.buf) {
			return -1
		}
		p++
		if s.buf[p-1] < 0x80 {
			return p
		}
	}
	return -1
}

func (s *scanner) constant(p int) int {
	end := s.skip(p, 5)
	s.constEnd, s.constValue = end, -1
	if end > 0 && s.buf[end-1] < 0x40 { // not negative
		if v, _ := s.u32(p); v < math.MaxInt32 {
			s.constValue = int(v)
		}
	}
	return end
}

func (s *scanner) memarg(p int) int {
	align, p := s.u32(p)
	if p < 0 || align >= 32 {
		return -1
	}
	return s.skip32(p)
}

func (s *scanner) skip32(p int) int {
	_, p = s.u32(p)
	return p
}

// variable reads the index of a local or global. Indices past the declared ones
// would reach what the rewriting adds.
func (s *scanner) variable(imm uint8, p int) int {
	i, p := s.u32(p)
	switch imm {
	case immLocal, immLocalSet:
		if uint64(i) >= uint64(s.b.locals) {
			return -1
		}
		if imm == immLocalSet {
			s.b.sets++
		}
		if n := len(s.loops); n > 0 && n <= maxCarryNesting {
			s.access(i, p, imm == immLocalSet)
		}
	case immGlobalSet:
		if uint64(i) >= uint64(len(s.m.globals)) {
			return -1
		}
		s.m.globals[i].set = true
	case immGlobal:
		if uint64(i) >= uint64(len(s.m.globals)) {
			return -1
		}
	}
	return p
}
