package pairscan

import "golang.org/x/sys/cpu"

// accelerated says that [scan] runs here.
var accelerated = cpu.X86.HasAVX2

// scan looks at the first places of a text, as many as a multiple of 32, for one of
// count pairs. It reads as far behind the last place as the pairs reach.
//
//go:noescape
func scan(text *byte, places int, pairs *wide, count int) int
