package self_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/self"
	"github.com/toolquay/toolquay/permissions"
)

// settings are those of one file, which take whatever they are set to.
type settings struct {
	file string
	sets int
}

func (s *settings) File() string { return s.file }

func (s *settings) Get(string) (capability.Setting, error) {
	return capability.Setting{Value: json.RawMessage("1"), Source: "here"}, nil
}

func (s *settings) Check(name string, _ json.RawMessage) error {
	if name == "closed" {
		return abi.Errorf(abi.CodeDisabled, "it is closed")
	}
	return nil
}

func (s *settings) Set(context.Context, string, json.RawMessage) (before, now capability.Setting, err error) {
	s.sets++
	return before, now, nil
}

// output takes everything.
type output struct{ puts []string }

func (o *output) Put(value json.RawMessage) (bool, error) {
	o.puts = append(o.puts, string(value))
	return len(o.puts) > 1, nil
}

// trees enters and leaves whatever is asked, unless a worktree is called bad.
type trees struct{ did []string }

func (w *trees) Check(_ context.Context, args abi.WorktreeArgs) (string, error) {
	if args.Name == "bad" {
		return "", abi.Errorf(abi.CodeInvalidInput, "it is bad")
	}
	return "words of " + args.Do, nil
}

func (w *trees) Do(_ context.Context, args abi.WorktreeArgs, words string) (abi.WorktreeOK, error) {
	w.did = append(w.did, args.Do+" by "+words)
	return abi.WorktreeOK{}, nil
}

// staged is a stage that is never used.
type staged struct{ capability.Stage }

func request(name, args string, parts ...abi.Part) abi.Request {
	return abi.Request{Name: name, Args: json.RawMessage(args), Parts: parts}
}

// do plans a request and does it.
func do(t *testing.T, scope capability.Scope, req abi.Request) (abi.Answer, []permissions.Access, error) {
	t.Helper()
	plan, err := self.New().Plan(t.Context(), scope, req)
	if err != nil {
		return abi.Answer{}, nil, err
	}
	accesses := plan.Accesses()
	answer, err := plan.Do(t.Context(), func(permissions.Access) bool { return true })
	if err := plan.Close(); err != nil {
		t.Error(err)
	}
	return answer, accesses, err
}

func asJSON(data string) abi.Part { return abi.Part{Type: abi.PartJSON, Data: []byte(data)} }

// TestRefused refuses what cannot be, before anything is done.
func TestRefused(t *testing.T) {
	t.Parallel()
	var told int
	dir := t.TempDir()
	whole := capability.Scope{Cwd: dir, Tell: func(capability.News) { told++ }, Output: &output{}, Settings: &settings{file: filepath.Join(dir, "settings.toml")}, Worktrees: &trees{}}
	without, unheard, rehearsed := whole, whole, whole
	without.Output, without.Settings, without.Worktrees = nil, nil, nil
	stages := whole
	stages.Stage = staged{}
	unheard.Unheard, rehearsed.Rehearse = true, true
	for _, test := range []struct {
		name  string
		scope capability.Scope
		req   abi.Request
		code  abi.Code
		says  string
	}{
		{"no output wanted", without, request(abi.CapSessionOutput, `{}`, asJSON(`{}`)), abi.CodeDisabled, "nobody asked"},
		{"no output", whole, request(abi.CapSessionOutput, `{}`), abi.CodeInvalidInput, "one part"},
		{"two outputs", whole, request(abi.CapSessionOutput, `{}`, asJSON(`{}`), asJSON(`{}`)), abi.CodeInvalidInput, "one part"},
		{"an output of text", whole, request(abi.CapSessionOutput, `{}`, abi.Part{Type: abi.PartText, Data: []byte(`{}`)}), abi.CodeInvalidInput, "one part"},
		{"no JSON", whole, request(abi.CapSessionOutput, `{}`, asJSON(`{"a":1,"a":2}`)), abi.CodeInvalidInput, "the output: "},
		{"a rehearsed output", rehearsed, request(abi.CapSessionOutput, `{}`, asJSON(`{}`)), abi.CodeUnsupported, "cannot be rehearsed"},
		{"nobody hears", unheard, request(abi.CapSessionMessage, `{"message":"a"}`), abi.CodeUnsupported, "nobody shows"},
		{"a rehearsed message", rehearsed, request(abi.CapSessionMessage, `{"message":"a"}`), abi.CodeUnsupported, "cannot be rehearsed"},
		{"a path with a NUL", whole, request(abi.CapSessionMessage, `{"message":"a","attachments":["ok","a\u0000"]}`), abi.CodeInvalidInput, "NUL"},
		{"an empty path", whole, request(abi.CapSessionMessage, `{"message":"a","attachments":[""]}`), abi.CodeInvalidInput, "the path is empty"},
		{"a device", whole, request(abi.CapSessionMessage, `{"message":"a","attachments":["/dev/zero"]}`), abi.CodeNotRegular, "refused"},
		{"no settings", without, request(abi.CapSessionConfig, `{"setting":"a"}`), abi.CodeDisabled, "no settings here"},
		{"a closed setting", whole, request(abi.CapSessionConfig, `{"setting":"closed","value":1}`), abi.CodeDisabled, "it is closed"},
		{"a list", whole, request(abi.CapSessionConfig, `{"setting":"a","value":[]}`), abi.CodeInvalidInput, "a string, a boolean or a number"},
		{"null", whole, request(abi.CapSessionConfig, `{"setting":"a","value":null}`), abi.CodeInvalidInput, "a string, a boolean or a number"},
		{"a rehearsed setting", rehearsed, request(abi.CapSessionConfig, `{"setting":"a","value":1}`), abi.CodeUnsupported, "cannot be rehearsed"},
		{"no worktrees", without, request(abi.CapSessionWorktree, `{"do":"enter"}`), abi.CodeUnsupported, "no session here"},
		{"nothing to do", whole, request(abi.CapSessionWorktree, `{}`), abi.CodeInvalidInput, `"enter", "keep" or "remove"`},
		{"a bad worktree", whole, request(abi.CapSessionWorktree, `{"do":"enter","name":"bad"}`), abi.CodeInvalidInput, "it is bad"},
		{"a staged worktree", stages, request(abi.CapSessionWorktree, `{"do":"enter"}`), abi.CodeUnsupported, "staged"},
		{"a rehearsed worktree", rehearsed, request(abi.CapSessionWorktree, `{"do":"remove"}`), abi.CodeUnsupported, "cannot be rehearsed"},
		{"another operation", whole, request("session.end", `{}`), abi.CodeUnsupported, "no operation"},
	} {
		_, _, err := do(t, test.scope, test.req)
		if abi.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v of code %s; want %s, %q", test.name, err, abi.CodeOf(err), test.code, test.says)
		}
	}
	if told > 0 || len(whole.Worktrees.(*trees).did) > 0 || whole.Settings.(*settings).sets > 0 || len(whole.Output.(*output).puts) > 0 {
		t.Error("something was done")
	}
}

