package host_test

import (
	"strconv"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
)

// BenchmarkParallel is a turn of 100 calls, each of which is about a millisecond's
// work for its guest: one after the other, and as many at once as there may be.
func BenchmarkParallel(b *testing.B) {
	for name, o := range map[string]host.Options{"serial": {MaxConcurrent: 1}, "parallel": {}} {
		b.Run(name, func(b *testing.B) {
			o.Plugins = []plugins.Source{plugin(b, "count", fixtureTool+"read_only = true\nconcurrency_safe = true\n")}
			s := session(b, open(b, o), host.SessionOptions{})
			uses := make([]abi.ToolUse, 100)
			for i := range uses {
				uses[i] = use(strconv.Itoa(i), "Fixture", `{}`)
			}
			for b.Loop() {
				for _, r := range s.Results(b.Context(), uses) {
					if r.Text() != "ok" {
						b.Fatal(r.Text())
					}
				}
			}
		})
	}
}
