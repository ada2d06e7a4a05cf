package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// locked has a tool's path fields be all that it touches.
func locked(c *abi.Tool) { c.Locks = abi.LocksFields }

// putLocked is [ran.put] with locks.
func putLocked(r *ran, name string) host.NativeTool {
	t := r.put()
	t.Contract.Name = name
	locked(&t.Contract)
	return t
}

// appends is a tool that reads a file, takes its time, and writes it back with
// something more: without locks such calls lose what others wrote.
func appends(under *overlaps) host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: "Append", Summary: "Appends", InputSchema: pathSchema, Locks: abi.LocksFields,
			Fields: []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectWrite}},
		},
		Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
			defer under.enter()()
			path := inCwd(c, field(c, "path"))
			before, err := os.ReadFile(path)
			if err != nil && !os.IsNotExist(err) {
				return abi.ToolResult{}, err
			}
			time.Sleep(time.Millisecond)
			err = os.WriteFile(path, append(before, field(c, "text")...), 0o600)
			if err == nil && strings.HasPrefix(field(c, "text"), "fail") {
				err = errors.New("it failed when it was done")
			}
			return text("appended"), err
		},
	}
}

// reads is a tool that reads a file, or the files of a directory.
func reads(under *overlaps) host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: "Look", Summary: "Reads", InputSchema: pathSchema, ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue, Locks: abi.LocksFields,
			Fields: []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectRead}},
		},
		Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
			defer under.enter()()
			time.Sleep(time.Millisecond)
			return text(contentOf(inCwd(c, field(c, "path")))), nil
		},
	}
}

// contentOf is what a file, or all files of a directory, hold.
func contentOf(path string) string {
	if b, err := os.ReadFile(path); err == nil {
		return string(b)
	}
	var all []string
	entries, _ := os.ReadDir(path) // nothing there is nothing to read
	for _, e := range entries {
		all = append(all, e.Name()+"="+contentOf(filepath.Join(path, e.Name())))
	}
	return strings.Join(all, ";")
}

// overlaps is how many of some calls ran at once, at most.
type overlaps struct{ now, most atomic.Int32 }

func (o *overlaps) enter() func() {
	n := o.now.Add(1)
	for most := o.most.Load(); n > most && !o.most.CompareAndSwap(most, n); most = o.most.Load() {
	}
	return func() { o.now.Add(-1) }
}

// meet waits until so many were there at once, and then a moment for one more.
func (o *overlaps) meet(many int32) {
	for end := time.Now().Add(testenv.Patience); o.most.Load() < many && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(5 * time.Millisecond)
}

// randomFileCalls are calls that append to files of two directories, some of which fail
// when they have, and read them, by a guest and by a native tool; some run alone and
// have a link lead elsewhere, or the session work in another directory.
func randomFileCalls(r *rand.Rand) []abi.ToolUse {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	uses := make([]abi.ToolUse, 2+r.IntN(14))
	for i := range uses {
		path, id := pick("a/1", "a/2", "a/link", "b/1", "b/2", "b/hard", "a", "b", "."), strconv.Itoa(i)
		directory := !strings.Contains(path, "/")
		switch kind := r.IntN(12); {
		case kind == 0:
			uses[i] = use(id, "Relink", fmt.Sprintf(`{"path":%q}`, pick("1", "2", "../b/1")))
		case kind == 1:
			uses[i] = use(id, "Go", fmt.Sprintf(`{"path":%q}`, pick("ROOT", "ROOT/a", "ROOT/b")))
		case kind < 5 && !directory:
			uses[i] = use(id, "Read", fmt.Sprintf(`{"file_path":%q}`, pick("", "ROOT/")+path))
		case kind < 6 || directory:
			uses[i] = use(id, "Look", fmt.Sprintf(`{"path":%q}`, path))
		default:
			input := map[string]string{"path": pick("", "ROOT/") + path, "text": pick("", "", "fail") + "<" + id + ">"}
			doc, _ := json.Marshal(input) // plain data
			uses[i] = use(id, "Append", string(doc))
		}
	}
	return uses
}

