package host_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// TestScratchIsAWorkingDirectory has commands and other tools write to the session's directory
// for temporary files, by all its names, where edits need no question; and nowhere else.
func TestScratchIsAWorkingDirectory(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) { o.Permissions.Rules = nil })
	s := session(t, h.Host, host.SessionOptions{Mode: permissions.ModeAcceptEdits})
	name := told(t, s, "echo $TMPDIR")
	for _, command := range []string{
		"cat > /tmp/a <<EOF\none\nEOF", "echo two > $TMPDIR/b", "mktemp", "mktemp -d", "mkdir /var/tmp/d && cp /tmp/a /var/tmp/d/c",
	} {
		if got := s.Results(t.Context(), []abi.ToolUse{bash("1", command)})[0]; got.IsError {
			t.Errorf("%s: %s", command, got.Text())
		}
	}
	for _, one := range []abi.ToolUse{
		use("2", "Write", `{"file_path":"`+name+`/w","content":"three\n"}`),
		use("3", "Read", `{"file_path":"`+name+`/a"}`),
		use("4", "Edit", `{"file_path":"`+name+`/a","old_string":"one","new_string":"four"}`),
		use("5", "Grep", `{"pattern":"four","path":"`+name+`"}`),
		use("6", "Glob", `{"pattern":"*","path":"`+name+`"}`),
	} {
		if got := s.Results(t.Context(), []abi.ToolUse{one})[0]; got.IsError {
			t.Errorf("%s: %s", one.Name, got.Text())
		}
	}
	if got := told(t, s, "cat /tmp/a $TMPDIR/b /var/tmp/d/c /tmp/w"); got != "four\ntwo\none\nthree" {
		t.Errorf("the files hold %q", got)
	}
	outside, err := os.CreateTemp("/tmp", "toolquay_test_*")
	must(t, err)
	must(t, outside.Close())
	t.Cleanup(func() { must(t, os.Remove(outside.Name())) })
	for _, one := range []abi.ToolUse{
		use("7", "Write", `{"file_path":"`+name+`/.git/config","content":"x"}`),
		use("8", "Read", `{"file_path":"`+outside.Name()+`"}`),
		bash("9", "echo x > $TMPDIR/../x"),
		bash("10", "TMPDIR=/etc; echo x > $TMPDIR/x"),
	} {
		if got := s.Results(t.Context(), []abi.ToolUse{one})[0]; !got.IsError {
			t.Errorf("%s %s: %s", one.Name, one.Input, got.Text())
		}
	}
	if got := told(t, s, "cat "+outside.Name()); !strings.Contains(got, "o such file") {
		t.Errorf("a file of the machine's /tmp: %q", got)
	}
}
