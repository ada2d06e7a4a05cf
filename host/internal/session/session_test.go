package session_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/display"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/pluginset"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/searches"
	"github.com/toolquay/toolquay/host/internal/session"
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// heard keeps what a turn tells, and denies what it is asked for good. Results leave while
// others are asked about, so that a question comes only when the first has left.
type heard struct {
	told  chan string
	first chan struct{} // closed when a result has left
	once  sync.Once
}

func (h *heard) Any() bool                                 { return true }
func (h *heard) Under(string, permissions.Caller)          {}
func (h *heard) Began(context.Context)                     { h.told <- "began" }
func (h *heard) Ended()                                    { h.told <- "ended" }
func (h *heard) Close()                                    { close(h.told) }
func (h *heard) Interruptible(bool)                        {}
func (h *heard) Telling(int, *abi.ToolUse) pipeline.Teller { return teller{heard: h} }

func (h *heard) Question(context.Context, *session.Turn, *pipeline.Question) (capability.Reply, error) {
	return capability.Reply{}, nil
}

func (h *heard) Ask(_ context.Context, t *session.Turn, callID string, tell pipeline.Teller, q *gate.Question) <-chan gate.Answer {
	<-h.first
	h.told <- "asked about " + callID + ", " + q.Subject.Call.Tool
	answer := make(chan gate.Answer, 1)
	answer <- gate.Answer{Message: "no", Effect: func() { t.Stop(tell, "enough") }}
	return answer
}

// teller records the events of a call that the test compares.
type teller struct {
	pipeline.Teller
	heard *heard
}

func (teller) Listens() bool                                    { return true }
func (teller) About(string, string, tool.Server, *display.Call) {}
func (teller) Clocks() *turn.Stopwatch                          { return nil }
func (teller) Queued(json.RawMessage)                           {}
func (teller) Decided(string, permissions.Decision)             {}
func (teller) Started()                                         {}
func (teller) Finished(abi.ToolResult, bool)                    {}
func (t teller) Stopped(reason string)                          { t.heard.told <- "stopped: " + reason }

func (t teller) Left(r abi.ToolResult) {
	t.heard.told <- "left " + r.ToolUseID
	t.heard.once.Do(func() { close(t.heard.first) })
}

func never() bool { return false }

func all(...capability.QuestionKind) bool { return true }

// native is a tool of the embedder that answers with its name.
func native(t *testing.T, name string) *tool.Native {
	t.Helper()
	contract := abi.Tool{Name: name, Summary: "Answers", InputSchema: `{"type":"object"}`}
	n, err := tool.NewNative(contract, tool.Functions{
		Run: func(context.Context, tool.Invocation) (abi.ToolResult, error) { return tool.ResultOf(name) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// open opens a session without a host, in which Free may run and all else asks.
func open(t *testing.T) *session.Session {
	t.Helper()
	set, err := plugins.Open(plugins.Options{})
	if err != nil {
		t.Fatal(err)
	}
	natives := &tool.Natives{}
	for _, name := range []string{"Free", "Asks"} {
		if err := natives.Add(native(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	tools, log := tool.Set{Set: set, Natives: natives}, slog.New(slog.DiscardHandler)
	h := &session.Host{
		Plugins: pluginset.New(tools, func(*pluginset.Reloaded) {}),
		Logger:  log,
		Calls: &pipeline.Host{
			Commands: commands.NewRunner(commands.Options{Logger: log}), Past: &searches.Past{}, Rehearsals: pipeline.NewRehearsals(), Logger: log,
		},
	}
	setup, err := (&rules.Places{Cwd: t.TempDir()}).Setup()
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.Open(session.Options{Headless: never, Carries: all, Storage: storage.Options{ID: "one", Logger: log}}, &setup)
	if err != nil {
		t.Fatal(err)
	}
	may := []permissions.RuleSet{{Source: permissions.SourceUser, Allow: permissions.RuleTexts("Free")}}
	by, err := rules.New(&rules.Compiler{Setup: setup, Session: "one", Logger: log}, &rules.Settings{Rules: may}, tools)
	if err != nil {
		t.Fatal(err)
	}
	s.Begin(by)
	t.Cleanup(func() {
		s.Life.End(storage.ErrClosed)
		if err := s.End(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestTurnWithoutAHost runs a turn for listeners that are no host's: what happens is told in
// order, and after a no that ends the turn nothing more begins.
func TestTurnWithoutAHost(t *testing.T) {
	t.Parallel()
	h := &heard{told: make(chan string, 16), first: make(chan struct{})}
	results := open(t).Results(t.Context(), []abi.ToolUse{
		{ID: "1", Name: "Free", Input: json.RawMessage(`{}`)},
		{ID: "2", Name: "Asks", Input: json.RawMessage(`{}`)},
		{ID: "3", Name: "Free", Input: json.RawMessage(`{}`)},
	}, h)
	var codes []abi.Code
	for _, r := range results {
		code := abi.Code("")
		if r.Error != nil {
			code = r.Error.Code
		}
		codes = append(codes, code)
	}
	if want := []abi.Code{"", abi.CodeDenied, abi.CodeCancelled}; !slices.Equal(codes, want) {
		t.Errorf("the results have the codes %q, want %q", codes, want)
	}
	want := []string{"began", "left 1", "asked about 2, Asks", "stopped: enough", "left 2", "left 3", "ended"}
	var told []string
	for text := range h.told { // which the turn closes
		told = append(told, text)
	}
	if !slices.Equal(told, want) {
		t.Errorf("told was %q, want %q", told, want)
	}
}
