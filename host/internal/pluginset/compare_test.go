package pluginset

import (
	"slices"
	"testing"

	"github.com/toolquay/toolquay/plugins"
)

// TestCompare tells tools that came, went, or are another plugin's now.
func TestCompare(t *testing.T) {
	t.Parallel()
	one, two := &plugins.Plugin{}, &plugins.Plugin{}
	from := func(p *plugins.Plugin) *plugins.Tool { return &plugins.Tool{Plugin: p} }
	var got Tools
	got.compare(
		map[string]*plugins.Tool{"Same": from(one), "Changed": from(one), "Gone": from(one)},
		map[string]*plugins.Tool{"Same": from(one), "Changed": from(two), "New": from(two), "Another": from(two)},
	)
	for name, list := range map[string]struct{ got, want []string }{
		"added":   {got.Added, []string{"Another", "New"}},
		"changed": {got.Changed, []string{"Changed"}},
		"removed": {got.Removed, []string{"Gone"}},
	} {
		if !slices.Equal(list.got, list.want) {
			t.Errorf("%s: %q, want %q", name, list.got, list.want)
		}
	}
	if got.None() {
		t.Error("it says that nothing differs")
	}
}
