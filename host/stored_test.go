package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/plugins"
)

// sayer is a tool that answers so many characters of a text of its own.
func sayer(change ...func(*abi.Tool)) host.NativeTool {
	contract := abi.Tool{Name: "Say", Summary: "Says", InputSchema: anything, ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue}
	for _, c := range change {
		c(&contract)
	}
	type input struct {
		Seed string
		N    int
	}
	return host.NewTool(contract, func(_ context.Context, in input) (string, error) {
		line := in.Seed + " says this on a line of its own\n"
		return strings.Repeat(line, in.N/len(line)+1)[:in.N], nil
	})
}

func say(id, seed string, n int) abi.ToolUse {
	return use(id, "Say", fmt.Sprintf(`{"Seed":%q,"N":%d}`, seed, n))
}

// kept are options of a host whose sessions have folders.
func kept(tb testing.TB, tools ...host.NativeTool) host.Options {
	tb.Helper()
	return host.Options{Tools: tools, Storage: host.StorageOptions{Sessions: filepath.Join(tb.TempDir(), "sessions")}}
}

func closed(tb testing.TB, s *host.Session) {
	tb.Helper()
	if err := s.Close(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

func total(rs []abi.ToolResult) int {
	n := 0
	for _, r := range rs {
		for _, b := range r.Content {
			n += results.Measure(b)
		}
	}
	return n
}

func TestPersistedResult(t *testing.T) {
	t.Parallel()
	o := kept(t, sayer(func(c *abi.Tool) { c.MaxResultChars = 1_000 }))
	s := session(t, open(t, o), host.SessionOptions{ID: "mine"})
	if s.Dir() != filepath.Join(o.Storage.Sessions, "mine") {
		t.Errorf("its folder is %s", s.Dir())
	}
	if rs, events := turnOf(t, s, say("c1", "a", 1_000)); len(of(events, host.EventPersisted)) > 0 || len(rs[0].Text()) != 1_000 {
		t.Errorf("%.200s", rs[0].Text())
	}
	if _, err := os.Lstat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made with nothing to keep: %v", err)
	}
	rs, events := turnOf(t, s, say("c1", "a", 1_001))
	persisted := of(events, host.EventPersisted)
	if len(persisted) != 1 || persisted[0].CallID != "c1" || persisted[0].Stored.Chars != 1_001 || !strings.Contains(rs[0].Text(), persisted[0].Stored.Path) {
		t.Fatalf("%+v, %.300s", persisted, rs[0].Text())
	}
	if filepath.Dir(persisted[0].Stored.Path) != filepath.Join(s.Dir(), "tool-results") {
		t.Errorf("it lies in %s", persisted[0].Stored.Path)
	}
	text, err := os.ReadFile(persisted[0].Stored.Path)
	if err != nil || len(text) != 1_001 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// TestUnlimitedIsGranted believes the embedder's own tool that it bounds itself, and
// no plugin, which the operator can grant it.
func TestUnlimitedIsGranted(t *testing.T) {
	t.Parallel()
	const size = 60_000
	guest := func(granted bool) host.Options {
		o := kept(t)
		o.Plugins.Sources = []plugins.Source{plugin(t, "pass_through", fixtureTool+"unlimited_result = true\n"+fixtureCapability)}
		o.Capabilities = []capability.Capability{&longOutput{size: size}}
		o.Plugins.Granted = []string{"fixture"}
		if granted {
			o.Results.Tools = map[string]results.ToolOptions{"Fixture": {MaxChars: results.Unlimited}}
		}
		return o
	}
	for name, test := range map[string]struct {
		options host.Options
		use     abi.ToolUse
		whole   bool
	}{
		"the embedder's":    {kept(t, sayer(func(c *abi.Tool) { c.Unlimited = true })), say("c1", "a", size), true},
		"a plugin":          {guest(false), use("c1", "Fixture", `{}`), false},
		"a plugin, granted": {guest(true), use("c1", "Fixture", `{}`), true},
	} {
		rs, events := turnOf(t, session(t, open(t, test.options), host.SessionOptions{}), test.use)
		if whole := len(rs[0].Text()) == size; rs[0].IsError || whole != test.whole || len(of(events, host.EventPersisted)) > 0 == test.whole {
			t.Errorf("%s: %d characters, %.300s", name, len(rs[0].Text()), rs[0].Text())
		}
	}
}

// TestTenOfForty is a turn of ten results of 40,000 characters, with events and
// without.
func TestTenOfForty(t *testing.T) {
	t.Parallel()
	o := kept(t, sayer())
	h := open(t, o)
	var uses []abi.ToolUse
	for i := range 10 {
		uses = append(uses, say(fmt.Sprint("c", i), fmt.Sprint("tool ", i), 40_000))
	}
	s := session(t, h, host.SessionOptions{ID: "events"})
	left, events := turnOf(t, s, uses...)
	replaced := of(events, host.EventReplaced)
	sent := slices.Clone(left)
	for _, e := range replaced {
		if e.CallID != uses[e.Index].ID || e.Result.ToolUseID != e.CallID || e.Stored.Chars != 40_000 || e.Tool != "Say" {
			t.Errorf("%+v", e)
		}
		sent[e.Index] = *e.Result
	}
	if len(replaced) != 6 || total(left) != 400_000 || total(sent) > results.DefaultMaxTurnChars {
		t.Errorf("%d were replaced; %d characters left, %d were sent", len(replaced), total(left), total(sent))
	}
	kinds := make([]host.EventKind, len(events))
	for i, e := range events {
		kinds[i] = e.Kind
	}
	if last := kinds[len(kinds)-7:]; !slices.Equal(last, append(slices.Repeat([]host.EventKind{host.EventReplaced}, 6), host.EventTurnEnded)) {
		t.Errorf("it ends with %v", last)
	}
	if got := s.Fit(left); !reflect.DeepEqual(got, sent) {
		t.Error("what left fits in another way")
	}
	if got := s.Fit(sent); !reflect.DeepEqual(got, sent) {
		t.Error("what was sent fits in another way")
	}
	if total(left) != 400_000 {
		t.Error("Fit changed what it was given")
	}

	closed(t, s)
	if got := session(t, h, host.SessionOptions{ID: "events"}).Fit(left); !reflect.DeepEqual(got, sent) {
		t.Error("after a restart, what left fits in another way")
	}
	plain := session(t, h, host.SessionOptions{ID: "results"}).Results(t.Context(), uses)
	for i := range plain {
		if want := strings.ReplaceAll(sent[i].Text(), s.Dir(), filepath.Join(o.Storage.Sessions, "results")); plain[i].Text() != want {
			t.Errorf("without events, result %d is %.200s", i, plain[i].Text())
		}
	}
}

// TestNestedResultsAreNotReplaced has a call make calls whose results are too much
// for a model, which they are not for.
func TestNestedResultsAreNotReplaced(t *testing.T) {
	t.Parallel()
	var s *host.Session
	outer := host.NativeTool{
		Contract: abi.Tool{Name: "Outer", Summary: "Calls", InputSchema: anything, ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue},
		Run: func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
			var uses []abi.ToolUse
			for i := range 6 {
				uses = append(uses, say(fmt.Sprint("n", i), "x", 40_000))
			}
			return abi.ToolResult{Content: []abi.Block{abi.TextBlock(strconv.Itoa(total(s.Results(ctx, uses))))}}, nil
		},
	}
	s = session(t, open(t, kept(t, sayer(), outer)), host.SessionOptions{})
	if r, _ := one(t, s, "Outer", `{}`); r.Text() != "240000" {
		t.Errorf("got %q", r.Text())
	}
}

// TestSpilledResult has a tool hand over a text in a file.
func TestSpilledResult(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("spilled text"), 0o600); err != nil {
		t.Fatal(err)
	}
	tool := host.NewTool(echo("Spiller").Contract, func(context.Context, any) (abi.ToolResult, error) {
		return abi.ToolResult{Content: []abi.Block{{Type: abi.BlockText, Spilled: &abi.Spilled{Path: path, Bytes: 12, Chars: 12, Head: "spilled text", Tail: "spilled text"}}}}, nil
	})
	s := session(t, open(t, kept(t, tool)), host.SessionOptions{})
	r, events := one(t, s, "Spiller", `{}`)
	persisted := of(events, host.EventPersisted)
	if len(persisted) != 1 || !strings.Contains(r.Text(), "spilled text") {
		t.Fatalf("%+v, %s", persisted, r.Text())
	}
	if text, err := os.ReadFile(persisted[0].Stored.Path); string(text) != "spilled text" {
		t.Error(string(text), err)
	}
}

