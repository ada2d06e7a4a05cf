package servers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/internal/testenv"
)

// actVariable has this program act as a server of some kind.
const actVariable = "TOOLQUAY_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(actVariable); kind != "" {
		act(kind)
		return
	}
	host.Main()
	testenv.Waiting()
	os.Exit(m.Run())
}

// act serves on standard input and output.
func act(kind string) {
	if b, ok := behaviours[kind]; ok {
		b.serve()
		return
	}
	s := newServer()
	add(s, "crash", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of \x1b[31mluck")
		os.Exit(3)
		return nil, nil
	})
	add(s, "pid", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(fmt.Sprint(time.Now().UnixNano(), " ", os.Getenv("GIVEN"), os.Getenv("HIDDEN"))), nil
	})
	switch kind {
	case "library":
		s = library()
		s.AddResource(&mcp.Resource{URI: "doc://crash", Name: "crash"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			os.Exit(3)
			return nil, nil
		})
		s.AddResource(&mcp.Resource{URI: "doc://long", Name: "long"}, contents(&mcp.ResourceContents{Text: strings.Repeat("long line\n", 100_000)}))
	case "editor":
		editorTools(s, lint)
	case "hangs":
		time.Sleep(time.Hour)
	case "slow":
		time.Sleep(time.Second)
	case "late":
		for _, err := os.Stat(os.Getenv("AWAITED")); err != nil; _, err = os.Stat(os.Getenv("AWAITED")) {
			time.Sleep(10 * time.Millisecond)
		}
	case "prints":
		fmt.Println("Listening on standard input ...")
		fmt.Println(`{"not":"a message"}`)
	case "old": // it does not even refuse the first question of the newer revision
		var line []byte
		for b := make([]byte, 1); b[0] != '\n'; line = append(line, b...) { // what follows may be there already
			if _, err := os.Stdin.Read(b); err != nil {
				os.Exit(4)
			}
		}
		if !strings.Contains(string(line), "server/discover") {
			os.Exit(4)
		}
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// program is this program as a server.
func program(tb testing.TB, kind string) servers.Config {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return servers.Config{Name: "one", Command: []string{self}, Env: map[string]string{actVariable: kind, "GIVEN": "given"}}
}

// openShell opens a host that runs programs.
func openShell(t *testing.T) *host.Host {
	t.Helper()
	return open(t, host.Options{Shell: &host.Shell{}}, "mcp__one", "")
}

// TestProgram calls programs that speak on standard input and output, whatever else they print.
func TestProgram(t *testing.T) {
	t.Setenv("HIDDEN", "hidden")
	for _, kind := range []string{"plain", "prints"} {
		h := openShell(t)
		set := connect(t, h, program(t, kind))
		r := call(t.Context(), session(t, h, host.SessionOptions{}), "mcp__one__pid", "{}")
		if !strings.HasSuffix(r.Text(), " given") {
			t.Errorf("%s: got %q, %+v", kind, r.Text(), set.Status())
		}
	}
}

// TestCrash fails the call that a program crashes in, and starts it again for the next one.
func TestCrash(t *testing.T) {
	t.Parallel()
	h := openShell(t)
	connect(t, h, program(t, "plain"))
	s := session(t, h, host.SessionOptions{})
	r := call(t.Context(), s, "mcp__one__crash", "{}")
	if got := r.Text(); !r.IsError || !strings.Contains(got, "exit status 3") || !strings.Contains(got, `out of \x1b[31mluck`) {
		t.Errorf("got %q", got)
	}
	if r := call(t.Context(), s, "mcp__one__say", "{}"); r.IsError {
		t.Errorf("after the crash: %q", r.Text())
	}
}

// TestIdle stops a program that nobody calls, and starts it again for a call.
func TestIdle(t *testing.T) {
	t.Parallel()
	h := openShell(t)
	config := program(t, "plain")
	config.IdleTimeout = 50 * time.Millisecond
	set := connect(t, h, config)
	s := session(t, h, host.SessionOptions{})
	for range 2 {
		if r := call(t.Context(), s, "mcp__one__say", "{}"); r.IsError {
			t.Fatalf("got %q", r.Text())
		}
		wait(t, "the program to be stopped", func() bool { return set.Status()[0].State == servers.Idle })
	}
}

// TestOldServer speaks the older revision with a server that leaves the newer one's first question
// unanswered.
func TestOldServer(t *testing.T) {
	servers.SetProbeTime(t, 200*time.Millisecond)
	h := openShell(t)
	set := connect(t, h, program(t, "old"))
	if st := set.Status()[0]; st.State != servers.Connected || st.Revision != "2025-11-25" {
		t.Errorf("got %+v", st)
	}
}

// TestSlowServer speaks the newer revision with a server that takes its time to start.
func TestSlowServer(t *testing.T) {
	servers.SetProbeTime(t, 100*time.Millisecond)
	h := openShell(t)
	set := connect(t, h, program(t, "slow"))
	if st := set.Status()[0]; st.State != servers.Connected || st.Revision != "2026-07-28" {
		t.Errorf("got %+v", st)
	}
}

// TestLate gives a program that is late up, and takes it all the same when it is there.
func TestLate(t *testing.T) {
	t.Parallel()
	h := openShell(t)
	config, dir := program(t, "late"), t.TempDir()
	config.StartTimeout, config.Read = 500*time.Millisecond, []string{dir}
	config.Env["AWAITED"] = filepath.Join(dir, "go on")
	set := connect(t, h, config)
	if st := set.Status()[0]; st.State != servers.Failed || !strings.Contains(st.Problem.Error(), "start_timeout") {
		t.Errorf("got %+v", st)
	}
	if err := os.WriteFile(config.Env["AWAITED"], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wait(t, "the late program", func() bool { return set.Status()[0].State == servers.Connected })
	if r := call(t.Context(), session(t, h, host.SessionOptions{}), "mcp__one__say", "{}"); r.IsError {
		t.Errorf("got %q", r.Text())
	}
}

// TestStartFails says what is wrong with programs that cannot be used.
func TestStartFails(t *testing.T) {
	t.Parallel()
	hangs := program(t, "hangs")
	hangs.StartTimeout = 500 * time.Millisecond
	none := servers.Config{Name: "one", Command: []string{"toolquay-no-such-program"}}
	for want, config := range map[string]servers.Config{"start_timeout": hangs, "toolquay-no-such-program": none} {
		h := openShell(t)
		began := time.Now()
		set := connect(t, h, config)
		if st := set.Status()[0]; st.State != servers.Failed || !strings.Contains(st.Problem.Error(), want) {
			t.Errorf("got %+v", st)
		}
		if took := time.Since(began); took > testenv.Patience/2 {
			t.Errorf("%s: it took %v", want, took)
		}
		r := call(t.Context(), session(t, h, host.SessionOptions{}), "mcp__one__say", "{}")
		if r.Error == nil || r.Error.Code != abi.CodeUnknownTool {
			t.Errorf("%s: a call of it: %q", want, r.Text())
		}
	}
}