// TestAccesses are all that is touched: the session alone, unless files or settings are.
func TestAccesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	scope := capability.Scope{Cwd: dir, Tell: func(capability.News) {}, Output: &output{}, Settings: &settings{file: file}, Worktrees: &trees{}}
	for _, test := range []struct {
		req  abi.Request
		want string
	}{
		{request(abi.CapSessionOutput, `{}`, asJSON(` {"b":1, "a":2}`)), "session output"},
		{request(abi.CapSessionMessage, `{"message":"a"}`), "session messages"},
		{request(abi.CapSessionMessage, `{"message":"a","attachments":["settings.toml"]}`), "session messages, fs.read " + file},
		{request(abi.CapSessionConfig, `{"setting":"a"}`), "session settings"},
		{request(abi.CapSessionConfig, `{"setting":"a","value":"b"}`), "session settings, fs.write " + file},
		{request(abi.CapSessionWorktree, `{"do":"enter","name":"a"}`), "session worktrees"},
		{request(abi.CapSessionWorktree, `{"do":"remove"}`), "session worktrees"},
		{request(abi.CapSessionWorktree, `{"do":"remove","discard":true}`), "session unsaved work: words of remove"},
		{request(abi.CapSessionWorktree, `{"do":"keep"}`), "session working directory"},
	} {
		_, accesses, err := do(t, scope, test.req)
		var got []string
		for _, a := range accesses {
			if got = append(got, string(a.Kind)+" "+a.Target); a.Kind == permissions.AccessSession && a.Real != "" {
				got[len(got)-1] += ": " + a.Real
			}
		}
		if strings.Join(got, ", ") != test.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", test.req.Name, got, err, test.want)
		}
	}
	if did := strings.Join(scope.Worktrees.(*trees).did, ", "); did != "enter by words of enter, remove by words of remove, remove by words of remove, keep by words of keep" {
		t.Errorf("of worktrees it did %s", did)
	}
	if puts := scope.Output.(*output).puts; len(puts) != 1 || puts[0] != `{"a":2,"b":1}` {
		t.Errorf("the output is %q", puts)
	}
}

// TestSettingsFileIsTheOneThatWasJudged has a link led elsewhere while the person is asked.
func TestSettingsFileIsTheOneThatWasJudged(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // links need a right there
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "link.toml")
	if err := os.Symlink(filepath.Join(dir, "a.toml"), link); err != nil {
		t.Fatal(err)
	}
	own := &settings{file: link}
	plan, err := self.New().Plan(t.Context(), capability.Scope{Cwd: dir, Settings: own}, request(abi.CapSessionConfig, `{"setting":"a","value":1}`))
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "b.toml"), link); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Do(t.Context(), nil); abi.CodeOf(err) != abi.CodeChanged || own.sets > 0 {
		t.Errorf("got %v, set %d times", err, own.sets)
	}
}