// inOrder are tools that run alone.
func inOrder(root string) []host.NativeTool {
	relink := echo("Relink", alone)
	relink.Run = func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
		link := filepath.Join(root, "a", "link")
		return text("relinked"), errors.Join(os.Remove(link), os.Symlink(field(c, "path"), link))
	}
	move := echo("Go", alone)
	move.Run = func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
		r := text("gone")
		r.Changes = []abi.Change{{Kind: abi.ChangeCwd, Value: fieldsOf(c.Input)["path"]}}
		return r, nil
	}
	for _, t := range []*host.NativeTool{&relink, &move} {
		t.Contract.InputSchema = pathSchema
	}
	return []host.NativeTool{relink, move}
}

// playFiles runs calls over a new tree, and returns what their results say and what
// the files hold in the end.
func playFiles(tb testing.TB, uses []abi.ToolUse, o host.Options, way callWay) (answers []string, final string, most int32) {
	tb.Helper()
	root := files(tb, map[string]string{"a/1": "", "a/2": "", "b/1": "", "b/2": ""})
	must(tb, os.Symlink("1", filepath.Join(root, "a", "link")))
	must(tb, os.Link(filepath.Join(root, "a", "2"), filepath.Join(root, "b", "hard")))
	under := &overlaps{}
	o.Builtins, o.Tools, o.Permissions.Rules = true, append(inOrder(root), appends(under), reads(under)), rules("", "", "Append")
	s := session(tb, open(tb, o), host.SessionOptions{Cwd: root})
	placed := slices.Clone(uses)
	for i := range placed {
		placed[i].Input = bytes.ReplaceAll(placed[i].Input, []byte("ROOT"), []byte(root))
	}
	for _, r := range way(tb.Context(), s, placed) {
		// What follows the first block is of the session as it was by then, and not of
		// the call alone.
		answers = append(answers, strings.ReplaceAll(r.Content[0].Text, root, "ROOT"))
	}
	return answers, contentOf(root), under.most.Load()
}

// TestLocksAreAsGoodAsOneByOne is the law of locks: over random turns the files, and
// what each call sees of them, are those of calls that run one after the other. Only
// a hard link that is read by way of its directory is not known to be the other file.
func TestLocksAreAsGoodAsOneByOne(t *testing.T) {
	t.Parallel()
	variants := map[string]struct {
		options host.Options
		way     callWay
	}{
		"locks":    {host.Options{}, resultsWay},
		"streamed": {host.Options{}, streamWay},
		"batch":    {host.Options{Limits: host.LimitOptions{PlainBatches: true}}, resultsWay},
	}
	for name, variant := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			together := int32(0)
			for seed := range uint64(30) {
				if seed >= 3 && together > 1 && !testenv.Thorough() {
					break
				}
				uses := randomFileCalls(rand.New(rand.NewPCG(seed, 11)))
				answers, final, most := playFiles(t, uses, variant.options, variant.way)
				wantAnswers, wantFinal, one := playFiles(t, uses, host.Options{Limits: host.LimitOptions{PlainBatches: true, MaxConcurrent: 1}}, resultsWay)
				if final != wantFinal {
					t.Errorf("seed %d: the files are\n%s\nand one by one\n%s", seed, final, wantFinal)
				}
				for i, use := range uses {
					directory := use.Name == "Look" && !strings.Contains(string(use.Input), "/")
					if !directory && answers[i] != wantAnswers[i] {
						t.Errorf("seed %d: call %d, %s %s, sees %q, and one by one %q", seed, i, use.Name, use.Input, answers[i], wantAnswers[i])
					}
				}
				if one > 1 {
					t.Errorf("seed %d: %d calls overlapped where one was to run at once", seed, one)
				}
				together = max(together, most)
			}
			if together < 2 {
				t.Error("no two calls ever overlapped")
			}
		})
	}
}

