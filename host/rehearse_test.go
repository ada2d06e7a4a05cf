package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
)

// editor is a runner whose plugin is a few lines of Go: a tool that shows files,
// writes them, and reads others on the way.
type editor struct{}

func (editor) ABI() string { return abi.ABIDirect }

func (editor) Load(context.Context, plugins.Module) (plugins.Instance, error) { return editor{}, nil }

func (editor) Assess(context.Context, plugins.Question) (abi.Assessment, error) {
	return abi.Assessment{}, nil
}

func (editor) Close(context.Context) error { return nil }

// edit is the input of the editor's tools.
type edit struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	// Also is another file, that is read first, and Whole writes New as the content.
	Also  string `json:"also"`
	Whole bool   `json:"whole"`
	// Then is what the tool does when it has what it wants: "fail", "break" or "wait".
	Then string `json:"then"`
}

// then does it.
func (e *edit) then(ctx context.Context, c plugins.Invocation, text string, err error) (abi.ToolResult, error) {
	switch {
	case e.Then == "fail" && err == nil:
		err = errors.New("it fails after all")
	case e.Then == "break":
		return abi.ToolResult{}, abi.Errorf(abi.CodeTrap, "it breaks")
	case e.Then == "wait":
		<-ctx.Done()
		return abi.ToolResult{}, ctx.Err()
	}
	return answered(c, text, err)
}

func (editor) Call(ctx context.Context, c plugins.Invocation) (abi.ToolResult, error) {
	var in edit
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return abi.ToolResult{}, err
	}
	if c.Report != nil {
		c.Report(abi.ProgressHead{Log: &abi.Log{Level: "info", Message: "at work"}})
	}
	var reads []string
	if c.Tool.Name == "Show" {
		reads = append(reads, in.Path)
	} else if in.Also != "" {
		reads = append(reads, in.Also)
	}
	for _, path := range reads {
		args, _ := json.Marshal(abi.ReadArgs{Path: path, Shown: c.Tool.Name == "Show", Lines: &abi.LineArgs{}})
		text, err := ask(ctx, c, abi.Request{Name: abi.CapFSRead, Args: args})
		if err != nil || c.Tool.Name == "Show" {
			return in.then(ctx, c, text, err)
		}
	}
	req := abi.Request{Name: abi.CapFSReplace, Parts: []abi.Part{{Type: abi.PartText, Data: []byte(in.Old)}, {Type: abi.PartText, Data: []byte(in.New)}}}
	if in.Whole {
		req.Name, req.Parts = abi.CapFSWrite, req.Parts[1:]
	}
	req.Args, _ = json.Marshal(map[string]string{"path": in.Path})
	text, err := ask(ctx, c, req)
	return in.then(ctx, c, text, err)
}

