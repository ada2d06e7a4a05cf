package main

import (
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// TestLoosest: a plan that was kept is asked again with the modes that it was kept with.
func TestLoosest(t *testing.T) {
	t.Parallel()
	type modes = []permissions.Mode
	for _, test := range []struct {
		of   modes
		want permissions.Mode
	}{
		{nil, ""}, {modes{"default"}, "default"}, {modes{"default", "acceptEdits"}, "acceptEdits"}, {modes{"auto", "acceptEdits"}, "auto"},
		{modes{"dontAsk"}, "dontAsk"}, {modes{"dontAsk", "acceptEdits"}, "acceptEdits"},
	} {
		if got := loosest(test.of); got != test.want {
			t.Errorf("%v: %q, want %q", test.of, got, test.want)
		}
	}
}
