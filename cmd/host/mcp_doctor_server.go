package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions/settings"
)

// serverExamination is a look at a server of the settings, started under its allowances.
type serverExamination struct {
	d    diagnosis
	name string
}

// examineServer starts a server of the settings and says what it lacks.
func examineServer(ctx context.Context, a *app, name string, asJSON bool) error {
	e := serverExamination{diagnosis{OK: true, Build: readBuild()}, name}
	o, err := a.open(ctx, func(s *setup) { s.servers, s.quietServers, s.onlyServer = true, true, name })
	if err != nil {
		return err
	}
	defer o.close()
	if err := e.find(o); err != nil {
		return err
	}
	for i := range o.configs {
		c := &o.configs[i]
		if e.paths(c); c.Problem == nil {
			start := time.Now()
			_ = o.servers.Wait(ctx, name)
			for _, status := range o.servers.Status() {
				e.tell(c, &status, time.Since(start))
			}
			continue
		}
		e.d.add("start", wrong, c.Problem.Error())
	}
	return a.printFindings(&e.d, asJSON)
}

// find tells how the settings define the server.
func (e *serverExamination) find(o *opened) error {
	var names []string
	for i := range o.loaded.Servers {
		s := &o.loaded.Servers[i]
		names = append(names, s.Name)
		if s.Name != e.name {
			continue
		}
		e.d.add("settings", fine, fmt.Sprintf("%s (%s)", s, s.Source))
		if s.Enabled.Set && !s.Enabled.Value {
			e.d.add("settings", note, fmt.Sprintf("it is switched off (%s)", s.Enabled.Source))
		}
		return nil
	}
	for _, b := range o.loaded.Withheld {
		if b.Kind == settings.BringsServer && serverName(&b) == e.name {
			e.d.add("settings", wrong, b.String()+": it is not used before toolquay trust has shown it to you")
			return nil
		}
	}
	if len(names) == 0 {
		return usageError("--server %q: no MCP servers are configured; docs/mcp-servers.md shows how to add one", e.name)
	}
	return usageError("--server %q: there are %s", e.name, strings.Join(names, ", "))
}

// paths looks at the paths that the server is allowed.
func (e *serverExamination) paths(c *servers.Config) {
	for _, path := range c.Read {
		switch f, err := os.Open(path); {
		case errors.Is(err, fs.ErrNotExist):
			e.d.add("read", wrong, path+" is not there")
		case err != nil:
			e.d.add("read", wrong, err.Error())
		default:
			_ = f.Close()
			e.d.add("read", fine, path)
		}
	}
	for _, path := range c.Write {
		text := path
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			text += ", which is not there yet; it is made as a directory"
		}
		e.d.add("write", fine, text)
	}
}

// tell says what became of the start.
func (e *serverExamination) tell(c *servers.Config, s *servers.Status, took time.Duration) {
	state := wrong
	switch s.State {
	case servers.Connected, servers.Idle:
		state = note
		e.d.add("start", fine, fmt.Sprintf("%s answers after %d ms, in the revision %s", s.Server, took.Milliseconds(), s.Revision))
		if len(s.Tools) == 0 {
			e.d.add("tools", note, "it has no tools")
		} else {
			e.d.add("tools", fine, strings.Join(s.Tools, ", "))
		}
	case servers.NeedsAuth:
		e.d.add("start", wrong, "it wants you to log in: toolquay mcp login "+e.name)
	case servers.Pending:
		e.d.add("start", wrong, "it has not answered yet")
	}
	if s.Problem != nil && s.State != servers.NeedsAuth {
		e.d.add("start", state, s.Problem.Error())
	}
	for _, host := range s.Refused {
		e.d.add("network", state, fmt.Sprintf("it was kept from %s; if it needs that: network = [%q]", host, host))
	}
	if lines := strings.Split(strings.TrimSpace(s.Stderr), "\n"); lines[0] != "" {
		const most = 10
		e.d.add("stderr", note, "it wrote: "+strings.Join(lines[max(0, len(lines)-most):], "\n"))
	}
	for _, path := range unseenPaths(c, s.Stderr) {
		e.d.add("read", state, fmt.Sprintf("it wrote of %s, which is there and which it may not see; if it needs that: read = [%q]", path, path))
	}
}

// writtenPath is an absolute path in a text.
var writtenPath = lazyregexp.New(`/[A-Za-z0-9._~+@-]+(/[A-Za-z0-9._~+@-]+)+`)

// unseenPaths are the paths in what a server wrote that are there, and that it may not see.
// Those of the system all programs see.
func unseenPaths(c *servers.Config, text string) []string {
	const most = 5
	if runtime.GOOS == "windows" || len(c.Command) == 0 {
		return nil
	}
	seen := slices.Concat(c.Read, c.Write, []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/tmp", "/opt", "/nix"})
	var out []string
	for _, at := range writtenPath.FindAllStringIndex(text, -1) {
		path := strings.TrimRight(text[at[0]:at[1]], ".")
		if len(out) == most || insideAny(path, seen) || slices.Contains(out, path) {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			out = append(out, ui.Line(path))
		}
	}
	return out
}
