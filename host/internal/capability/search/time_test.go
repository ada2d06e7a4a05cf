package search

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
)

// slow takes the engine minutes for a few megabytes of the letters it is about.
const slow = "a{0,1000}{0,10}z"

// TestTimeIsUp ends searches that would go on for minutes and hours. What they have found
// by then is their answer.
func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 8<<20) + "z"
	root := tree(t, "a/first", "b\naz\n", "b/long", strings.Repeat("az\n", 20)+long, "b/one", long,
		"sparse", "az\n"+strings.Repeat("-\n", sniffSize))
	if err := os.Truncate(filepath.Join(root, "sparse"), 1<<40); err != nil {
		testenv.Missing(t, "a file system with sparse files: "+err.Error())
	}
	if _, _, err := callOf(t, New(Options{Engine: engine}), root, abi.ContentsArgs{Pattern: slow, Path: "a"}); err != nil {
		t.Fatal(err) // the engine is compiled by now, which takes its time
	}
	for name, c := range map[string]struct {
		args     abi.ContentsArgs
		want     string // how the answer begins
		timedOut bool
	}{
		"a slow expression":     {abi.ContentsArgs{Pattern: slow, Mode: abi.ModeContent, Globs: []string{"a/*", "b/*"}}, "a/first:az\n", true},
		"its files":             {abi.ContentsArgs{Pattern: slow, Path: "a"}, "a/first\n", false},
		"its counts":            {abi.ContentsArgs{Pattern: slow, Mode: abi.ModeCount, Path: "b/long"}, "b/long:20\n", true},
		"within one match":      {abi.ContentsArgs{Pattern: slow, Path: "b/one"}, "", true},
		"across lines":          {abi.ContentsArgs{Pattern: slow, Path: "b/one", Multiline: true}, "", true},
		"a terabyte, by lines":  {abi.ContentsArgs{Pattern: "a+z", Path: "sparse", Mode: abi.ModeContent}, "sparse:az\n", true},
		"a terabyte, for texts": {abi.ContentsArgs{Pattern: "az", Path: "sparse", Mode: abi.ModeCount}, "sparse:1\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began, limit := time.Now(), testenv.Patience
			if c.timedOut {
				limit = 300 * time.Millisecond
			}
			got, body := searchFor(t, limit, root, c.args)
			for c.timedOut && !strings.HasPrefix(body, c.want) && limit < 5*time.Second { // a busy machine does not come so far
				limit *= 5
				got, body = searchFor(t, limit, root, c.args)
			}
			if !strings.HasPrefix(body, c.want) || got.TimedOut != c.timedOut || c.timedOut && got.Timeout != limit.Milliseconds() {
				t.Errorf("%.100q, %+v; want %q, timed out: %v", body, got, c.want, c.timedOut)
			}
			if took := time.Since(began); took > testenv.Patience {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// searchFor is what a search finds in a time.
func searchFor(t *testing.T, limit time.Duration, root string, args abi.ContentsArgs) (abi.ContentsOK, string) {
	t.Helper()
	ok, body, err := callOf(t, New(Options{Engine: engine, Time: limit}), root, args)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := ok.(abi.ContentsOK)
	return got, body
}

// TestGrowing searches a file that somebody writes to without an end.
func TestGrowing(t *testing.T) {
	t.Parallel()
	root := tree(t, "log", strings.Repeat("a line\n", 1000))
	log, err := os.OpenFile(filepath.Join(root, "log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	more := []byte(strings.Repeat("a line\n", 20_000))
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for range testenv.Sample(2000) { // 280 MB, as fast as may be
			select {
			case <-stop:
				return
			default:
				_, _ = log.Write(more) // some of it will be there
				runtime.Gosched()
			}
		}
	}()
	for _, pattern := range []string{"line", "l.ne"} {
		got, body := searchFor(t, testenv.Patience, root, abi.ContentsArgs{Pattern: pattern, Mode: abi.ModeCount, Path: "log"})
		if got.TimedOut || !strings.HasPrefix(body, "log:") {
			t.Errorf("%s: %q, %+v", pattern, body, got)
		}
	}
}

// TestNamesTimeIsUp ends a walk.
func TestNamesTimeIsUp(t *testing.T) {
	t.Parallel()
	root := tree(t, "a", "", "b/c", "")
	req := abi.Request{Name: abi.CapSearchNames, Args: []byte(`{"pattern": "**"}`)}
	p, err := New(Options{Time: time.Nanosecond}).Plan(t.Context(), capability.Scope{Cwd: root}, req)
	if err != nil {
		t.Fatal(err)
	}
	ok, _, err := done(t, p, all)
	if got, _ := ok.(abi.NamesOK); err != nil || !got.TimedOut || got.Total != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
