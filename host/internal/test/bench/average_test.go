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
	all.write(&table{w: &text, names: 30, baseline: 2})
	want := "" +
		"a, the geometric mean of 2                  x               4.00x           at most 1.0x\n" +
		"b, the geometric mean of 1                  y               0.33x           at most 1.0x\n"
	if text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
}
