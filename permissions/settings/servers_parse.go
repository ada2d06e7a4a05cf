package settings

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/toolquay/toolquay/permissions"
)

// The most of what servers may have.
const (
	maxServers      = 500      // of one file
	maxServerName   = 32       // names of tools have 64 at most
	maxServerText   = 32 << 10 // bytes of a command, or of its variables or headers
	maxServerList   = 1000     // hosts, paths, variables, headers
	maxStartTimeout = 10 * time.Minute
	maxCallTimeout  = 24 * time.Hour
)

// readServers reads the tables [mcp.NAME].
func readServers(p *parser) {
	f := p.faults.file
	if len(p.in.MCP) > maxServers {
		p.fault("mcp", "it has %d servers; at most %d are read", len(p.in.MCP), maxServers)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.in.MCP)) {
		key, e := "mcp."+keyText(name), p.in.MCP[name]
		if why := badServerName(name); why != "" {
			p.fault(key, "it is not a valid server name: %s", why)
			continue
		}
		if f.Servers == nil {
			f.Servers = make(map[string]Server)
		}
		f.Servers[name] = serverOf(p, key, name, &e)
	}
}

// badServerName says why a name cannot stand in mcp__NAME__tool, or is empty.
func badServerName(name string) string {
	switch {
	case !toolName().MatchString(name):
		return "write letters, digits, _ and -"
	case len(name) > maxServerName:
		return fmt.Sprintf("it is longer than %d characters", maxServerName)
	case strings.Contains(name, "__"), strings.HasPrefix(name, "_"), strings.HasSuffix(name, "_"):
		return "tools are called mcp__NAME__tool, so it has no two _ in a row and none at its ends"
	}
	return ""
}

func serverOf(p *parser, key, name string, e *serverEntry) Server {
	has := func(sub string) bool { return p.doc.Has(key + "." + sub) }
	fault := func(sub, format string, args ...any) { p.fault(strings.TrimSuffix(key+"."+sub, "."), format, args...) }
	span := func(sub string, d duration, most time.Duration) Key[time.Duration] {
		return keyOf(p, key+"."+sub, p.span(key+"."+sub, d, 0, most))
	}
	s := Server{
		Name: name, Env: e.Env, Dir: e.Dir, URL: e.URL, Headers: e.Headers, Source: p.faults.file.source(p.doc.Line(key)),
		Network: keyOf(p, key+".network", e.Network), Read: keyOf(p, key+".read", e.Read), Write: keyOf(p, key+".write", e.Write),
		TrustAnnotations: keyOf(p, key+".trust_annotations", e.TrustAnnotations),
		AlwaysLoad:       keyOf(p, key+".always_load", e.AlwaysLoad),
		Enabled:          keyOf(p, key+".enabled", e.Enabled),
		StartTimeout:     span("start_timeout", e.StartTimeout, maxStartTimeout),
		CallTimeout:      span("call_timeout", e.CallTimeout, maxCallTimeout),
		IdleTimeout:      span("idle_timeout", e.IdleTimeout, maxCallTimeout),
	}
	if has("command") {
		s.Command = slices.Concat(e.Command, e.Args)
		if len(e.Command) == 0 {
			s.Command = []string{""}
		}
	}
	if program := strings.Join(e.Command, ""); !has("command[0]") && len(e.Args) == 0 && strings.Contains(program, " ") &&
		!strings.ContainsAny(strings.Fields(program + " x")[0], `/\$`) {
		fault("command", "%.100q is one program with spaces in its name; write a list: command = [\"program\", \"argument\"]", program)
	}
	checkKind(&s, has, fault)
	for i, host := range e.Network {
		p.host(fmt.Sprintf("%s.network[%d]", key, i), host)
	}
	if has("auth") {
		s.Auth = authOf(p, key+".auth", e)
	}
	s.check(projects(p.faults.file.Kind), fault)
	return s
}

