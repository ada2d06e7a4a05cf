package runnertest

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

// alone runs the test that calls it in a process of its own, in which the variable
// is set.
func alone(t *testing.T, variable string) {
	t.Helper()
	var pattern []string
	for name := range strings.SplitSeq(t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(name)+"$")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.v", "-test.run", strings.Join(pattern, "/"))
	child.Env = append(os.Environ(), variable+"=1")
	out, err := child.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a process of its own: %v", err)
	}
}

// growth is by how much the heap was larger while something was done than before,
// in bytes: what was in use, and what was free in it.
func growth(do func()) uint64 {
	runtime.GC()
	before, most := heap(), uint64(0)
	quit, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				most = max(most, heap())
			}
		}
	}()
	do()
	close(quit)
	<-watched
	return max(most, heap()) - min(before, most)
}

func heap() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}
