package host_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// nestedIn is a session with a tool that makes the calls its input lists, one after the
// other, and says what came of them.
func nestedIn(t *testing.T, dir string) *host.Session {
	t.Helper()
	var s *host.Session
	makes := does("Make", func(ctx context.Context, c *host.Call) (string, error) {
		var out []string
		for i, one := range strings.Split(field(c, "calls"), "; ") {
			tool, input, _ := strings.Cut(one, " ")
			for _, r := range s.Results(ctx, []abi.ToolUse{use(fmt.Sprint(c.ID, i), tool, input)}) {
				out = append(out, r.Text())
			}
		}
		return strings.Join(out, "|"), nil
	}, func(c *abi.Tool) { c.ReadOnly, c.ConcurrencySafe = abi.TraitFalse, abi.TraitFalse })
	h := editing(t, host.Options{Tools: []host.NativeTool{makes}, Permissions: host.PermissionOptions{Rules: rules("", "", "Make")}})
	s = session(t, h, host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits, Asker: &questions{}})
	return s
}

// TestShownToACall has what calls show and write that a call makes be known to that
// call's others, and not to the model, which does not get their results.
func TestShownToACall(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
	s := nestedIn(t, dir)
	makes := func(calls ...string) string {
		t.Helper()
		input, err := abi.Canonical(fmt.Appendf(nil, `{"calls":%q}`, strings.Join(calls, "; ")))
		must(t, err)
		r, _ := one(t, s, "Make", string(input))
		if r.IsError {
			t.Fatal(r.Text())
		}
		return r.Text()
	}
	const show = `Show {"path":"a.txt"}`
	alter := func(from, to string) edit { return edit{Path: "a.txt", Old: from, New: to} }

	if got := makes(show, show); got != "one|one" {
		t.Errorf("a call is shown twice what it asks for twice: %q", got)
	}
	r, _ := one(t, s, "Alter", alter("one", "1").input())
	wantError(t, r, abi.CodeNotRead)
	if got := makes("Alter " + alter("one", "1").input()); !strings.Contains(got, "was not read") {
		t.Errorf("what another call was shown: %q", got)
	}

	shows(t, s, "a.txt")
	if got := makes(show); got != "one" {
		t.Errorf("what the model was shown, and the call was not: %q", got)
	}
	got := makes("Alter "+alter("one", "1").input(), "Alter "+alter("1", "eins").input())
	if strings.Contains(got, "was not read") || !strings.Contains(got, "+eins") {
		t.Errorf("what the model has seen, and what the call wrote: %q", got)
	}
	if at := strings.Index(got, stale); at < strings.LastIndex(got, "+eins") {
		t.Errorf("the model, and not a call, is to be told that the file is another: %q", got)
	}
	r, _ = one(t, s, "Alter", alter("eins", "uno").input())
	wantError(t, r, abi.CodeChanged)

	// A file that the model knows nothing of is none that it has to read again.
	if got := makes(`Show {"path":"b.txt"}`, "Alter "+edit{Path: "b.txt", Old: "b", New: "B"}.input()); strings.Contains(got, stale) || !strings.Contains(got, "+B") {
		t.Errorf("what the call alone has seen: %q", got)
	}
	if got := shows(t, s, "a.txt"); got != "eins" {
		t.Errorf("the model reads %q", got)
	}
}