// TestLockedCallsMeet has writes to different files run side by side, each of which
// waits for the other, and says what keeps two from that.
func TestLockedCallsMeet(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{"a": "", "sub/b": ""})
	must(t, os.Symlink("a", filepath.Join(root, "link")))
	must(t, os.Link(filepath.Join(root, "a"), filepath.Join(root, "hard")))
	must(t, os.Symlink(filepath.Join("..", "a"), filepath.Join(root, "sub", "out")))
	tests := map[string]struct {
		first, second string
		plain         bool
		meet          bool
	}{
		"two files":            {first: "Write a", second: "Write new", meet: true},
		"file and directory":   {first: "Write a", second: "Write sub", meet: true},
		"two readers":          {first: "Read a", second: "Read a", meet: true},
		"reader and other":     {first: "Read a", second: "Write new", meet: true},
		"plain batches":        {first: "Write a", second: "Write new", plain: true},
		"one file":             {first: "Write a", second: "Write a"},
		"reader and writer":    {first: "Read a", second: "Write a"},
		"a link to it":         {first: "Write a", second: "Write link"},
		"a hard link to it":    {first: "Write a", second: "Write hard"},
		"below a directory":    {first: "Write sub/b", second: "Write sub"},
		"a link out of it":     {first: "Write sub", second: "Write sub/out"},
		"where a link leads":   {first: "Write sub", second: "Write a", meet: true},
		"a reader of the tree": {first: "Write sub/new", second: "Read ."},
		"nobody says":          {first: "Write a", second: "Unlocked new"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &meeting{second: make(chan struct{}), meet: test.meet}
			s := session(t, open(t, host.Options{Limits: host.LimitOptions{PlainBatches: test.plain}, Permissions: host.PermissionOptions{Rules: rules("", "", "Write | Unlocked")}, Tools: []host.NativeTool{
				m.tool("Write", abi.EffectWrite, locked),
				m.tool("Unlocked", abi.EffectWrite),
				m.tool("Read", abi.EffectRead, locked, func(c *abi.Tool) { c.ReadOnly, c.ConcurrencySafe = abi.TraitTrue, abi.TraitTrue }),
			}}), host.SessionOptions{Cwd: root, Asker: yes()})
			var uses []abi.ToolUse
			for i, call := range []string{test.first, test.second} {
				tool, path, _ := strings.Cut(call, " ")
				uses = append(uses, use(strconv.Itoa(i), tool, fmt.Sprintf(`{"path":%q}`, path)))
			}
			results, _ := turnOf(t, s, uses...)
			if m.met.Load() != test.meet || results[0].Text() != "first" || results[1].Text() != "second" {
				t.Errorf("met: %v, and the results are %+v", m.met.Load(), results)
			}
		})
	}
}

// meeting is of two calls, where the first waits a while for the second to begin.
type meeting struct {
	second chan struct{}
	meet   bool // that they are to meet
	met    atomic.Bool
}

func (m *meeting) tool(name, effect string, change ...func(*abi.Tool)) host.NativeTool {
	t := host.NativeTool{Contract: abi.Tool{
		Name: name, Summary: "Meets", InputSchema: pathSchema,
		Fields: []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: effect}},
	}, Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
		if c.ID == "1" {
			close(m.second)
			return text("second"), nil
		}
		limit := 300 * time.Millisecond
		if m.meet {
			limit = testenv.Patience
		}
		select {
		case <-m.second:
			m.met.Store(true)
		case <-time.After(limit):
		}
		return text("first"), nil
	}}
	for _, do := range change {
		do(&t.Contract)
	}
	return t
}

// TestLocksAreHeldTo has a plugin's tool touch more than its input names: it is
// refused, and must run alone from then on.
func TestLocksAreHeldTo(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{"named": "", "other": ""})
	const schema = `
[[tools]]
name = "Fixture"
summary = "A fixture"
locks = "fields"
input_schema = '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'
[[tools.fields]]
name = "path"
kind = "path"
effect = "%s"
`
	tests := map[string]struct {
		effect string
		access permissions.Access
		ok     bool
	}{
		"what it names":           {"write", path(permissions.AccessWrite, filepath.Join(root, "named")), true},
		"reads what it may write": {"write", path(permissions.AccessRead, filepath.Join(root, "named")), true},
		"another file":            {"write", path(permissions.AccessWrite, filepath.Join(root, "other")), false},
		"reads another file":      {"write", path(permissions.AccessRead, filepath.Join(root, "other")), false},
		"writes what it reads":    {"read", path(permissions.AccessWrite, filepath.Join(root, "named")), false},
		"a command":               {"write", permissions.Access{Kind: permissions.AccessExec, Target: "true"}, false},
		"a host":                  {"write", permissions.Access{Kind: permissions.AccessNet, Target: "example.org"}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			native := &testCapability{accesses: []permissions.Access{test.access}}
			s := session(t, open(t, host.Options{
				Plugins: host.PluginOptions{
					Sources: []plugins.Source{plugin(t, "pass_through", fmt.Sprintf(schema, test.effect)+fixtureCapability)},
					Granted: []string{"fixture"},
				},
				Capabilities: []capability.Capability{native},
			}), host.SessionOptions{Cwd: root, Asker: yes()})
			r, events := one(t, s, "Fixture", `{"path":"named"}`)
			if test.ok {
				if r.Text() != "done" {
					t.Fatalf("got %q", r.Text())
				}
				return
			}
			wantError(t, r, abi.CodeDenied, "nothing but what its input names", "locks")
			if logs := of(events, host.EventLog); len(logs) == 0 || !strings.Contains(logs[0].Log.Message, "run alone") {
				t.Errorf("told was %v", logs)
			}
			if r, _ = one(t, s, "Fixture", `{"path":"named"}`); r.Text() != "done" {
				t.Errorf("as a tool that runs alone it may not either: %q", r.Text())
			}
		})
	}
}

