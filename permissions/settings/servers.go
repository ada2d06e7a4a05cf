package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/permissions"
)

// The grants of [ServerAuth].
const (
	GrantAuthorizationCode = "authorization_code"
	GrantClientCredentials = "client_credentials"
)

// Server is a table [mcp.NAME], or an entry of a project's .mcp.json: an MCP server of
// somebody else. A table without a command and a URL defines none. It adds allowances to
// the server of that name in .mcp.json, or switches the server of that name off.
//
// Texts are as written, with their ${VAR}s: see [Expand].
type Server struct {
	Name string
	// Command is the program that is started, with its arguments.
	Command []string
	// Env are variables that the program gets beside the usual ones.
	Env map[string]string
	// Dir is where it is started: absolute, below ~/ or below the folder of Source.
	Dir string
	// URL is where a server is that runs elsewhere, and Headers what it is sent.
	URL     string
	Headers map[string]string
	// Auth is how to sign in; nil is as the server asks for it.
	Auth *ServerAuth
	// SSE has a server at a URL spoken to by the transport of 2024-11-05.
	SSE bool

	// Network are hosts that it may reach, as in sandbox.hosts. Read and Write are paths,
	// as Dir is one. They are relative to the folder of their own Source.
	Network, Read, Write Key[[]string]
	// TrustAnnotations lets what the server says of its tools count, such as that one only
	// reads. AlwaysLoad never defers its tools. Enabled is on where it was not set.
	TrustAnnotations, AlwaysLoad, Enabled Key[bool]
	// These bound the start, one call, and how long the server is kept without calls.
	StartTimeout, CallTimeout, IdleTimeout Key[time.Duration]

	// Shared says that it stands in a project's .mcp.json.
	Shared bool
	Source permissions.Source
}

// ServerAuth is a table [mcp.NAME.auth]: how to sign in to a server by OAuth.
type ServerAuth struct {
	ClientID string
	// ClientSecretEnv names the variable that holds the secret, which never stands in
	// settings.
	ClientSecretEnv           string
	ClientMetadataURL, Issuer string
	Scopes                    []string
	// Grant is one of the Grant constants, or empty for authorization_code.
	Grant string
	// RedirectPort is the port on this machine that answers come to; 0 is any.
	RedirectPort int
}

// defines reports whether there is a server, not only allowances for one.
func (s *Server) defines() bool { return len(s.Command) > 0 || s.URL != "" }

// maxValueShown is how many bytes of a value of a variable or a header are shown.
const maxValueShown = 60

// String returns all of the server on one line, such as
// "docs, given TOKEN='${TOKEN}', reaching docs.example.com: npx -y docs-server".
func (s *Server) String() string { return s.show(word) }

// show is all of the server, with its paths shown by a function.
func (s *Server) show(path func(string) string) string {
	text := s.Name
	clause := func(begin string, words ...string) {
		if len(words) > 0 {
			text += strings.TrimSuffix(", "+begin, " ") + " " + strings.Join(words, " ")
		}
	}
	if s.URL != "" {
		clause("at", word(s.URL))
	}
	if s.SSE {
		text += ", by server-sent events"
	}
	clause("sent", pairs(s.Headers)...)
	clause("given", pairs(s.Env)...)
	if s.Dir != "" {
		clause("in", path(s.Dir))
	}
	if s.Auth != nil {
		s.Auth.show(clause)
	}
	clause("reaching", words(s.Network.Value, word)...)
	clause("reading", words(s.Read.Value, path)...)
	clause("writing", words(s.Write.Value, path)...)
	clause("", said(s.TrustAnnotations, "its annotations trusted", "its annotations not trusted")...)
	clause("", said(s.AlwaysLoad, "always loaded", "not always loaded")...)
	clause("", said(s.Enabled, "on", "off")...)
	for _, limit := range []struct {
		what string
		Key[time.Duration]
	}{{"starting for", s.StartTimeout}, {"calls for", s.CallTimeout}, {"idle for", s.IdleTimeout}} {
		if limit.Set {
			clause(limit.what, "at most", limit.Value.String())
		}
	}
	if len(s.Command) > 0 {
		text += ": " + strings.Join(words(s.Command, shellQuote), " ")
	}
	return text
}

func (a *ServerAuth) show(clause func(string, ...string)) {
	one := func(begin, value string) {
		if value != "" {
			clause(begin, word(value))
		}
	}
	clause("signing", "in")
	one("as client", a.ClientID)
	one("with the secret in", a.ClientSecretEnv)
	one("described at", a.ClientMetadataURL)
	one("at issuer", a.Issuer)
	clause("for the scopes", words(a.Scopes, word)...)
	one("by grant", a.Grant)
	if a.RedirectPort != 0 {
		clause("answered at port", strconv.Itoa(a.RedirectPort))
	}
}