func ask(ctx context.Context, c plugins.Invocation, req abi.Request) (string, error) {
	answer, err := c.Capability(ctx, req)
	if err != nil || answer.Body == nil {
		return "unchanged", err
	}
	defer answer.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func answered(c plugins.Invocation, text string, err error) (abi.ToolResult, error) {
	if err != nil {
		return abi.ErrorResult(c.ID, &abi.Error{Code: abi.CodeOf(err), Message: "the tool says: " + err.Error()}), nil
	}
	return abi.ToolResult{ToolUseID: c.ID, Content: []abi.Block{abi.TextBlock(text)}}, nil
}

const editorManifest = `
manifest = 1
name = "editor"
version = "1.0.0"
isolation = "process"
[[capabilities]]
name = "fs.read"
reason = "a"
[[capabilities]]
name = "fs.write"
reason = "b"
[[capabilities]]
name = "fs.replace"
reason = "c"
[[tools]]
name = "Show"
summary = "Shows"
read_only = true
capabilities = ["fs.read"]
input_schema = '{"type":"object"}'
[[tools.fields]]
name = "path"
kind = "path"
effect = "read"
[[tools]]
name = "Alter"
summary = "Alters"
input_schema = '{"type":"object"}'
[[tools.fields]]
name = "path"
kind = "path"
effect = "write"
`

// editing is a host with the editor's tools as built-in ones.
func editing(tb testing.TB, o host.Options, change ...func(manifest string) string) *host.Host {
	tb.Helper()
	return editingFrom(tb, plugins.OriginBuiltin, o, change...)
}

func editingFrom(tb testing.TB, origin plugins.Origin, o host.Options, change ...func(manifest string) string) *host.Host {
	tb.Helper()
	manifest := editorManifest
	for _, c := range change {
		manifest = c(manifest)
	}
	o.Plugins.Sources = []plugins.Source{{Origin: origin, Path: "editor", FS: fstest.MapFS{
		"plugin.toml": {Data: []byte(manifest)},
		"editor.wasm": {Data: []byte("\x00asm\x01\x00\x00\x00")},
	}}}
	o.Plugins.Runners, o.Plugins.Isolated, o.Plugins.Granted = []plugins.Runner{editor{}}, []plugins.Runner{editor{}}, []string{"editor"}
	return open(tb, o)
}

func (e edit) input() string {
	text, _ := json.Marshal(e)
	return string(text)
}

// settledFiles are files that were not written just now, so that their stamps prove
// what they are.
func settledFiles(tb testing.TB, content map[string]string) string {
	tb.Helper()
	dir := files(tb, content)
	before := time.Now().Add(-time.Hour)
	for name := range content {
		if err := os.Chtimes(filepath.Join(dir, name), before, before); err != nil {
			tb.Fatal(err)
		}
	}
	time.Sleep(60 * time.Millisecond) // setting a time is a change of the inode
	return dir
}

// questions is a person who allows everything, and remembers what was asked.
type questions struct {
	asked []host.Approval
	look  func()
	reply host.Answer
}

func (*questions) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (q *questions) Ask(_ context.Context, question host.Question) (host.Reply, error) {
	a := *question.Approval
	q.asked = append(q.asked, a)
	if q.look != nil {
		q.look()
	}
	if q.reply != "" {
		return host.Reply{Answer: q.reply}, nil
	}
	return host.Reply{Answer: host.AnswerAllow}, nil
}

func TestPreview(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\ntwo\n"})
	path, before := filepath.Join(dir, "a.txt"), ""
	person := &questions{look: func() { b, _ := os.ReadFile(path); before = string(b) }}
	s := session(t, editing(t, host.Options{}), host.SessionOptions{Cwd: dir, Asker: person})
	one(t, s, "Show", `{"path":"a.txt"}`)
	result, events := one(t, s, "Alter", edit{Path: "a.txt", Old: "two", New: "2"}.input())
	if result.IsError || len(person.asked) != 1 || before != "one\ntwo\n" {
		t.Fatalf("%s; asked %d times, before that it said %q", result.Text(), len(person.asked), before)
	}
	if got := person.asked[0].Preview; got == "" || got != result.Text() || !strings.Contains(got, "-two\n+2\n") {
		t.Errorf("shown %q, done %q", got, result.Text())
	}
	if b, _ := os.ReadFile(path); string(b) != "one\n2\n" {
		t.Errorf("it says %q", b)
	}
	if n := len(of(events, host.EventCapability)); n != 1 {
		t.Errorf("%d capability calls are told", n)
	}
	if n := len(of(events, host.EventLog)); n != 1 {
		t.Errorf("%d log lines are told", n)
	}
	// What it wrote, it knows.
	if result, _ = one(t, s, "Alter", edit{Path: "a.txt", New: "all new\n", Whole: true}.input()); result.IsError {
		t.Error(result.Text())
	}
}

func TestPreviewIsBounded(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, nil)
	person := &questions{reply: host.AnswerDeny}
	s := session(t, editing(t, host.Options{}), host.SessionOptions{Cwd: dir, Asker: person})
	one(t, s, "Alter", edit{Path: "new", New: strings.Repeat("a line äöü\n", 3_000), Whole: true}.input())
	if n := len([]rune(person.asked[0].Preview)); n < 19_000 || n > 20_100 {
		t.Errorf("%d characters are shown", n)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestFailsBeforeAsking ends calls that would fail, with what the tool says of it.
func TestFailsBeforeAsking(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\ntwo two\n", "unread.txt": "x\n", "sub/x": ""})
	person := &questions{}
	s := session(t, editing(t, host.Options{}), host.SessionOptions{Cwd: dir, Asker: person})
	one(t, s, "Show", `{"path":"a.txt"}`)
	for _, c := range []struct {
		in   edit
		code abi.Code
	}{
		{edit{Path: "missing", Old: "a", New: "b"}, abi.CodeNotFound},
		{edit{Path: "sub", Old: "a", New: "b"}, abi.CodeIsDirectory},
		{edit{Path: "unread.txt", Old: "x", New: "y"}, abi.CodeNotRead},
		{edit{Path: "a.txt", Old: "one", New: "one"}, abi.CodeSameText},
		{edit{Path: "a.txt", Old: "three", New: "3"}, abi.CodeNoMatch},
		{edit{Path: "a.txt", Old: "two", New: "2"}, abi.CodeNotUnique},
		{edit{Path: "unread.txt", New: "y", Whole: true}, abi.CodeNotRead},
	} {
		result, events := one(t, s, "Alter", c.in.input())
		wantError(t, result, c.code, "the tool says: ")
		if strings.Contains(result.Text(), "tool_use_error") || len(of(events, host.EventCapability)) > 0 {
			t.Errorf("%+v: %s, %d capability calls", c.in, result.Text(), len(events))
		}
	}
	later := time.Now().Add(time.Hour)
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	result, _ := one(t, s, "Alter", edit{Path: "a.txt", Old: "one", New: "1"}.input())
	wantError(t, result, abi.CodeChanged)
	if len(person.asked) > 0 {
		t.Errorf("%d questions were asked", len(person.asked))
	}
}

// TestRehearsalTellsNothing asks about what the rules do not let the model read,
// whatever comes of it: else how a call fails would tell what is there.
func TestRehearsalTellsNothing(t *testing.T) {
	t.Parallel()
	outside := settledFiles(t, map[string]string{"there": "x\n"})
	person := &questions{reply: host.AnswerDeny}
	s := session(t, editing(t, host.Options{}), host.SessionOptions{Cwd: t.TempDir(), Asker: person})
	for _, name := range []string{"there", "missing"} {
		result, _ := one(t, s, "Alter", edit{Path: filepath.Join(outside, name), Old: "a", New: "b"}.input())
		wantError(t, result, abi.CodeDenied)
	}
	if len(person.asked) != 2 {
		t.Errorf("asked %d times", len(person.asked))
	}
}

// TestRehearsalOfMore asks without a preview where the call does more than it is asked
// about, which nothing of is done before.
func TestRehearsalOfMore(t *testing.T) {
	t.Parallel()
	outside := settledFiles(t, map[string]string{"secret": "x\n"})
	dir := settledFiles(t, map[string]string{"a.txt": "one\n"})
	also := filepath.Join(outside, "secret")
	for name, change := range map[string]func(string) string{
		"another file that asks": nil,
		"a capability with effects": func(m string) string {
			return strings.Replace(m, "[[tools]]", "[[capabilities]]\nname = \"session.cwd\"\nreason = \"d\"\n[[tools]]", 1)
		},
		"a kept instance": func(m string) string { return strings.Replace(m, "isolation", "instance = \"kept\"\nisolation", 1) },
		"not known to write": func(m string) string {
			return strings.Replace(m, "name = \"Alter\"", "name = \"Alter\"\ncapabilities = [\"fs.read\"]", 1)
		},
	} {
		person := &questions{reply: host.AnswerDeny}
		in := edit{Path: "a.txt", New: "1\n", Whole: true}
		if change == nil {
			in.Also, change = also, strings.TrimSpace
		}
		s := session(t, editing(t, host.Options{}, change), host.SessionOptions{Cwd: dir, Asker: person})
		one(t, s, "Show", `{"path":"a.txt"}`)
		result, _ := one(t, s, "Alter", in.input())
		if len(person.asked) != 1 || person.asked[0].Preview != "" || person.asked[0].Capability != "" {
			t.Errorf("%s: %s, asked %+v", name, result.Text(), person.asked)
		}
	}
}

// TestNoRehearsalOfStrangers asks about what a plugin from elsewhere would do without
// having it done before.
func TestNoRehearsalOfStrangers(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\n"})
	person := &questions{reply: host.AnswerDeny}
	s := session(t, editingFrom(t, plugins.OriginFlag, host.Options{}), host.SessionOptions{Cwd: dir, Asker: person})
	one(t, s, "Show", `{"path":"a.txt"}`)
	for _, in := range []edit{{Path: "a.txt", New: "1\n", Whole: true}, {Path: "missing", Old: "a", New: "b"}} {
		result, _ := one(t, s, "Alter", in.input())
		wantError(t, result, abi.CodeDenied)
	}
	if len(person.asked) != 2 || person.asked[0].Preview != "" {
		t.Errorf("asked %+v", person.asked)
	}
}

// TestShownAgain answers a read of what was shown before with a word, once.
func TestShownAgain(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\n"})
	s := session(t, editing(t, host.Options{}), host.SessionOptions{Cwd: dir})
	var got []string
	for range 4 {
		result, _ := one(t, s, "Show", `{"path":"a.txt"}`)
		got = append(got, result.Text())
	}
	if want := []string{"one", "unchanged", "one", "unchanged"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestReadInOneProcessWrittenInTheNext goes on with a session in another host.
func TestReadInOneProcessWrittenInTheNext(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\ntwo\n", "b.txt": "b\n"})
	sessions := filepath.Join(t.TempDir(), "sessions")
	next := func() *host.Session {
		return session(t, editing(t, host.Options{Storage: host.StorageOptions{Sessions: sessions}}), host.SessionOptions{ID: "mine", Cwd: dir, Asker: &questions{}})
	}
	s := next()
	one(t, s, "Show", `{"path":"a.txt"}`)
	one(t, s, "Show", `{"path":"b.txt"}`)
	closed(t, s)
	s = next()
	if result, _ := one(t, s, "Alter", edit{Path: "a.txt", Old: "two", New: "2"}.input()); result.IsError {
		t.Error(result.Text())
	}
	if result, _ := one(t, s, "Show", `{"path":"b.txt"}`); result.Text() != "b" {
		t.Errorf("a view of another conversation: %q", result.Text())
	}
	closed(t, s)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = next()
	result, _ := one(t, s, "Alter", edit{Path: "a.txt", Old: "one", New: "1"}.input())
	wantError(t, result, abi.CodeChanged)
	closed(t, s)
}

// TestFactsOfWhatWasRead tells a tool whether the model has seen a file that its input
// names, and whether that is another one by now.
func TestFactsOfWhatWasRead(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
	var got []abi.Fact
	tool := echo("Ask", func(c *abi.Tool) {
		c.Validates = true
		c.Fields = []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectRead}}
	})
	tool.Assess = func(_ context.Context, _ json.RawMessage, facts []abi.Fact) (abi.Assessment, error) {
		got = append(got, facts...)
		return abi.Assessment{}, nil
	}
	s := session(t, editing(t, host.Options{Tools: []host.NativeTool{tool}}), host.SessionOptions{Cwd: dir})
	one(t, s, "Show", `{"path":"a.txt"}`)
	one(t, s, "Ask", `{"path":"a.txt"}`)
	one(t, s, "Ask", `{"path":"b.txt"}`)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("longer\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	one(t, s, "Ask", `{"path":"a.txt"}`)
	if err := os.Remove(filepath.Join(dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	one(t, s, "Ask", `{"path":"a.txt"}`)
	want := []abi.Fact{
		{Path: "a.txt", Exists: true, Kind: abi.KindFile, Size: 4, Read: true},
		{Path: "b.txt", Exists: true, Kind: abi.KindFile, Size: 2},
		{Path: "a.txt", Exists: true, Kind: abi.KindFile, Size: 7, Read: true, Changed: true},
		{Path: "a.txt", Read: true, Changed: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
