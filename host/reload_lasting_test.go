package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// beside has a tool of a manifest run beside others.
const beside = "read_only = \"true\"\nconcurrency_safe = \"true\"\n"

// lasting is a session in which a call of the tool Last goes on until end is closed.
type lasting struct {
	*host.Session
	t          *testing.T
	host       *host.Host
	began, end chan struct{}
	lasts      <-chan abi.ToolResult
}

// newLasting opens a host that has the tools Last and Other, and begins no call yet.
func newLasting(t *testing.T, o host.Options) *lasting {
	t.Helper()
	l := &lasting{t: t, began: make(chan struct{}), end: make(chan struct{})}
	o.Tools = []host.NativeTool{
		l.tool("Last", func() {
			close(l.began)
			<-l.end
		}),
		l.tool("Other", func() {}),
	}
	l.host = open(t, o)
	l.Session = session(t, l.host, host.SessionOptions{})
	return l
}

// tool is one that runs beside others, and answers with its name.
func (l *lasting) tool(name string, run func()) host.NativeTool {
	contract := abi.Tool{Name: name, InputSchema: `{"type":"object"}`, ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue}
	return host.NewTool(contract, func(context.Context, struct{}) (string, error) {
		run()
		return name, nil
	})
}

// begin has the call begin that lasts.
func (l *lasting) begin() {
	l.lasts = l.call("Last", "{}")
	<-l.began
}

func (l *lasting) call(name, input string) <-chan abi.ToolResult {
	done := make(chan abi.ToolResult, 1)
	go func() {
		for e := range l.Call(l.t.Context(), use(name, name, input)) {
			if e.Kind == host.EventResult {
				done <- *e.Result
			}
		}
	}()
	return done
}

// runs calls a tool, which must not wait for the call that lasts.
func (l *lasting) runs(name, input string) abi.ToolResult {
	l.t.Helper()
	select {
	case r := <-l.call(name, input):
		return r
	case <-time.After(testenv.Patience):
		close(l.end)
		l.t.Fatalf("%s waits for another call", name)
		return abi.ToolResult{}
	}
}

// waits calls a tool, which must wait for the call that lasts, and ends that.
func (l *lasting) waits(name, input string) abi.ToolResult {
	l.t.Helper()
	done := l.call(name, input)
	select {
	case r := <-done:
		l.t.Errorf("%s ran beside a call of the older tools", name)
		done = result(r)
	case <-time.After(100 * time.Millisecond):
	}
	close(l.end)
	if r := <-l.lasts; r.Text() != "Last" {
		l.t.Errorf("the call that lasts: %q", r.Text())
	}
	return <-done
}

func result(r abi.ToolResult) <-chan abi.ToolResult {
	done := make(chan abi.ToolResult, 1)
	done <- r
	return done
}

func (l *lasting) reload() {
	l.t.Helper()
	if _, err := l.host.Reload(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

// A call that lasts keeps others from running neither where nothing has changed nor where other tools
// have. A tool that has changed waits, so that what was judged is what runs.
func TestReloadBesideACallThatLasts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putPlugin(t, dir, "Show", "ok", beside)
	l := newLasting(t, host.Options{Plugins: host.PluginOptions{Sources: []plugins.Source{plugins.Dir(plugins.OriginUser, dir)}}})
	l.begin()
	l.reload()
	if r := l.runs("Show", "{}"); r.Text() != "ok" {
		t.Errorf("a tool that is as it was: %q", r.Text())
	}
	putPlugin(t, dir, "Show", "counter", beside)
	l.reload()
	if r := l.runs("Other", "{}"); r.Text() != "Other" {
		t.Errorf("another tool: %q", r.Text())
	}
	if r := l.waits("Show", "{}"); r.Text() != "1" {
		t.Errorf("the changed tool: %q", r.Text())
	}
}

// What lists tools runs beside a call that lasts where nothing has changed, skills among that, and waits
// where there are others.
func TestToolSearchBesideACallThatLasts(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"skills/one/SKILL.md": skillText("one", "", "The first.")})
	l := newLasting(t, host.Options{
		Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways}},
		Skills: host.SkillOptions{Sources: []host.SkillSource{{Label: "user", Dir: dir}}},
	})
	l.begin()
	l.reload()
	if r := l.runs("ToolSearch", `{"query":"select:NotebookEdit"}`); r.Error != nil {
		t.Errorf("nothing has changed: %v", r.Error)
	}
	must(t, l.host.Provide("p", host.Provided{Tools: []host.NativeTool{echo("Late", deferred)}}))
	if r := l.waits("ToolSearch", `{"query":"select:Late"}`); !strings.Contains(string(r.Structured), `"Late"`) {
		t.Errorf("a tool has come: %s, %v", r.Structured, r.Error)
	}
}

// A skill that has come while a call lasts is loaded after it.
func TestSkillBesideACallThatLasts(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"skills/one/SKILL.md": skillText("one", "", "The first.")})
	l := newLasting(t, host.Options{Builtins: true, Skills: host.SkillOptions{Sources: []host.SkillSource{{Label: "user", Dir: dir}}}})
	if found, _ := l.host.Skills(); len(found) != 1 { // which looks for them
		t.Fatalf("there are %d skills", len(found))
	}
	l.begin()
	must(t, os.Rename(files(t, map[string]string{"SKILL.md": skillText("two", "", "The second.")}), filepath.Join(dir, "skills", "two")))
	l.reload()
	if r := l.waits(skillTool, `{"skill":"two"}`); !strings.Contains(r.Text(), "The second.") {
		t.Errorf("the newer skill: %q, %v", r.Text(), r.Error)
	}
}
