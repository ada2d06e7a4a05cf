package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestCrowd has many clients at once (two hundred in CI), each with calls and one that it gives up. When they
// have left, a second crowd leaves behind no more than the first: no goroutines, descriptors or
// memory. It runs alone, to count them.
func TestCrowd(t *testing.T) { //nolint:paralleltest // it counts what the process has
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			s := serve(t, tool("Wait", func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
				<-ctx.Done()
				return abi.ToolResult{}, context.Cause(ctx)
			}), func(o *mcp.Options, _ *host.Options) { o.MaxSessions, o.MaxCalls = 1000, 1000 })
			web := httptest.NewServer(http.StripPrefix("/mcp", s.server.Handler()))
			defer web.Close()
			s.crowd(web.URL+"/mcp", revision)
			first := settled(t, remains{})
			s.crowd(web.URL+"/mcp", revision)
			second := settled(t, first)
			t.Logf("after the first crowd %+v, after the second %+v", first, second)
		})
	}
}

// crowd are clients that come at once and leave.
func (s *served) crowd(url, revision string) {
	s.tb.Helper()
	n := 30
	if testenv.Thorough() {
		n = 200
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			c, err := sdk.NewClient(&sdk.Implementation{Name: "one of many", Version: "1"}, nil).Connect(s.tb.Context(),
				&sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: transport}}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				s.tb.Error(err)
				return
			}
			for range 3 {
				r, err := c.CallTool(s.tb.Context(), &sdk.CallToolParams{Name: "Read", Arguments: map[string]any{"file_path": "a.txt"}})
				if err != nil || r.IsError {
					s.tb.Errorf("a call: %v, %+v", err, r)
				}
			}
			ctx, cancel := context.WithTimeout(s.tb.Context(), 20*time.Millisecond)
			defer cancel()
			if r, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "Wait"}); err == nil {
				s.tb.Errorf("a call that was given up: %+v", r)
			}
			_ = c.Close() // it waits five seconds, and a busy machine may take longer; what remains is counted
		})
	}
	all.Wait()
}

// remains is what a process has.
type remains struct {
	goroutines, descriptors int
	heap                    int64
}

// settled waits until a process has hardly more than it had before, and returns that. Before the
// first time there is nothing to compare with: then it waits for a while of rest.
func settled(t *testing.T, before remains) remains {
	t.Helper()
	const moreGoroutines, moreDescriptors, moreHeap = 10, 5, 2 << 20
	var now remains
	for end := time.Now().Add(testenv.Patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		last := now
		now = counted()
		switch {
		case before == remains{} && (now.goroutines != last.goroutines || now.descriptors != last.descriptors || now.heap > last.heap+64<<10):
		case before == remains{}:
			return now
		case now.goroutines <= before.goroutines+moreGoroutines && now.descriptors <= before.descriptors+moreDescriptors && now.heap <= before.heap+moreHeap:
			return now
		}
	}
	t.Errorf("there remain %+v, after %+v", now, before)
	return now
}

func counted() remains {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r := remains{goroutines: runtime.NumGoroutine(), heap: int64(m.HeapAlloc)}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil { // Linux alone tells
		r.descriptors = len(open)
	}
	return r
}