// TestReadsBeyondLocks has a tool that only reads look beyond what its input names: it
// may, is told on once, and is not taken at its word from then on.
func TestReadsBeyondLocks(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{"dir/named": "", "other": ""})
	const manifest = `
[[tools]]
name = "Fixture"
summary = "A fixture"
locks = "fields"
read_only = true
concurrency_safe = true
input_schema = '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'
[[tools.fields]]
name = "path"
kind = "path"
effect = "read"
`
	for name, test := range map[string]struct {
		reads  string
		beyond bool
	}{
		"what it names":                  {"dir/named", false},
		"the directory of what it names": {"dir", false},
		"another file":                   {"other", true},
		"the directory above":            {"", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &meeting{second: make(chan struct{}), meet: !test.beyond}
			calls := 0
			native := &tellingCapability{do: func() {
				if calls++; calls == 3 {
					close(m.second)
				}
			}}
			native.accesses = []permissions.Access{path(permissions.AccessRead, filepath.Join(root, test.reads))}
			s := session(t, open(t, host.Options{
				Plugins: host.PluginOptions{
					Sources: []plugins.Source{plugin(t, "pass_through", manifest+fixtureCapability)},
					Granted: []string{"fixture"},
				},
				Capabilities: []capability.Capability{native}, Permissions: host.PermissionOptions{Rules: rules("", "", "Write")},
				Tools: []host.NativeTool{m.tool("Write", abi.EffectWrite, locked)},
			}), host.SessionOptions{Cwd: root})
			warnings := 0
			for range 2 {
				r, events := one(t, s, "Fixture", `{"path":"dir/named"}`)
				if r.Text() != "done" {
					t.Fatalf("got %q", r.Text())
				}
				warnings += len(of(events, host.EventLog))
			}
			if (warnings == 1) != test.beyond || warnings > 1 {
				t.Errorf("it was told on %d times", warnings)
			}
			turnOf(t, s, use("0", "Write", `{"path":"new"}`), use("x", "Fixture", `{"path":"dir/named"}`))
			if m.met.Load() == test.beyond {
				t.Errorf("it ran beside a writer of another file: %v", m.met.Load())
			}
		})
	}
}

// tellingCapability says when it is done.
type tellingCapability struct {
	testCapability
	do func()
}

func (c *tellingCapability) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return tellingPlan{testPlan{&c.testCapability}, c.do}, nil
}

type tellingPlan struct {
	testPlan
	do func()
}

func (p tellingPlan) Do(ctx context.Context, judge capability.Judge) (abi.Answer, error) {
	p.do()
	return p.testPlan.Do(ctx, judge)
}

// TestLockedCallsDoNotMoveTheSession refuses a change of directory by a call that
// said it touches one file.
func TestLockedCallsDoNotMoveTheSession(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{"sub/x": ""})
	mover := host.NativeTool{
		Contract: abi.Tool{Name: "Move", Summary: "Moves", InputSchema: pathSchema, Locks: abi.LocksFields,
			Fields: []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectWrite}}},
		Run: func(context.Context, *host.Call) (abi.ToolResult, error) {
			return abi.ToolResult{Changes: []abi.Change{{Kind: abi.ChangeCwd, Value: json.RawMessage(`"sub"`)}}}, nil
		},
	}
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{mover}, Permissions: host.PermissionOptions{Rules: rules("", "", "Move")}}), host.SessionOptions{Cwd: root})
	_, events := one(t, s, "Move", `{"path":"x"}`)
	if changed := of(events, host.EventChanged); len(changed) != 1 || changed[0].Err == nil || s.Cwd() != root {
		t.Errorf("the session is in %s after %+v", s.Cwd(), changed)
	}
}