// checkKind checks that what a table has goes together.
func checkKind(s *Server, has func(string) bool, fault func(sub, format string, args ...any)) {
	if has("command") && has("url") {
		fault("url", "there is a command too; a server has one of the two")
	}
	if has("url") && s.URL == "" {
		fault("url", "it is empty")
	}
	allowances := []string{"network", "read", "write", "trust_annotations", "always_load", "enabled", "start_timeout", "call_timeout", "idle_timeout"}
	if !has("command") && !has("url") && !slices.ContainsFunc(allowances, has) {
		fault("", "the server has neither a command nor a url")
	}
	for _, sub := range []string{"args", "env", "dir"} {
		if has(sub) && !has("command") {
			fault(sub, "it goes with a command, and there is none")
		}
	}
	for _, sub := range []string{"headers", "auth"} {
		if has(sub) && !has("url") {
			fault(sub, "it goes with a url, and there is none")
		}
	}
	for _, sub := range []string{"read", "write"} {
		if has(sub) && has("url") {
			fault(sub, "a server at a URL is given no files; it goes with a command")
		}
	}
}

// check finds what is wrong with a server, in whichever way it was written.
func (s *Server) check(project bool, fault func(sub, format string, args ...any)) {
	text := func(sub, value string) {
		if err := checkVariables(value); err != nil {
			fault(sub, "%v", err)
		} else if strings.ContainsRune(value, 0) {
			fault(sub, "it holds a NUL, which no program can be given")
		}
	}
	if len(s.Command) > 0 && s.Command[0] == "" {
		fault("command", "it names no program")
	}
	if n := len(strings.Join(s.Command, "")); n > maxServerText {
		fault("command", "it has %d bytes; at most %d are taken", n, maxServerText)
	}
	for _, arg := range s.Command {
		text("command", arg)
	}
	checkPairs("env", s.Env, fault, func(name, value string) {
		if !variable(name) {
			fault("env."+keyText(name), "it is no name of an environment variable")
		}
		text("env."+keyText(name), value)
	})
	s.checkHeaders(fault)
	text("url", s.URL)
	if s.URL != "" && !strings.Contains(s.URL, "${") {
		if err := s.CheckURL(s.URL); err != nil {
			fault("url", "%v", err)
		}
	}
	s.checkPaths(project, fault)
}

// checkPairs checks how many variables or headers there are, and each.
func checkPairs(key string, values map[string]string, fault func(sub, format string, args ...any), each func(name, value string)) {
	size := 0
	for name, value := range values {
		size += len(name) + len(value)
	}
	if len(values) > maxServerList || size > maxServerText {
		fault(key, "they are %d with %d bytes; at most %d and %d are taken", len(values), size, maxServerList, maxServerText)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		each(name, values[name])
	}
}

// protocolHeaders are set by the protocol itself.
var protocolHeaders = []string{
	"accept", "connection", "content-length", "content-type", "host", "last-event-id", "mcp-protocol-version", "mcp-session-id",
	"te", "trailer", "transfer-encoding", "upgrade",
}

func (s *Server) checkHeaders(fault func(sub, format string, args ...any)) {
	checkPairs("headers", s.Headers, fault, func(name, value string) {
		key := "headers." + keyText(name)
		switch err := checkVariables(value); {
		case !headerName().MatchString(name):
			fault(key, "this is no name of an HTTP header")
		case slices.Contains(protocolHeaders, strings.ToLower(name)):
			fault(key, "the protocol sets this header itself")
		case err != nil:
			fault(key, "%v", err)
		default:
			if err := CheckHeader(value); err != nil {
				fault(key, "%v", err)
			}
		}
	})
}

// CheckHeader reports what is wrong with a header's value. It does not repeat it.
func CheckHeader(value string) error {
	if strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
		return errors.New("its value holds a control character, which no header can")
	}
	return nil
}

// CheckURL reports what is wrong with the URL of the server, with its variables expanded.
// It does not repeat the URL, which may hold a secret. What is sent along must not pass a
// network in the clear that is not local by its name.
func (s *Server) CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("it is no URL such as https://example.com/mcp")
	}
	if u.User != nil || u.Fragment != "" {
		return errors.New("it has a user or a fragment; write what signs in as a header, such as Authorization = \"Bearer ${TOKEN}\"")
	}
	host := permissions.HostOf(text)
	secret := len(s.Headers) > 0 || s.Auth != nil || strings.Contains(s.URL, "${")
	switch {
	case host.Odd != "":
		return fmt.Errorf("its host cannot be told: %s", host.Odd)
	case u.Scheme == "http" && secret && !host.Local:
		return errors.New("it would send headers, variables or tokens in the clear; write https, or a host that is local by its name")
	}
	return nil
}