// TestSessionFolderIsReadable reads a persisted result with a tool, unasked, and not
// that of another session.
func TestSessionFolderIsReadable(t *testing.T) {
	t.Parallel()
	o := kept(t, sayer(func(c *abi.Tool) { c.MaxResultChars = 1_000 }))
	o.Builtins = true
	h := open(t, o)
	s := session(t, h, host.SessionOptions{})
	_, events := turnOf(t, s, say("c1", "a", 2_000))
	input, err := json.Marshal(map[string]string{"file_path": of(events, host.EventPersisted)[0].Stored.Path})
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := one(t, s, "Read", string(input)); r.IsError || !strings.Contains(r.Text(), "a says this on a line of its own") {
		t.Errorf("got %.300s", r.Text())
	}
	if r, _ := one(t, session(t, h, host.SessionOptions{}), "Read", string(input)); !r.IsError {
		t.Errorf("another session got %.300s", r.Text())
	}
}

// TestSessionFoldersAreTheHosts asks before a tool writes where sessions are kept,
// whatever the rules allow.
func TestSessionFoldersAreTheHosts(t *testing.T) {
	t.Parallel()
	o := kept(t, writer())
	o.Permissions.Rules = rules("", "", "Put")
	cwd := t.TempDir()
	o.Storage.Sessions = filepath.Join(cwd, "sessions")
	s := session(t, open(t, o), host.SessionOptions{Cwd: cwd, ID: "s"})
	if r, _ := one(t, s, "Put", `{"file_path":"plain.txt","content":"x"}`); r.IsError {
		t.Errorf("elsewhere: %s", r.Text())
	}
	if r, _ := one(t, s, "Put", `{"file_path":"sessions/s/journal.jsonl","content":"x"}`); !r.IsError {
		t.Error("a tool writes a session's journal unasked")
	}
}

