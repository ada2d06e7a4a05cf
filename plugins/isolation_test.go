package plugins_test

import (
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

func TestIsolationPicksTheRunner(t *testing.T) {
	t.Parallel()
	const asks = "isolation = \"process\""
	tests := map[string]struct {
		origin   plugins.Origin
		top      string
		demanded bool
		apart    bool // the host has a runner for it
		want     string
	}{
		"as usual":              {plugins.OriginUser, "", false, true, "inside"},
		"sandbox":               {plugins.OriginUser, "isolation = \"sandbox\"", false, true, "inside"},
		"asked for":             {plugins.OriginUser, asks, false, true, "apart"},
		"demanded":              {plugins.OriginUser, "", true, true, "apart"},
		"demanded of sandboxes": {plugins.OriginFlag, "isolation = \"sandbox\"", true, true, "apart"},
		"asked for in vain":     {plugins.OriginUser, asks, false, false, `in a process of its own, which its manifest asks for (isolation = "process"); this host runs none so`},
		"demanded in vain":      {plugins.OriginProject, "", true, false, "in a process of its own, which settings demand of every plugin; this host runs none so"},
		"built in, demanded":    {plugins.OriginBuiltin, "", true, true, "inside"},
		"built in, asked for":   {plugins.OriginBuiltin, asks, false, false, "inside"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			folder(t, dir, "one", manifest("one", tt.top, "Show"), fixture(t, "ok"))
			inside, apart := &counter{abi: abi.ABIDirect}, &counter{abi: abi.ABIDirect}
			o := plugins.Options{Runners: []plugins.Runner{inside}, Isolate: tt.demanded}
			if tt.apart {
				o.Isolated = []plugins.Runner{apart}
			}
			set := open(t, o, plugins.Dir(tt.origin, dir))
			if p := plugin(t, set, "one"); p.Problem() != nil {
				wantProblem(t, p.Problem(), abi.CodeUnsupported, tt.want)
				return
			}
			wantCall(t, tool(t, set, "Show"), "")
			got := map[[2]int32]string{{1, 0}: "inside", {0, 1}: "apart"}[[2]int32{inside.loads.Load(), apart.loads.Load()}]
			if got != tt.want {
				t.Errorf("it runs %q, want %q", got, tt.want)
			}
			if trusted := inside.trusted.Load() || apart.trusted.Load(); trusted != (tt.origin == plugins.OriginBuiltin) {
				t.Errorf("trusted: %t", trusted)
			}
			if err := set.Close(t.Context()); err != nil || tt.apart && apart.closed.Load() != 1 {
				t.Errorf("the isolated runner was closed %d times, %v", apart.closed.Load(), err)
			}
		})
	}
}
