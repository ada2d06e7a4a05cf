//go:build !amd64

package pairscan

const accelerated = false

func scan(*byte, int, *wide, int) int { panic("pairscan: there is no scan") }
