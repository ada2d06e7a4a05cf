package host

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/folder"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/shell"
)

// ownVariables are the names of the variables, as globs, that commands get of
// [Shell.Environ]: who and where the user is, how to show and sort things, and where
// programs lie. Nothing here holds a secret.
var ownVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ",
	"NO_COLOR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
}

// passed is what commands get of an environment: the usual, and what further globs name.
func passed(environ, further []string) []string {
	var out []string
	for _, setting := range environ {
		name, _, ok := strings.Cut(setting, "=")
		if ok && (matchesAny(ownVariables, name) || matchesAny(further, name)) {
			out = append(out, setting)
		}
	}
	slices.Sort(out)
	return out
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// fixed are set for every command, whatever the host's environment says: nobody sits
// at a terminal.
var fixed = []string{
	"TERM=dumb", "GIT_TERMINAL_PROMPT=0", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat",
	// Git takes the message that it has; any other editor fails at once.
	"GIT_EDITOR=true", "EDITOR=false", "VISUAL=false",
}

// environment is what commands run with, later settings in the place of earlier ones. Looks
// adds what keeps a command read-only that was judged so.
func environment(own []string, looks bool) []string {
	set := make(map[string]string, len(own)+len(fixed))
	put := func(settings []string) { // a name without a value unsets it
		for _, setting := range settings {
			name, value, ok := strings.Cut(setting, "=")
			if ok {
				set[name] = value
			} else {
				delete(set, name)
			}
		}
	}
	put(own)
	put(fixed)
	if looks {
		put(shell.Environment())
	}
	out := make([]string, 0, len(set))
	for name, value := range set {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// environments are those that the commands of a host run with, which do not change.
type environments struct {
	once              sync.Once
	usual, forLooking []string
}

// of is the caller's own copy of one of them.
func (e *environments) of(o *Shell, looks bool) []string {
	e.once.Do(func() {
		own := passed(o.Environ, o.Environment)
		e.usual, e.forLooking = environment(own, false), environment(own, true)
	})
	if looks {
		return slices.Clone(e.forLooking)
	}
	return slices.Clone(e.usual)
}

// commander is what capabilities know of a session's commands, for one capability call.
// A command is looked at once in it, from one place: what is planned is what is judged.
type commander struct {
	gate *callGate
	at   func() shell.Place

	mu       sync.Mutex
	analysed map[string]permissions.Command
}

var _ capability.Shell = (*commander)(nil)

func newCommander(g *callGate) *commander {
	return &commander{gate: g, at: sync.OnceValue(g.place), analysed: make(map[string]permissions.Command)}
}

// Analyse finds out what a command would do.
func (c *commander) Analyse(text string) permissions.Command {
	c.mu.Lock()
	defer c.mu.Unlock()
	command, known := c.analysed[text]
	if !known {
		command = c.gate.analyse(text, c.at())
		c.analysed[text] = command
	}
	return command
}

// cwd is where a command begins: the session's directory as it really lies, which is
// what the command is judged by. A shell that is told of a link to it would step out of
// the link.
func (c *commander) cwd() string { return c.at().Cwd }

// Environment is what commands run with.
func (c *commander) Environment(looks bool) []string {
	h := c.gate.call.session().host
	return h.commands.environments.of(h.options.Shell, looks)
}

// Offers reports whether the model may call a tool.
func (c *commander) Offers(tool string) bool {
	_, ready, err := (*catalog)(c.gate.call).List()
	return err == nil && slices.Contains(ready, tool)
}

// Tell has the session's followers learn what a command did: as a part of its call, or
// where that has ended, and the command went on in the background, beside all turns.
func (c *commander) Tell(d capability.Deed) {
	made := c.gate.call
	if !made.turn.told() {
		return
	}
	inCall := made.progress.unlessOver(func() {
		made.event(Event{Kind: EventDeed, Deed: &d, Elapsed: made.elapsed()})
	})
	if !inCall {
		made.session().tell(Event{Kind: EventDeed, CallID: d.Call.ID, Tool: d.Call.Tool, Title: made.title, Deed: &d})
	}
}

// Spool makes a file for a command's output.
func (c *commander) Spool(call capability.Call) (*os.File, error) {
	s := c.gate.call.session()
	dir, err := s.outputs()
	if err != nil {
		return nil, err
	}
	return os.CreateTemp(dir, folder.Safe(call.ID, 40)+"-*.out") // 0600, and nothing that was there
}

// Walls are what the session's commands are held to.
func (c *commander) Walls(ctx context.Context, confined, writes bool) (capability.Walls, error) {
	w, err := c.gate.openWalls()
	if err != nil || !confined {
		return w, err
	}
	return c.gate.walls(ctx, w, writes)
}

// outputsDir is the directory of the session's folder that commands' output lies in.
const outputsDir = "output"

// outputs is where commands' output goes: the session's folder, or where it has none a
// directory that goes with the session.
func (s *Session) outputs() (string, error) {
	f := s.stored.folder
	if f == nil {
		return s.scratch.dir(outputsDir)
	}
	dir := filepath.Join(f.Path(), outputsDir)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil // it was made before
	}
	return dir, makeIn(f, outputsDir)
}
