package testenv_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// recorder stands in for a test that is skipped or failed: doing either to the
// real one would end this test with it.
type recorder struct {
	testing.TB
	skipped, failed string
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any) { r.skipped = fmt.Sprintf(format, args...) }

func (r *recorder) Fatalf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }

const absent = "toolquay-no-such-program"

func TestNeedToolSkipsLocally(t *testing.T) {
	t.Setenv("CI", "")
	r := &recorder{TB: t}
	testenv.NeedTool(r, absent)
	if r.failed != "" || !strings.Contains(r.skipped, absent) {
		t.Errorf("without CI: skipped %q, failed %q; want a skip that names the program", r.skipped, r.failed)
	}
}

func TestNeedToolFailsUnderCI(t *testing.T) {
	t.Setenv("CI", "true")
	r := &recorder{TB: t}
	testenv.NeedTool(r, absent)
	if r.skipped != "" && r.failed == "" {
		t.Errorf("under CI: skipped %q; want a failure", r.skipped)
	}
	if !strings.Contains(r.failed, absent) {
		t.Errorf("under CI: failed with %q; want the program's name in it", r.failed)
	}
}

func TestNeedToolFindsPrograms(t *testing.T) {
	r := &recorder{TB: t}
	if path := testenv.NeedTool(r, "go"); path == "" || r.skipped+r.failed != "" {
		t.Errorf("NeedTool(go) = %q, skipped %q, failed %q; want its path", path, r.skipped, r.failed)
	}
}

func TestPermittedSkipsUnderCI(t *testing.T) {
	t.Setenv("CI", "true")
	systems := map[string]testenv.Need{
		"windows": testenv.Windows,
		"darwin":  testenv.MacOS,
		"linux":   testenv.Linux,
	}
	for goos, need := range systems {
		r := &recorder{TB: t}
		testenv.Permitted(r, need)
		if skipped := r.skipped != ""; skipped == (goos == runtime.GOOS) || r.failed != "" {
			t.Errorf("needing %s on %s: skipped %q, failed %q", need, runtime.GOOS, r.skipped, r.failed)
		}
	}
}
