package fs

import (
	"encoding/json"
	"io"
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

// readFor reads lines with a limit of time.
func readFor(t *testing.T, limit time.Duration, dir string, args abi.LineArgs) (abi.LinesOK, string, []capability.Range) {
	t.Helper()
	raw, err := json.Marshal(abi.ReadArgs{Path: "f", Lines: &args, Shown: true})
	if err != nil {
		t.Fatal(err)
	}
	files := &notes{}
	p, err := New(Options{Time: limit}).Plan(t.Context(), capability.Scope{Cwd: dir, Files: files}, abi.Request{Name: abi.CapFSRead, Args: raw})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a, err := p.Do(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	ok, _ := a.OK.(abi.ReadOK)
	if len(files.told) == 0 {
		return *ok.Lines, string(text), nil
	}
	if (files.views[0] == "") != ok.Lines.TimedOut {
		t.Errorf("timed out: %v, and the view is %q", ok.Lines.TimedOut, files.views[0])
	}
	return *ok.Lines, string(text), files.told[0].Ranges
}

// TestTimeIsUp reads in a file of a terabyte, which would take minutes.
//
//nolint:paralleltest // what is allocated is every test's
func TestTimeIsUp(t *testing.T) {
	const head = 60_000
	dir := t.TempDir()
	path := write(t, dir, "f", strings.Repeat("line\n", head)+strings.Repeat("x", 2*chunkSize))
	if err := os.Truncate(path, 1<<40); err != nil {
		testenv.Missing(t, "a file system with sparse files: "+err.Error())
	}
	for name, c := range map[string]struct {
		args abi.LineArgs
		want abi.LinesOK
		text string
		seen int64 // bytes
	}{
		"a line far down": {abi.LineArgs{Offset: 1 << 40}, abi.LinesOK{First: 1 << 40, More: true, TimedOut: true, Timeout: 200, Passed: head}, "", 0},
		"an endless line": {
			abi.LineArgs{Offset: head, Limit: 5, MaxLine: 3, Number: true},
			abi.LinesOK{First: head, Count: 2, More: true, CutLines: 2, TimedOut: true, Timeout: 200}, " 60000\tlin\n 60001\txxx", 3 + 3,
		},
		"the last before it": {
			abi.LineArgs{Offset: head, Limit: 1, MaxLine: 9}, abi.LinesOK{First: head, Count: 1, More: true}, "line", 5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			limit := 200 * time.Millisecond
			ok, text, seen := readFor(t, limit, dir, c.args)
			for ok != c.want && limit < 5*time.Second { // a busy machine does not come so far
				limit *= 5
				if c.want.TimedOut {
					c.want.Timeout = limit.Milliseconds()
				}
				ok, text, seen = readFor(t, limit, dir, c.args)
			}
			runtime.ReadMemStats(&after)
			if ok != c.want || text != c.text {
				t.Errorf("%+v, %q; want %+v, %q", ok, text, c.want, c.text)
			}
			n := int64(0)
			for _, r := range seen {
				n += r.To - r.From
			}
			if n != c.seen {
				t.Errorf("%d bytes count as seen, of which %d are shown", n, c.seen)
			}
			if made := after.TotalAlloc - before.TotalAlloc; made > 16<<20 {
				t.Errorf("%d bytes were allocated", made)
			}
		})
	}
}

// TestGrowing reads a file that somebody writes to without an end: it ends where the file
// did when it was opened.
func TestGrowing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "f", strings.Repeat("a line\n", 1000))
	log, err := os.OpenFile(filepath.Join(dir, "f"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	defer func() { close(stop); <-stopped; _ = log.Close() }()
	go func() {
		defer close(stopped)
		more := []byte(strings.Repeat("a line\n", 20_000))
		for range 1000 { // 140 MB, as fast as may be
			select {
			case <-stop:
				return
			default:
				_, _ = log.Write(more) // some of it will be there
			}
		}
	}()
	for _, offset := range []int64{1, 1 << 40} {
		ok, _, _ := readFor(t, time.Minute, dir, abi.LineArgs{Offset: offset})
		if ok.TimedOut || ok.More || ok.Total < 1000 || ok.Total > 20_001_000 {
			t.Errorf("from line %d: %+v", offset, ok)
		}
	}
}
