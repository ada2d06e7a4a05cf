package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestScansEnd has Grep and Read end at the host's limit of time, as results and not as
// failures.
func TestScansEnd(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"slow": "az\n" + strings.Repeat("a", 8<<20) + "z", "huge": strings.Repeat("line\n", 2000)})
	if err := os.Truncate(filepath.Join(dir, "huge"), 1<<40); err != nil {
		testenv.Missing(t, "a file system with sparse files: "+err.Error())
	}
	limited := func(limit time.Duration) *host.Session {
		return session(t, open(t, host.Options{Builtins: true, Limits: host.LimitOptions{ScanTimeout: limit}}), host.SessionOptions{Cwd: dir})
	}
	limit := 300 * time.Millisecond
	s := limited(limit)
	for _, c := range []struct{ tool, input, begins, says string }{
		{"Grep", `{"pattern":"a{0,1000}{0,10}z","output_mode":"content","path":"slow"}`, "slow:1:az\n\n[stopped at the time limit of 0.3 s", "name a smaller path"},
		{"Grep", `{"pattern":"line","output_mode":"count","path":"huge"}`, "huge:2000\n", "[stopped at the time limit of 0.3 s"},
		{"Read", `{"file_path":"huge","offset":90000}`, "[line 90000 was not reached within 0.3 s: huge has more than 2000 lines before it", ""},
		{"Read", `{"file_path":"huge","offset":1999}`, "  1999\tline\n  2000\tline\n  2001\t\x00", "[stopped after line 2001 at the time limit of 0.3 s; the file goes on"},
	} {
		for {
			text := strings.NewReplacer("0.3 s", fmt.Sprint(limit.Seconds(), " s"))
			r, _ := one(t, s, c.tool, c.input)
			got := r.Text()
			if !r.IsError && strings.HasPrefix(got, text.Replace(c.begins)) && strings.Contains(got, text.Replace(c.says)) {
				break
			}
			if limit > 10*time.Second {
				t.Fatalf("%s %s: %.200q ... %q", c.tool, c.input, got, got[max(0, len(got)-200):])
			}
			limit *= 6 // a busy machine does not come so far in the time
			s = limited(limit)
		}
	}
}
