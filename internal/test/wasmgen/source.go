package wasmgen

import (
	"encoding/binary"
	"math/rand/v2"
)

// source turns bytes into choices: first the bytes themselves, so that a fuzzer
// changes one choice with one byte, then pseudo-random ones seeded by the first.
type source struct {
	data []byte
	rest *rand.PCG
}

func newSource(data []byte) *source {
	var seed [16]byte
	copy(seed[:], data)
	return &source{data, rand.NewPCG(binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:]))}
}

func (s *source) byte() byte {
	if len(s.data) == 0 {
		return byte(s.rest.Uint64() >> 56)
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

// below chooses one of n <= 256 numbers.
func (s *source) below(n int) int { return int(s.byte()) % n }

// between chooses a number, both ends included.
func (s *source) between(low, high int) int { return low + s.below(high-low+1) }

// oneIn is true once in n times.
func (s *source) oneIn(n int) bool { return s.below(n) == 0 }

func (s *source) uint64() uint64 {
	var b [8]byte
	for i := range b {
		b[i] = s.byte()
	}
	return binary.LittleEndian.Uint64(b[:])
}

// pick chooses an element.
func pick[E any](s *source, from []E) E { return from[s.below(len(from))] }

// number chooses a pattern of 64 bits that is likely to matter: small, at an
// edge of a type, or a float; sometimes any.
func (s *source) number() uint64 {
	switch s.below(4) {
	case 0:
		return uint64(s.below(9))
	case 1:
		return -uint64(s.below(9))
	case 2:
		return pick(s, edges)
	default:
		return s.uint64()
	}
}

var edges = []uint64{
	0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
	0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
	0x3f800000, 0x4f000000, 0xcf000000, 0x5f000000, 0x7f800000, 0x7fc00000, 0xff800000, // float32
	0x3ff0000000000000, 0x41e0000000000000, 0xc1e0000000000000, 0x43e0000000000000,
	0x7ff0000000000000, 0x7ff8000000000000, 0xfff0000000000000, // float64
}