func TestSessionInUse(t *testing.T) {
	t.Parallel()
	o := kept(t, sayer())
	h := open(t, o)
	first := session(t, h, host.SessionOptions{ID: "s"})
	turnOf(t, first, say("c1", "a", 60_000))
	if _, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir(), ID: "s"}); !errors.Is(err, sessiondir.ErrInUse) || !strings.Contains(err.Error(), `"s"`) {
		t.Errorf("got %v", err)
	}
	if got := session(t, h, host.SessionOptions{ID: "s", Ephemeral: true}).Dir(); got != "" {
		t.Errorf("an ephemeral session has the folder %s", got)
	}
	closed(t, first)
	closed(t, session(t, h, host.SessionOptions{ID: "s"}))
}

// TestWithoutFolder cuts what cannot be kept.
func TestWithoutFolder(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*host.Session{
		"no directory": session(t, open(t, host.Options{Tools: []host.NativeTool{sayer()}}), host.SessionOptions{}),
		"ephemeral":    session(t, open(t, kept(t, sayer())), host.SessionOptions{Ephemeral: true}),
	} {
		rs, events := turnOf(t, s, say("c1", "a", 60_000))
		if len(of(events, host.EventPersisted)) > 0 || !strings.Contains(rs[0].Text(), "60000 characters, over this tool's limit of 50000") {
			t.Errorf("%s: %.200s", name, rs[0].Text())
		}
	}
}

// TestDamagedJournal is told to the operator.
func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := kept(t, sayer())
	o.Observe.Logger = slog.New(slog.NewTextHandler(&log, nil))
	h := open(t, o)
	s := session(t, h, host.SessionOptions{ID: "s"})
	turnOf(t, s, say("c1", "a", 60_000))
	closed(t, s)
	journal := filepath.Join(s.Dir(), "journal.jsonl")
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, bytes.Replace(text, []byte("c1"), []byte("c2"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	closed(t, session(t, h, host.SessionOptions{ID: "s"}))
	if !strings.Contains(log.String(), journal) || !strings.Contains(log.String(), "damaged") {
		t.Errorf("the log says %s", &log)
	}
}
