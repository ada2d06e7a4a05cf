package clients

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/internal/testenv"
)

// asServer is the variable by which this binary is a server of some kind.
const asServer = "TOOLQUAY_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asServer); kind != "" {
		serve(kind)
		return
	}
	os.Exit(m.Run())
}

// serve is a server with one tool and what its kind has beside that.
func serve(kind string) {
	switch kind {
	case "silent":
		time.Sleep(testenv.Patience)
	case "dead":
		fmt.Fprintln(os.Stderr, "cannot start")
		os.Exit(3)
	case "noisy":
		fmt.Println("Welcome!")
		fmt.Fprintln(os.Stderr, "started\nlistening")
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1.2"}, &mcp.ServerOptions{Instructions: "Be kind."})
	s.AddTool(&mcp.Tool{Name: "one", InputSchema: map[string]any{"type": "object"}}, nil)
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
	switch kind {
	case "lasting":
		time.Sleep(testenv.Patience)
	case "failing":
		os.Exit(4)
	}
}

func probe(t *testing.T, kind, revision string) (Report, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := Probe{Command: []string{self}, Environment: []string{asServer + "=" + kind}}
	return p.Run(t.Context(), revision)
}

func TestProbe(t *testing.T) {
	t.Parallel()
	for _, revision := range Revisions {
		r, err := probe(t, "plain", revision)
		if err != nil || r.Ended != nil || r.Revision != revision || r.Server != "test 1.2" || r.Instructions != "Be kind." ||
			len(r.Tools) != 1 || r.Tools[0].Name != "one" || r.First <= 0 || r.Noise.Count+r.Errors.Count > 0 {
			t.Errorf("%s: %+v, %v", revision, r, err)
		}
	}
}

func TestProbeNoise(t *testing.T) {
	t.Parallel()
	r, err := probe(t, "noisy", Revisions[0])
	if err != nil || r.Noise != (Lines{1, "Welcome!"}) || r.Errors != (Lines{2, "started"}) || len(r.Tools) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestProbeEnds has servers that end badly, or not at all.
func TestProbeEnds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ err, ended, errors string }{
		"dead":    {"the handshake", "status 3", "cannot start"},
		"failing": {"", "status 4", ""},
		"lasting": {"", "was killed", ""},
	}
	for kind, want := range tests {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r, err := probe(t, kind, Revisions[1])
			if fmt.Sprint(err) != "<nil>" != (want.err != "") || !strings.Contains(fmt.Sprint(err), want.err) {
				t.Errorf("the error is %v, want %q", err, want.err)
			}
			if !strings.Contains(fmt.Sprint(r.Ended), want.ended) || r.Errors.First != want.errors {
				t.Errorf("%+v, want %+v", r, want)
			}
		})
	}
}

// TestProbeInterrupted ends with its context, whatever the server does.
func TestProbeInterrupted(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	p := Probe{Command: []string{self}, Environment: []string{asServer + "=silent"}}
	if r, err := p.Run(ctx, Revisions[0]); err == nil {
		t.Errorf("%+v", r)
	}
	if _, err := (&Probe{Command: []string{"/no/such/program"}}).Run(t.Context(), Revisions[0]); err == nil || !strings.Contains(err.Error(), "starting it") {
		t.Errorf("a program that is not there: %v", err)
	}
}
