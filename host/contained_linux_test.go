package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// newTrying returns a host that tries commands, and skips the test where overlays cannot be mounted.
func newTrying(t *testing.T, contained permissions.Contained, change ...func(o *host.Options)) *shelled {
	t.Helper()
	h := newShelled(t, append([]func(o *host.Options){func(o *host.Options) {
		o.Permissions.Rules = rules("", "", "")
		o.Shell.Sandbox.Contained = contained
	}}, change...)...)
	p := &questions{reply: host.AnswerAllow}
	s := session(t, h.Host, host.SessionOptions{Cwd: files(t, nil), Asker: p})
	told(t, s, "bash -c true")
	if len(p.asked) > 0 && strings.Contains(strings.Join(p.asked[0].Reasons, " "), "overlay") {
		testenv.Missing(t, strings.Join(p.asked[0].Reasons, " "))
	}
	return h
}

// TestContained tries commands before a person is asked. If one changed nothing, its result stands
// without a question. Otherwise a yes makes the changes that were shown, and a no makes none.
func TestContained(t *testing.T) {
	t.Parallel()
	const mark = "[contained]"
	for name, test := range map[string]struct {
		contained permissions.Contained
		mode      permissions.Mode
		command   string
		reply     host.Answer
		says      string // what the model is told
		asks      string // what the person is told; empty if nobody is asked
		shows     string
		then      string // the content of a.txt afterwards
	}{
		"nothing changed":      {contained: "run", command: "bash -c 'cat a.txt; exit 3'", says: mark, then: "one\n"},
		"in plan mode":         {contained: "run", mode: permissions.ModePlan, command: "bash -c 'cat a.txt'", says: mark, then: "one\n"},
		"changed and put back": {contained: "run", command: "bash -c 'cp -p a.txt b; echo x >> a.txt; mv b a.txt; cat a.txt'", says: mark, then: "one\n"},
		"asked all the same":   {contained: "ask", command: "bash -c 'cat a.txt'", says: mark, asks: "changed nothing", then: "one\n"},
		"asked, no":            {contained: "ask", command: "bash -c 'cat a.txt'", reply: host.AnswerDeny, says: "denied", asks: "changed nothing", then: "one\n"},
		"changed, yes":         {contained: "run", command: "bash -c 'echo two >> a.txt; echo said'", says: "said", asks: "changed 1 file", shows: "+two", then: "one\ntwo\n"},
		"changed, no":          {contained: "run", command: "bash -c 'echo two >> a.txt; echo said'", reply: host.AnswerDeny, says: "denied", asks: "changed 1 file", shows: "+two", then: "one\n"},
		"in plan mode, yes":    {contained: "run", mode: permissions.ModePlan, command: "bash x.sh", says: mark, asks: "changed 1 file", shows: "+two", then: "one\ntwo\n"},
		"a known edit":         {contained: "run", command: "sed -i s/one/two/ a.txt", says: mark, asks: "changed 1 file", shows: "-one\n+two", then: "two\n"},
		"temporary files":      {contained: "run", command: "bash -c 'echo t > /tmp/kept'", says: mark, asks: "changed 1 file", shows: "+t", then: "one\n"},
		"off":                  {contained: "off", command: "bash -c 'echo two >> a.txt; echo said'", says: "said", asks: "it runs a script", then: "one\ntwo\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := settledFiles(t, map[string]string{"a.txt": "one\n", "x.sh": "echo two >> a.txt"})
			h := newTrying(t, test.contained)
			p := &questions{reply: test.reply}
			if test.reply == "" {
				p.reply = host.AnswerAllow
			}
			p.look = func() {
				if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "one\n" {
					t.Errorf("while it is asked the file holds %q, %v", text, err)
				}
			}
			s := session(t, h.Host, host.SessionOptions{Cwd: dir, Mode: test.mode, Asker: p})
			got := told(t, s, test.command)
			if !strings.Contains(got, test.says) || test.reply != host.AnswerDeny && test.contained != "off" && strings.Count(got, mark) != 1 {
				t.Errorf("the model is told %q", got)
			}
			switch {
			case test.asks == "" && len(p.asked) > 0:
				t.Errorf("it is asked: %q", p.asked[0].Reasons)
			case test.asks != "" && len(p.asked) != 1:
				t.Errorf("it is asked %d times", len(p.asked))
			case test.asks != "" && (!strings.Contains(strings.Join(p.asked[0].Reasons, " "), test.asks) || !strings.Contains(p.asked[0].Preview, test.shows)):
				t.Errorf("it is asked %q, with %q", p.asked[0].Reasons, p.asked[0].Preview)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != test.then {
				t.Errorf("the file holds %q, %v", text, err)
			}
		})
	}
}

// TestContainedUnasked tries commands where nobody can be asked: a command that changed nothing
// stands. One that would change something is denied, and changes nothing.
func TestContainedUnasked(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\n"})
	for contained, reads := range map[permissions.Contained]string{"run": "one\n", "ask": "nobody can be asked"} {
		s := session(t, newTrying(t, contained).Host, host.SessionOptions{Cwd: dir})
		if got := told(t, s, "bash -c 'cat a.txt'"); !strings.Contains(got, reads) {
			t.Errorf("%s: the model is told %q", contained, got)
		}
		if got := told(t, s, "bash -c 'echo two > a.txt'"); !strings.Contains(got, "nobody can be asked") {
			t.Errorf("%s: the model is told %q", contained, got)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "one\n" {
			t.Errorf("%s: the file holds %q, %v", contained, text, err)
		}
	}
}
