package main

import (
	"strings"
	"testing"
	"time"
)

func TestAverages(t *testing.T) {
	t.Parallel()
	var all averages
	all.add(row{average: "a", baseline: "x"}, 2*time.Second, time.Second)
	all.add(row{}, time.Second, time.Second)
	all.add(row{average: "b", baseline: "y"}, time.Second, 3*time.Second)
	all.add(row{average: "a", baseline: "x"}, 8*time.Second, time.Second)
	var text strings.Builder
	all.write(&text)
	want := "a, the geometric mean of 2\t\tx\t\t4.00x\tat most 1.0x\nb, the geometric mean of 1\t\ty\t\t0.33x\tat most 1.0x\n"
	if text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
}
