package main

import (
	"strings"
	"testing"
)

// TestLacking has doctor say what Windows has not, and nothing where all is there.
func TestLacking(t *testing.T) {
	t.Parallel()
	for system, want := range map[string]string{"linux": "", "darwin": "", "windows": "no commands run"} {
		var d diagnosis
		d.OK = true
		examineSystem(&d, system)
		if len(d.Findings) == 0 != (want == "") || len(d.Findings) > 0 && !strings.HasPrefix(d.Findings[0].Text, want) || !d.OK {
			t.Errorf("%s: %+v", system, d)
		}
	}
}
