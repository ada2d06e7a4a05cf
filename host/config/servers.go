package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// projectVariable is what hooks know the project's root by, and servers' settings too.
const projectVariable = "TOOLQUAY_PROJECT_DIR"

// ServerVariable is set for servers that are started, to their name. A Toolquay that finds
// it has no servers of its own, or two of them could start each other without end.
const ServerVariable = "TOOLQUAY_MCP_SERVER"

// ServersOf returns the MCP servers of loaded settings, without those that are switched off. Their variables are replaced by
// what lookup returns, such as [os.LookupEnv]. A server that needs a variable that is not
// there, or makes no sense with its value, has a problem that names it, and is not started.
// Values of variables stand in no problem.
func ServersOf(dirs Dirs, project Project, loaded *settings.Loaded, lookup func(name string) (string, bool)) []servers.Config {
	var out []servers.Config
	for i := range loaded.Servers {
		if s := &loaded.Servers[i]; !s.Enabled.Set || s.Enabled.Value {
			e := serverExpansion{home: dirs.Home, root: project.Root, lookup: lookup}
			out = append(out, e.config(s))
		}
	}
	return out
}

// serverExpansion makes one server of its settings.
type serverExpansion struct {
	home, root string
	lookup     func(name string) (string, bool)
	missing    []string
	problem    string
}

func (e *serverExpansion) config(s *settings.Server) servers.Config {
	c := servers.Config{
		Name: s.Name, Source: s.Source, SSE: s.SSE, Network: s.Network.Value,
		TrustAnnotations: s.TrustAnnotations.Value, AlwaysLoad: s.AlwaysLoad.Value,
		StartTimeout: s.StartTimeout.Value, CallTimeout: s.CallTimeout.Value, IdleTimeout: s.IdleTimeout.Value,
	}
	for _, arg := range s.Command {
		c.Command = append(c.Command, e.argument("command", arg))
	}
	if s.URL == "" {
		c.Env = e.pairs("env", s.Env)
		c.Env[ServerVariable] = s.Name
		c.Dir = e.root
		if s.Dir != "" {
			c.Dir = e.path("dir", s.Dir, s.Source)
		}
		c.Read, c.Write = e.paths("read", s.Read), e.paths("write", s.Write)
	} else {
		c.URL = e.text("url", s.URL)
		c.Headers = e.pairs("headers", s.Headers)
		c.Auth = e.auth(s.Auth)
	}
	e.check(s, &c)
	if len(e.missing) > 0 {
		e.fault("%s; set what is missing, or give a default: ${%s:-default}", notSet(e.missing), e.missing[0])
	}
	if e.problem != "" {
		c.Problem = fmt.Errorf("%s (%s)", e.problem, s.Source)
	}
	return c
}

// notSet names variables that are not there.
func notSet(names []string) string {
	if len(names) == 1 {
		return "the variable " + names[0] + " is not set"
	}
	return "the variables " + strings.Join(names, ", ") + " are not set"
}

// fault notes what is wrong. What is noted later counts.
func (e *serverExpansion) fault(format string, args ...any) { e.problem = fmt.Sprintf(format, args...) }

// check holds what variables came to to what is asked of texts without any.
func (e *serverExpansion) check(s *settings.Server, c *servers.Config) {
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if err := settings.CheckHeader(c.Headers[name]); err != nil {
			e.fault("headers.%s: %v", name, err)
		}
	}
	if c.URL != "" {
		if err := s.CheckURL(c.URL); err != nil {
			e.fault("url, with its variables: %v", err)
		}
	}
	if len(c.Command) > 0 && c.Command[0] == "" {
		e.fault("command: with its variables it names no program")
	}
}

// text expands the variables of a text.
func (e *serverExpansion) text(key, text string) string {
	out, missing, err := settings.Expand(text, func(name string) (string, bool) {
		if name == projectVariable && e.root != "" {
			return e.root, true
		}
		return e.lookup(name)
	})
	if err != nil { // the settings were checked for it
		e.fault("%s: %v", key, err)
	}
	for _, name := range missing {
		if !slices.Contains(e.missing, name) {
			e.missing = append(e.missing, name)
		}
	}
	return out
}

// argument expands a text that a program is given.
func (e *serverExpansion) argument(key, text string) string {
	out := e.text(key, text)
	if strings.ContainsRune(out, 0) {
		e.fault("%s: a variable holds a NUL, which no program can be given", key)
	}
	return out
}

func (e *serverExpansion) pairs(key string, values map[string]string) map[string]string {
	out := make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out[name] = e.argument(key+"."+name, values[name])
	}
	return out
}

func (e *serverExpansion) paths(key string, list settings.Key[[]string]) []string {
	out := make([]string, len(list.Value))
	for i, path := range list.Value {
		out[i] = e.path(key, path, list.Source)
	}
	return out
}

// path makes a path absolute. It is relative to the project, in a project's file, and else
// to the folder of the file.
func (e *serverExpansion) path(key, text string, from permissions.Source) string {
	path := e.argument(key, text)
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if e.home == "" {
			e.fault("%s: ~ is not known here", key)
		}
		return filepath.Join(e.home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	base := e.root
	if from.File != "" && from.Kind != permissions.SourceProject && from.Kind != permissions.SourceProjectLocal {
		base = filepath.Dir(from.File)
	}
	if base == "" {
		e.fault("%s: a relative path, and there is no project; write an absolute one", key)
	}
	return filepath.Join(base, path)
}

// auth looks up the secret.
func (e *serverExpansion) auth(a *settings.ServerAuth) *servers.Auth {
	if a == nil {
		return nil
	}
	out := &servers.Auth{
		ClientID: a.ClientID, ClientMetadataURL: a.ClientMetadataURL, Issuer: a.Issuer,
		Scopes: a.Scopes, Grant: a.Grant, RedirectPort: a.RedirectPort,
	}
	if a.ClientSecretEnv != "" {
		secret, _ := e.lookup(a.ClientSecretEnv)
		if out.ClientSecret = secret; secret == "" {
			e.fault("auth: the variable %s is not set, which holds the client's secret", a.ClientSecretEnv)
		}
	}
	return out
}