// TestLocksThatAToolTells asks the tool what a call touches.
func TestLocksThatAToolTells(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{"a": "", "b": "", "c": ""})
	tests := map[string]struct {
		touches func(path string) []abi.Touch
		meet    bool
	}{
		"different files": {func(path string) []abi.Touch { return []abi.Touch{{Path: path, Write: true}, {Path: "c"}} }, true},
		"one of several":  {func(path string) []abi.Touch { return []abi.Touch{{Path: path}, {Path: "c", Write: true}} }, false},
		"nothing":         {func(string) []abi.Touch { return nil }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &meeting{second: make(chan struct{}), meet: test.meet}
			tool := m.tool("Tells", abi.EffectWrite, func(c *abi.Tool) { c.Locks, c.Fields = abi.LocksInput, nil })
			tool.Assess = func(_ context.Context, input json.RawMessage, _ []abi.Fact) (abi.Assessment, error) {
				var path string
				_ = json.Unmarshal(fieldsOf(input)["path"], &path)
				return abi.Assessment{Touches: test.touches(path)}, nil
			}
			s := session(t, open(t, host.Options{Tools: []host.NativeTool{tool}}), host.SessionOptions{Cwd: root, Asker: yes()})
			turnOf(t, s, use("0", "Tells", `{"path":"a"}`), use("1", "Tells", `{"path":"b"}`))
			if m.met.Load() != test.meet {
				t.Errorf("met: %v", m.met.Load())
			}
		})
	}
}

// TestMaxPerPlugin bounds the calls of one plugin, over two sessions, and nobody
// else's.
func TestMaxPerPlugin(t *testing.T) {
	t.Parallel()
	slow := &slowCapability{}
	both := make(chan struct{})
	h := open(t, host.Options{
		Limits: host.LimitOptions{MaxPerPlugin: 2},
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+"read_only = true\nconcurrency_safe = true\n"+fixtureCapability)},
			Granted: []string{"fixture"},
		},
		Capabilities: []capability.Capability{slow},
		Tools: []host.NativeTool{does("Free", func(context.Context, *host.Call) (string, error) {
			return "free", nil
		})},
	})
	var sessions sync.WaitGroup
	for range 2 {
		s := session(t, h, host.SessionOptions{})
		sessions.Go(func() {
			uses := []abi.ToolUse{use("free", "Free", `{}`)}
			for i := range 6 {
				uses = append(uses, use(strconv.Itoa(i), "Fixture", `{}`))
			}
			for _, r := range s.Results(t.Context(), uses) {
				if r.IsError {
					t.Error(r.Text())
				}
			}
		})
	}
	go func() { sessions.Wait(); close(both) }()
	arrives(t, "two turns", both)
	if most := slow.under.most.Load(); most != 2 {
		t.Errorf("%d calls of the plugin ran at once, want 2", most)
	}
}

// TestMaxCalls bounds the calls of all sessions.
func TestMaxCalls(t *testing.T) {
	t.Parallel()
	under := &overlaps{}
	h := open(t, host.Options{Limits: host.LimitOptions{MaxCalls: 3}, Tools: []host.NativeTool{does("Slow", func(context.Context, *host.Call) (string, error) {
		defer under.enter()()
		under.meet(3)
		return "", nil
	})}})
	var all sync.WaitGroup
	for range 3 {
		s := session(t, h, host.SessionOptions{})
		all.Go(func() {
			var uses []abi.ToolUse
			for i := range 8 {
				uses = append(uses, use(strconv.Itoa(i), "Slow", `{}`))
			}
			s.Results(t.Context(), uses)
		})
	}
	all.Wait()
	if most := under.most.Load(); most != 3 {
		t.Errorf("%d calls ran at once, want 3", most)
	}
}

// slowCapability answers test.echo when two have asked at once, after a moment.
type slowCapability struct {
	testCapability
	under overlaps
}

func (c *slowCapability) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return slowPlan{c}, nil
}

type slowPlan struct{ *slowCapability }

func (slowPlan) Accesses() []permissions.Access { return nil }
func (slowPlan) Close() error                   { return nil }

func (p slowPlan) Do(ctx context.Context, judge capability.Judge) (abi.Answer, error) {
	defer p.under.enter()()
	p.under.meet(2)
	return testPlan{&p.testCapability}.Do(ctx, judge)
}
