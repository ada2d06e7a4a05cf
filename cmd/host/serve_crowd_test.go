package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/internal/testenv"
)

// crowdVariable says to the test that it is the process that it measures.
const crowdVariable = "TOOLQUAY_TEST_CROWD"

// TestServeCrowd has two hundred clients at once over HTTP, each with calls and an interrupt.
// When they have gone, nothing of them is left: no goroutine, no descriptor, no memory.
func TestServeCrowd(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux) // descriptors are counted in /proc
	testenv.NeedTool(t, "sleep")
	if os.Getenv(crowdVariable) != "" {
		crowd(t)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(self, "-test.run", "^TestServeCrowd$", "-test.v")
	cmd.Env = append(os.Environ(), crowdVariable+"=1", "HOME="+home, "XDG_CONFIG_HOME="+home+"/config", "XDG_STATE_HOME="+home+"/state",
		"XDG_CACHE_HOME="+testenv.CacheHome())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
}

func crowd(t *testing.T) {
	t.Helper()
	size := 200
	if testenv.Race {
		size = 50 // each is ten times as slow
	}
	dir := projectsDir(t)
	url, end := serveHere(t, "--root", filepath.Join(dir, "work"), "--no-token", "--max-sessions", strconv.Itoa(2*size),
		"--mode", "acceptEdits", "--allow", "Bash", "--allow", "Read")
	round := func(n int) {
		t.Helper()
		var all sync.WaitGroup
		transport := new(http.Transport)
		here := make(chan struct{})
		var arrived sync.WaitGroup
		arrived.Add(n)
		for i := range n {
			all.Go(func() { visit(t, url, transport, filepath.Join(dir, "work"), i, &arrived, here) })
		}
		arrived.Wait() // all are there at once
		close(here)
		all.Wait()
		transport.CloseIdleConnections()
	}
	round(20)
	quiet := usageNow(t)
	round(size)
	first := settled(t, quiet, ready)
	round(size)
	second := settled(t, quiet, ready)
	t.Logf("before: %v; after %d clients: %v; after as many again: %v", quiet, size, first, second)
	if growth := int64(second.heap) - int64(first.heap); growth > 1<<20 {
		t.Errorf("%d clients left %d bytes on the heap", size, growth)
	}
	if testenv.Thorough() {
		settled(t, quiet, 0)
	}
	end()
}

// usage is what a process uses.
type usage struct {
	goroutines, files int
	heap              uint64
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d KiB", u.goroutines, u.files, u.heap>>10)
}

func usageNow(t *testing.T) usage {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers let go of
	runtime.ReadMemStats(&m)
	return usage{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}

// ready bounds the goroutines, and the descriptors, of the processes that the host keeps ready for the
// next commands. The clients would leave far more. The processes end after a minute, which is waited for
// once, where tests are thorough.
const ready = 25

// settled waits until the process has at most extra goroutines and extra descriptors more than before,
// and returns what it uses then.
func settled(t *testing.T, before usage, extra int) usage {
	t.Helper()
	limit := usage{goroutines: before.goroutines + extra, files: before.files + extra}
	now := usageNow(t)
	for end := time.Now().Add(3 * testenv.Patience); now.goroutines > limit.goroutines || now.files > limit.files; now = usageNow(t) {
		if time.Now().After(end) {
			all := make([]byte, 1<<20)
			t.Fatalf("%v are in use, before it was %v\n%s", now, before, all[:runtime.Stack(all, true)])
		}
		time.Sleep(100 * time.Millisecond)
	}
	return now
}

// visit is one client: it lists the tools, makes calls, interrupts one of them and leaves.
func visit(t *testing.T, url string, transport *http.Transport, work string, i int, arrived *sync.WaitGroup, all <-chan struct{}) {
	t.Helper()
	revision := []string{"2025-11-25", "2026-07-28"}[i%2]
	client := sdk.NewClient(&sdk.Implementation{Name: "crowd", Version: "1"}, nil)
	c, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: transport}},
		&sdk.ClientSessionOptions{ProtocolVersion: revision})
	arrived.Done()
	if err != nil {
		t.Errorf("client %d: %v", i, err)
		return
	}
	<-all
	if _, err := c.ListTools(t.Context(), nil); err != nil {
		t.Errorf("client %d lists: %v", i, err)
	}
	for range 3 {
		if got := call(t, c, "Read", map[string]any{"file_path": "a/one.txt"}); !strings.Contains(got, "text of a") && !strings.Contains(got, "has not changed") {
			t.Errorf("client %d reads: %s", i, got)
		}
	}
	interruptCall(t, c, work, i)
	// How long a client waits for the end of its session is its own affair.
	if err := c.Close(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("client %d leaves: %v", i, err)
	}
}

// interruptCall has a client make a call that would never end, and give it up. Of ten clients two
// call a command.
func interruptCall(t *testing.T, c *sdk.ClientSession, work string, i int) {
	t.Helper()
	begun := filepath.Join(work, "begun"+strconv.Itoa(i))
	_ = os.Remove(begun) // of a round before
	params := &sdk.CallToolParams{Name: "Sleep", Arguments: map[string]any{"duration_ms": 10_000_000}}
	if i%10 < 2 {
		params = &sdk.CallToolParams{Name: "Bash", Arguments: map[string]any{"command": "echo > " + begun + "; sleep 1000"}}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, params)
		ended <- err
	}()
	if params.Name == "Bash" {
		await(t, "the command begins", func() bool {
			_, err := os.Stat(begun)
			return err == nil
		})
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("client %d: an interrupted call ended with %v", i, err)
	}
}

// serveHere runs the command in this process, until end is called.
func serveHere(t *testing.T, args ...string) (url string, end func()) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	a := &app{in: nothing}
	a.out, a.err = ui.NewPrinters(out, os.Stderr)
	root := rootCommand(a)
	root.SetArgs(append([]string{"serve", "--addr", "127.0.0.1:0"}, args...))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	line, err := bufio.NewReader(in).ReadBytes('\n')
	var said listening
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil {
		t.Fatal(err)
	}
	return said.URL, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