// said are the words for a setting, if it was made.
func said(k Key[bool], yes, no string) []string {
	switch {
	case !k.Set:
		return nil
	case k.Value:
		return []string{yes}
	}
	return []string{no}
}

// word quotes a value so that the list that it stands in has one reading.
func word(value string) string {
	quoted := shellQuote(value)
	if strings.HasSuffix(quoted, ",") || strings.HasSuffix(quoted, ":") {
		return "'" + quoted + "'"
	}
	return quoted
}

func words(values []string, show func(string) string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = show(v)
	}
	return out
}

// pairs shows variables or headers by name. A long value is cut; its hash stands for the
// rest, so that another rest is another text.
func pairs(values map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if len(value) > maxValueShown {
			sum := sha256.Sum256([]byte(value))
			value = fmt.Sprintf("%s... (%d bytes, SHA-256 %s)", strings.ToValidUTF8(value[:maxValueShown], ""), len(value), hex.EncodeToString(sum[:]))
		}
		out = append(out, name+"="+word(value))
	}
	return out
}

// bringServers keeps the servers that the person was shown.
func bringServers(s *sieve, f, left *File) {
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		server := f.Servers[name]
		path := func(text string) string {
			if note := strings.TrimPrefix(directoryText(s.loader, text), text); note != "" {
				return word(text) + " (" + shellQuote(strings.TrimPrefix(note, ", ")) + ")"
			}
			return word(text)
		}
		if s.passes(BringsServer, server.show(path), server.Source) {
			if left.Servers == nil {
				left.Servers = make(map[string]Server)
			}
			left.Servers[name] = server
		}
	}
}

// serverMerge makes one list of the servers of all files, which come in the order of their
// weight.
type serverMerge struct {
	defined map[string]*Server
	// added are the tables of each name that define nothing.
	added map[string][]Server
	// enabled is what the weightiest file says of each name.
	enabled map[string]Key[bool]
}

// take adds the servers of a file.
func (m *serverMerge) take(l *loader, f *File) {
	if only := l.out.Policy.OnlyServers; only.Value && f.Kind != permissions.SourcePolicy {
		if len(f.Servers) > 0 {
			l.warn(f.source(0), "%d MCP servers left out: %s lets only the policy's own count", len(f.Servers), only.Source)
		}
		return
	}
	if m.defined == nil {
		m.defined, m.added, m.enabled = make(map[string]*Server), make(map[string][]Server), make(map[string]Key[bool])
	}
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		server := f.Servers[name]
		winner := m.defined[name]
		switch {
		case !server.defines():
			m.added[name] = append(m.added[name], server)
		case winner == nil:
			m.defined[name] = &server
		default:
			if projects(winner.Source.Kind) && !projects(f.Kind) {
				l.warn(server.Source, "the MCP server %s left out: %s defines one of that name, which counts", name, winner.Source)
			}
			continue
		}
		m.enabled[name] = m.enabled[name].Or(server.Enabled)
	}
}

// list returns the servers by name.
func (m *serverMerge) list(l *loader) []Server {
	var out []Server
	for _, name := range slices.Sorted(maps.Keys(m.defined)) {
		server := *m.defined[name]
		for i := range m.added[name] {
			server.add(l, &m.added[name][i])
		}
		server.Enabled = m.enabled[name]
		out = append(out, server)
	}
	return out
}

// add adds allowances to a server of .mcp.json. One of the settings has its own.
func (s *Server) add(l *loader, more *Server) {
	if !s.Shared {
		only := Server{Name: more.Name, Enabled: more.Enabled}
		if more.String() != only.String() {
			l.warn(more.Source, "what it adds to the MCP server %s left out: %s defines it with allowances of its own; only enabled counts", s.Name, s.Source)
		}
		return
	}
	s.Network, s.Read, s.Write = s.Network.Or(more.Network), s.Read.Or(more.Read), s.Write.Or(more.Write)
	s.TrustAnnotations, s.AlwaysLoad = s.TrustAnnotations.Or(more.TrustAnnotations), s.AlwaysLoad.Or(more.AlwaysLoad)
	s.StartTimeout, s.CallTimeout, s.IdleTimeout = s.StartTimeout.Or(more.StartTimeout), s.CallTimeout.Or(more.CallTimeout), s.IdleTimeout.Or(more.IdleTimeout)
}