// checkPaths checks the paths. Those of a project are pinned as they are shown, so they
// have no variables.
func (s *Server) checkPaths(project bool, fault func(sub, format string, args ...any)) {
	path := func(key, value string, written bool) {
		err := checkVariables(value)
		switch clean := filepath.ToSlash(filepath.Clean(value)); {
		case value == "" && written, strings.ContainsRune(value, 0):
			fault(key, "it is no path")
		case err != nil:
			fault(key, "%v", err)
		case project && strings.Contains(value, "${"):
			fault(key, "a path of a project has no variables; write it relative to the project")
		case strings.HasPrefix(value, "~") && value != "~" && !strings.HasPrefix(value, "~/"):
			fault(key, "%.100q: only ~/ is known, for your own home", value)
		case clean == "/" && strings.HasPrefix(key, "write"):
			fault(key, "it is everything; name directories")
		}
	}
	path("dir", s.Dir, false)
	for _, list := range []struct {
		key   string
		paths []string
	}{{"read", s.Read.Value}, {"write", s.Write.Value}, {"network", s.Network.Value}} {
		if len(list.paths) > maxServerList {
			fault(list.key, "it has %d entries; at most %d are read", len(list.paths), maxServerList)
			continue
		}
		for i, value := range list.paths {
			if list.key != "network" {
				path(fmt.Sprintf("%s[%d]", list.key, i), value, true)
			}
		}
	}
}

func authOf(p *parser, key string, e *serverEntry) *ServerAuth {
	in := &e.Auth
	has := func(sub string) bool { return p.doc.Has(key + "." + sub) }
	if has("client_secret_env") {
		p.secret(key+".client_secret_env", in.ClientSecretEnv, "the secret")
	}
	p.oneOf(key+".grant", in.Grant, GrantAuthorizationCode, GrantClientCredentials)
	switch {
	case has("client_secret_env") && !has("client_id"):
		p.fault(key+".client_secret_env", "it goes with a client_id, and there is none")
	case in.Grant == GrantClientCredentials && (!has("client_id") || !has("client_secret_env")):
		p.fault(key+".grant", "%s needs client_id and client_secret_env", GrantClientCredentials)
	case has("client_id") && has("client_metadata_url"):
		p.fault(key+".client_metadata_url", "there is a client_id too; write one of the two")
	}
	for sub, text := range map[string]string{"client_metadata_url": in.ClientMetadataURL, "issuer": in.Issuer} {
		if !has(sub) {
			continue
		}
		if err := (&Server{Auth: &ServerAuth{}}).CheckURL(text); err != nil {
			p.fault(key+"."+sub, "%v", err)
		}
	}
	for i, scope := range in.Scopes {
		if !scopeToken().MatchString(scope) {
			p.fault(fmt.Sprintf("%s.scopes[%d]", key, i), "%.60q is no scope; write one without spaces and quotes", scope)
		}
	}
	return &ServerAuth{
		ClientID: in.ClientID, ClientSecretEnv: in.ClientSecretEnv, ClientMetadataURL: in.ClientMetadataURL,
		Issuer: in.Issuer, Scopes: in.Scopes, Grant: in.Grant,
		RedirectPort: p.between(key+".redirect_port", in.RedirectPort, 1, 65535).Value,
	}
}

// scopeToken is a scope-token of RFC 6749.
var scopeToken = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[!#-\[\]-~]{1,256}$`) })

// networkOf reads the table [network]. The proxy's URL is not repeated.
func networkOf(p *parser) Network {
	const key = "network.proxy"
	if p.doc.Has(key) {
		u, err := url.Parse(p.in.Network.Proxy)
		switch {
		case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
			p.fault(key, "it is no URL such as http://proxy.example.com:3128")
		case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
			p.fault(key, "it has a user, a path, a query or a fragment; write scheme, host and port only")
		}
	}
	return Network{Proxy: keyOf(p, key, p.in.Network.Proxy)}
}

func credentialsOf(p *parser) Credentials {
	p.oneOf("credentials.store", p.in.Credentials.Store, StoreFile, StoreKeyring)
	return Credentials{Store: keyOf(p, "credentials.store", p.in.Credentials.Store)}
}
