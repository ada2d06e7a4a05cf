package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/plugins"
)

// A hook that looks at what a tool answered is told where all of a long text lies, and
// what it takes out of the result is not left in a file that the model may read.
func TestHooksSeeLongOutput(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	for name, test := range map[string]struct {
		rewrite func([]abi.Block) []abi.Block
		files   int // that are left
	}{
		"it takes it out": {func([]abi.Block) []abi.Block { return []abi.Block{abi.TextBlock("taken out")} }, 0},
		"it adds to it":   {func(b []abi.Block) []abi.Block { return append(b, abi.TextBlock("added")) }, 1},
		"it lets it be":   {func([]abi.Block) []abi.Block { return nil }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen int64
			o := kept(t)
			o.Plugins.Sources = []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability)}
			o.Capabilities, o.Plugins.Granted = []capability.Capability{&longOutput{size: size}}, []string{"fixture"}
			o.Permissions.Hooks = hookSet(t, hooks.Hook{Event: hooks.PostToolUse, Func: func(_ context.Context, in hooks.Input) (hooks.Output, error) {
				info, err := os.Stat(in.Result.Content[0].Spilled.Path)
				if err == nil {
					seen = info.Size()
				}
				return hooks.Output{UpdatedOutput: test.rewrite(in.Result.Content)}, err
			}})
			s := session(t, open(t, o), host.SessionOptions{})
			r, _ := one(t, s, "Fixture", `{}`)
			if taken := strings.Contains(r.Text(), "taken out"); r.IsError || seen != size || taken != (test.files == 0) {
				t.Errorf("the hook saw %d bytes, and the model %.200q", seen, r.Text())
			}
			left, err := os.ReadDir(filepath.Join(s.Dir(), "tool-results"))
			if err != nil || len(left) != test.files {
				t.Errorf("%d files are left: %v, %v", len(left), left, err)
			}
		})
	}
}
