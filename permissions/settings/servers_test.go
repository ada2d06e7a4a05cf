package settings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

func TestServerFaults(t *testing.T) {
	t.Parallel()
	const local, remote = "[mcp.x]\ncommand = 'p'\n", "[mcp.x]\nurl = 'https://a.example.com/mcp'\n"
	tests := map[string]struct {
		kind       permissions.SourceKind
		text, want string
	}{
		"all at once": {user, "[mcp.x]\ncomand = 'p'\nargs = 1\n[mcp.y]\nurl = 'ftp://a'\nstart_timeout = -1\n[mcp.a__b]\ncommand = 'p'\n",
			"f: line 2: mcp.x.comand: unknown key; did you mean \"command\"?\n" +
				"f: line 3: mcp.x.args: found the integer 1, expected an array, each element a string\n" +
				"f: line 5: mcp.y.url: it is no URL such as https://example.com/mcp\n" +
				"f: line 6: mcp.y.start_timeout: -1s is not over 0 and up to 10m0s\n" +
				"f: line 7: mcp.a__b: it is not a valid server name: tools are called mcp__NAME__tool"},
		"value for a table":   {user, "[mcp]\nx = 'p'\n", `f: line 2: mcp.x: found the string "p", expected a table`},
		"name with a dot":     {user, "[mcp.'a.b']\ncommand = 'p'\n", `f: line 1: mcp."a.b": it is not a valid server name: write letters, digits, _ and -`},
		"empty name":          {user, "[mcp.'']\ncommand = 'p'\n", `f: line 1: mcp."": it is not a valid server name`},
		"long name":           {user, "[mcp." + strings.Repeat("a", 33) + "]\ncommand = 'p'\n", "it is longer than 32 characters"},
		"name that ends in _": {user, "[mcp.a_]\ncommand = 'p'\n", "f: line 1: mcp.a_: it is not a valid server name"},
		"nothing":             {user, "[mcp.x]\n", "f: line 1: mcp.x: the server has neither a command nor a url"},
		"both":                {user, local + "url = 'https://a.example.com'\n", "f: line 3: mcp.x.url: there is a command too; a server has one of the two"},
		"empty command":       {user, "[mcp.x]\ncommand = ''\n", "f: line 2: mcp.x.command: it names no program"},
		"empty list":          {user, "[mcp.x]\ncommand = []\nargs = ['a']\n", "f: line 2: mcp.x.command: it names no program"},
		"line for a shell":    {user, "[mcp.x]\ncommand = 'npx -y p'\n", `f: line 2: mcp.x.command: "npx -y p" is one program with spaces in its name; write a list: command = ["program", "argument"]`},
		"NUL":                 {user, "[mcp.x]\ncommand = [\"p\", \"\\u0000\"]\n", "f: line 2: mcp.x.command: it holds a NUL"},
		"long command":        {user, "[mcp.x]\ncommand = ['p', '" + strings.Repeat("a", 40_000) + "']\n", "f: line 2: mcp.x.command: it has 40001 bytes; at most 32768 are taken"},
		"args alone":          {user, "[mcp.x]\nenabled = true\nargs = ['a']\nenv.A = 'b'\ndir = 'c'\n", "f: line 3: mcp.x.args: it goes with a command, and there is none\nf: line 4: mcp.x.env: it goes with a command, and there is none\nf: line 5: mcp.x.dir: it goes"},
		"headers alone":       {user, local + "headers.A = 'b'\nauth.client_id = 'c'\n", "f: line 3: mcp.x.headers: it goes with a url, and there is none\nf: line 4: mcp.x.auth: it goes with a url"},
		"files of a URL":      {user, remote + "read = ['a']\nwrite = ['b']\n", "f: line 3: mcp.x.read: a server at a URL is given no files"},
		"variable's name":     {user, local + "env = { 'A B' = 'c' }\n", `f: line 3: mcp.x.env."A B": it is no name of an environment variable`},
		"open variable":       {user, local + "args = ['${A']\n", "f: line 2: mcp.x.command: it has a ${ without a }"},
		"odd variable":        {user, local + "env.A = '${A-b}'\n", `f: line 3: mcp.x.env.A: "${A-b}" is no variable; write ${NAME} or ${NAME:-default}`},
		"nested variable":     {user, local + "env.A = '${A:-${B}}'\n", "f: line 3: mcp.x.env.A: "},
		"many variables":      {user, local + "env.A = '" + strings.Repeat("a", 40_000) + "'\n", "f: line 3: mcp.x.env: they are 1 with 40001 bytes"},
		"header's name":       {user, remote + "headers.'A B' = 'c'\n", `f: line 3: mcp.x.headers."A B": this is no name of an HTTP header`},
		"protocol's header":   {user, remote + "headers.Mcp-Session-Id = 'c'\n", "f: line 3: mcp.x.headers.Mcp-Session-Id: the protocol sets this header itself"},
		"header's value":      {user, remote + "headers.A = \"hush\\r\\nB: c\"\n", "f: line 3: mcp.x.headers.A: its value holds a control character"},
		"empty URL":           {user, "[mcp.x]\nurl = ''\n", "f: line 2: mcp.x.url: it is empty"},
		"password":            {user, "[mcp.x]\nurl = 'https://u:hush@a.example.com'\n", "f: line 2: mcp.x.url: it has a user or a fragment"},
		"odd host":            {user, "[mcp.x]\nurl = 'https://127.1/hush'\n", "f: line 2: mcp.x.url: its host cannot be told"},
		"headers in clear":    {user, "[mcp.x]\nurl = 'http://a.example.com'\nheaders.A = 'b'\n", "f: line 2: mcp.x.url: it would send headers, variables or tokens in the clear"},
		"sign-in in clear":    {user, "[mcp.x]\nurl = 'http://8.8.8.8/mcp'\nauth = {}\n", "f: line 2: mcp.x.url: it would send"},
		"secret itself":       {user, remote + "[mcp.x.auth]\nclient_id = 'a'\nclient_secret_env = 'hush hush'\n", "f: line 5: mcp.x.auth.client_secret_env: this is no name of an environment variable"},
		"secret alone":        {user, remote + "[mcp.x.auth]\nclient_secret_env = 'A'\n", "f: line 4: mcp.x.auth.client_secret_env: it goes with a client_id"},
		"grant":               {user, remote + "[mcp.x.auth]\ngrant = 'password'\n", `f: line 4: mcp.x.auth.grant: "password" is not known; write one of authorization_code, client_credentials`},
		"grant's needs":       {user, remote + "[mcp.x.auth]\ngrant = 'client_credentials'\n", "f: line 4: mcp.x.auth.grant: client_credentials needs client_id and client_secret_env"},
		"two clients":         {user, remote + "[mcp.x.auth]\nclient_id = 'a'\nclient_metadata_url = 'https://a.example.com/c'\n", "f: line 5: mcp.x.auth.client_metadata_url: there is a client_id too"},
		"issuer":              {user, remote + "[mcp.x.auth]\nissuer = 'http://a.example.com'\n", "f: line 4: mcp.x.auth.issuer: it would send"},
		"scope":               {user, remote + "[mcp.x.auth]\nscopes = ['a b']\n", `f: line 4: mcp.x.auth.scopes[0]: "a b" is no scope`},
		"port":                {user, remote + "[mcp.x.auth]\nredirect_port = 70000\n", "f: line 4: mcp.x.auth.redirect_port: 70000 is not from 1 to 65535"},
		"auth's key":          {user, remote + "[mcp.x.auth]\nclient_secret = 'hush'\n", "f: line 4: mcp.x.auth.client_secret: unknown key"},
		"host":                {user, local + "network = ['a.example.com', 'https://b']\n", `f: line 3: mcp.x.network[1]: "https://b" is no host such as example.com`},
		"every path":          {user, local + "write = ['/']\n", "f: line 3: mcp.x.write[0]: it is everything"},
		"no path":             {user, local + "read = ['']\n", "f: line 3: mcp.x.read[0]: it is no path"},
		"somebody's home":     {user, local + "dir = '~bob'\n", `f: line 3: mcp.x.dir: "~bob": only ~/ is known`},
		"project's variable":  {project, local + "read = ['${HOME}']\n", "f: line 3: mcp.x.read[0]: a path of a project has no variables"},
		"vast times":          {user, local + "call_timeout = '1000h'\nidle_timeout = 0\n", "f: line 3: mcp.x.call_timeout: 1000h0m0s is not over 0 and up to 24h0m0s\nf: line 4: mcp.x.idle_timeout: 0s is not"},
		"policy's in user":    {user, "permissions.only_policy_servers = true\n", "f: line 1: permissions.only_policy_servers: only a policy may say this"},
		"proxy":               {user, "[network]\nproxy = 'socks5://a:1'\n", "f: line 2: network.proxy: it is no URL such as http://proxy.example.com:3128"},
		"proxy's user":        {user, "[network]\nproxy = 'http://u:hush@a:1'\n", "f: line 2: network.proxy: it has a user"},
		"project's proxy":     {project, "[network]\nproxy = 'http://a:1'\n", "f: line 1: network: a project has no say in this"},
		"store":               {user, "[credentials]\nstore = 'cloud'\n", `f: line 2: credentials.store: "cloud" is not known; write one of file, keyring`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := settings.Parse(tt.kind, "f", []byte(tt.text))
			if err == nil || f != nil {
				t.Fatalf("no error: %+v", f)
			}
			if got := err.Error(); !strings.Contains(got, tt.want) || strings.Contains(got, "hush") {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestManyServers(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 501 {
		fmt.Fprintf(&text, "mcp.s%d.command = 'p'\n", i)
	}
	if _, err := settings.Parse(user, "f", []byte(text.String())); err == nil || !strings.Contains(err.Error(), "mcp: it has 501 servers; at most 500 are read") {
		t.Error(err)
	}
}

func TestServerURLs(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"https://a.example.com", "http://localhost:8080/mcp", "http://127.0.0.1:1", "http://[::1]:1/", "http://10.1.2.3/mcp",
		"http://tracker.internal/mcp", "https://a.example.com/mcp?team=${TEAM}", "${BASE}/mcp",
	} {
		f, err := settings.Parse(user, "f", []byte("[mcp.x]\nurl = '"+url+"'\nheaders.A = '${B}'\n"))
		if err != nil || f.Servers["x"].URL != url {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := settings.Parse(user, "f", []byte("[mcp.x]\nurl = 'http://a.example.com/mcp'\n")); err != nil {
		t.Errorf("nothing secret is sent: %v", err)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"A": "1", "EMPTY": "", "LIKE": "${A}"}[name]
		return value, ok
	}
	tests := map[string]struct{ want, missing, fault string }{
		"":                       {},
		"plain $A $ {A} }":       {want: "plain $A $ {A} }"},
		"${A}-${A}":              {want: "1-1"},
		"${EMPTY}":               {},
		"${EMPTY:-x}":            {want: "x"},
		"${NONE:-}":              {},
		"${NONE:-a:-b c}":        {want: "a:-b c"},
		"${LIKE}":                {want: "${A}"},
		"x${NONE}${B2}y${NONE}":  {want: "xy", missing: "NONE B2"},
		"${":                     {fault: "it has a ${ without a }"},
		"${}":                    {fault: `"${}" is no variable`},
		"${1}":                   {fault: `"${1}" is no variable`},
		"${env:A}":               {fault: `"${env:A}" is no variable`},
		"${A:-${B}}":             {fault: "is no variable"},
		"${workspaceFolder}/bin": {want: "/bin", missing: "workspaceFolder"},
	}
	for text, tt := range tests {
		got, missing, err := settings.Expand(text, lookup)
		if tt.fault != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err != nil || got != tt.want || strings.Join(missing, " ") != tt.missing {
			t.Errorf("%s: %q, missing %q, %v", text, got, missing, err)
		}
	}
}

// serversPlace is a place with a .mcp.json.
func serversPlace(t *testing.T, shared string) *place {
	t.Helper()
	p := newPlace(t)
	p.options.ProjectServers = true
	if shared != "" {
		p.write(t, sharedFile, shared)
	}
	return p
}

const sharedFile = "proj/.mcp.json"

// listed shows the servers that count.
func listed(l *settings.Loaded) string {
	var out []string
	for _, s := range l.Servers {
		out = append(out, s.String())
	}
	return strings.Join(out, "\n")
}

func warned(l *settings.Loaded) string {
	var out []string
	for _, w := range l.Warnings {
		out = append(out, w.String())
	}
	return strings.Join(out, "\n")
}

// TestServersAreMerged: of each name the weightiest source's definition counts whole.
func TestServersAreMerged(t *testing.T) {
	t.Parallel()
	p := serversPlace(t, `{"mcpServers": {"a": {"command": "shared"}, "s": {"command": "shared", "args": ["x"]}, "off": {"url": "https://a.example.com"}}}`)
	p.write(t, systemFile, "[mcp.p]\ncommand = 'policy'\n[mcp.gone]\nenabled = false\n[mcp.s]\nnetwork = ['policy.example.com']\n")
	p.write(t, projectFile, "[mcp.b]\ncommand = 'project'\nread = ['data']\n")
	p.write(t, userFile, "[mcp.a]\ncommand = 'user'\n[mcp.b]\ncommand = 'user'\nwrite = ['w']\n[mcp.p]\ncommand = 'user'\nenv.A = 'b'\n"+
		"[mcp.gone]\ncommand = 'user'\n[mcp.s]\nnetwork = ['user.example.com']\nwrite = ['~/w']\ntrust_annotations = true\ncall_timeout = 5\n"+
		"[mcp.off]\nenabled = false\n[mcp.elsewhere]\nnetwork = ['a']\n")
	p.trust(t)
	l := p.load(t)
	want := "a: user\nb, reading data: project\ngone, off: user\noff, at https://a.example.com, off\np: policy\n" +
		"s, reaching policy.example.com, writing '~/w', its annotations trusted, calls for at most 5s: shared x"
	if got := listed(l); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := warned(l); !strings.Contains(got, "the MCP server b left out: project, ") || strings.Count(got, "\n") != 0 {
		t.Errorf("warnings:\n%s", got)
	}
	if !slices.Contains(l.Watched, p.path(sharedFile)) {
		t.Errorf("watched: %q", l.Watched)
	}
}

// TestAddedToADefinition: what is added to a server of the settings does not count, but that
// it is switched off.
func TestAddedToADefinition(t *testing.T) {
	t.Parallel()
	p := serversPlace(t, "")
	p.write(t, projectFile, "[mcp.a]\ncommand = 'p'\n")
	p.write(t, userFile, "[mcp.a]\nnetwork = ['a.example.com']\nenabled = false\n")
	p.trust(t)
	l := p.load(t)
	if got := listed(l); got != "a, off: p" {
		t.Error(got)
	}
	if got := warned(l); !strings.Contains(got, "what it adds to the MCP server a left out: project, ") {
		t.Error(got)
	}
}

func TestOnlyPolicyServers(t *testing.T) {
	t.Parallel()
	p := serversPlace(t, `{"mcpServers": {"a": {"command": "shared"}}}`)
	p.write(t, systemFile, "[permissions]\nonly_policy_servers = true\n[mcp.p]\ncommand = 'policy'\n")
	p.write(t, userFile, "[mcp.b]\ncommand = 'user'\n[mcp.p]\nenabled = false\n")
	p.trust(t)
	l := p.load(t)
	if got := listed(l); got != "p: policy" {
		t.Error(got)
	}
	if got := warned(l); !strings.Contains(got, "2 MCP servers left out: policy, ") || !strings.Contains(got, "1 MCP servers left out: policy, ") {
		t.Error(got)
	}
}

// TestServersOfAnUntrustedProject have no effect, and are shown; a change is shown again.
func TestServersOfAnUntrustedProject(t *testing.T) {
	t.Parallel()
	p := serversPlace(t, `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "a b"], "env": {"T": "${T}", "L": "`+strings.Repeat("x", 100)+`"}},
"w": {"type": "sse", "url": "https://a.example.com/mcp", "headers": {"Authorization": "Bearer ${T:-none}"}}}}`)
	p.write(t, projectFile, "[mcp.b]\ncommand = 'p'\nwrite = ['out']\ntrust_annotations = true\n[mcp.a]\nread = ['/etc']\n")
	p.write(t, userFile, "[mcp.b]\ncommand = 'mine'\n")
	l := p.load(t)
	if got := listed(l); got != "b: mine" {
		t.Error(got)
	}
	var shown []string
	for _, b := range l.Withheld {
		shown = append(shown, b.Text)
	}
	want := []string{
		"a, reading /etc", "b, writing out, its annotations trusted: p",
		"a, given L='" + strings.Repeat("x", 60) + "... (100 bytes, SHA-256 09ecb6ebc8bcefc733f6f2ec44f791abeed6a99edf0cc31519637898aebd52d8)' T='${T}': npx -y 'a b'",
		"w, at https://a.example.com/mcp, by server-sent events, sent Authorization='Bearer ${T:-none}'",
	}
	if !slices.Equal(shown, want) {
		t.Errorf("shown:\n%s", strings.Join(shown, "\n"))
	}
	if got := warned(l); !strings.Contains(got, "2 MCP servers left out: the project is not trusted") {
		t.Error(got)
	}
	p.trust(t)
	p.write(t, sharedFile, `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "c"]}, "w": {"url": "https://a.example.com/mcp"}}}`)
	l = p.load(t)
	if got := listed(l); got != "b, writing out, its annotations trusted: p" {
		t.Error(got)
	}
	if got := warned(l); !strings.Contains(got, "2 MCP servers left out: new since the project was trusted") {
		t.Error(got)
	}
}

// TestSharedServerFile reads what other agents write. What is wrong with it is said, and
// the rest of the settings counts.
func TestSharedServerFile(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want, warned string }{
		"both ways":         {`{"mcpServers": {"a": {"command": "p", "args": ["x"]}, "b": {"url": "https://a.example.com"}}}`, "a: p x\nb, at https://a.example.com", ""},
		"every type":        {`{"mcpServers": {"a": {"type": "stdio", "command": "p"}, "b": {"type": "streamable-http", "url": "https://a.example.com"}}}`, "a: p\nb, at https://a.example.com", ""},
		"byte order mark":   {"\xef\xbb\xbf{\"mcpServers\": {\"a\": {\"command\": \"p\"}}}", "a: p", "byte order mark"},
		"unknown keys":      {`{"inputs": [], "mcpServers": {"a": {"command": "p", "timeout": 3, "autoApprove": ["*"]}}}`, "a: p", `not read of it: "inputs", "mcpServers.a.timeout", "mcpServers.a.autoApprove"`},
		"this program":      {`{"mcpServers": {"a": {"command": "C:\\bin\\toolquay.exe", "args": ["mcp"]}, "b": {"command": "/bin/toolquay", "args": ["mcp"]}}}`, "", ""},
		"no servers":        {`{"servers": {}}`, "", "it has no object mcpServers"},
		"broken":            {"{\"mcpServers\": {\n  \"a\": {\"command\" \"p\"}}}", "", ".mcp.json: its MCP servers left out: line 2, column 19: "},
		"empty":             {"", "", "line 1, column 1: the document ends where a value was expected"},
		"comment":           {"{\n// no\n}", "", "line 2, column 1: "},
		"twice":             {`{"mcpServers": {"a": {"command": "p"}, "a": {"command": "q"}}}`, "", "line 1, column "},
		"UTF-16":            {"\xff\xfe{\x00", "", "it is written in UTF-16; save it as UTF-8"},
		"large":             {strings.Repeat(" ", 1<<20+1), "", "its MCP servers left out: it has 1048577 bytes"},
		"nesting":           {strings.Repeat("[", 1000), "", "nested deeper than 256"},
		"array":             {`[]`, "", "it has no object mcpServers"},
		"one of two":        {"{\"mcpServers\": {\"a\": {\"command\": 1},\n\"b\": {\"command\": \"p\"}}}", "b: p", ".mcp.json:1: an MCP server left out: mcpServers.a.command: found a number, expected a string"},
		"args":              {`{"mcpServers": {"a": {"command": "p", "args": "x"}}}`, "", `mcpServers.a.args: found the string "x", expected an array of strings`},
		"environment":       {`{"mcpServers": {"a": {"command": "p", "env": {"A": 1}}}}`, "", "mcpServers.a.env.A: found a number, expected a string"},
		"name":              {`{"mcpServers": {"my server": {"command": "p"}, "` + "\\u001b" + `": {}}}`, "", `mcpServers."my server": it is not a valid server name`},
		"no server":         {`{"mcpServers": {"a": {}, "b": [], "c": {"type": "stdio"}}}`, "", "mcpServers.a.url: the server has neither a command nor a url"},
		"type":              {`{"mcpServers": {"a": {"type": "ws", "url": "ws://x"}}}`, "", `mcpServers.a.type: "ws" is not known; write one of stdio, http, streamable-http, sse`},
		"headers in clear":  {`{"mcpServers": {"a": {"url": "http://a.example.com", "headers": {"A": "hush"}}}}`, "", "mcpServers.a.url: it would send headers"},
		"another's syntax":  {`{"mcpServers": {"a": {"command": "p", "args": ["${input:token}"]}}}`, "", `mcpServers.a.command: "${input:token}" is no variable`},
		"allowances":        {`{"mcpServers": {"a": {"command": "p", "network": ["*"], "trust_annotations": true}}}`, "a: p", `not read of it: "mcpServers.a.network", "mcpServers.a.trust_annotations"`},
		"escapes in a name": {`{"` + "\\u001b[2J" + `": 1, "mcpServers": {}}`, "", `not read of it: "\x1b[2J"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serversPlace(t, tt.text)
			p.write(t, userFile, "[permissions]\ndeny = ['Bash']\n")
			if tt.text == "" {
				p.write(t, sharedFile, "")
			}
			p.trust(t)
			l := p.load(t)
			if got := listed(l); got != tt.want {
				t.Errorf("servers:\n%s\nwant:\n%s", got, tt.want)
			}
			if got := warned(l); !strings.Contains(got, tt.warned) || tt.warned == "" && got != "" || strings.Contains(got, "hush") || strings.Contains(got, "\x1b") {
				t.Errorf("warnings:\n%s\nwant:\n%s", got, tt.warned)
			}
			if len(l.Rules) == 0 {
				t.Error("the user's rules are lost")
			}
		})
	}
}

// TestServersAreFollowed takes up servers that are added while settings are followed.
func TestServersAreFollowed(t *testing.T) {
	t.Parallel()
	p := serversPlace(t, "")
	p.write(t, userFile, "[mcp.a]\ncommand = 'p'\n")
	f := follow(t, p, time.Millisecond, anything)
	p.write(t, userFile, "[mcp.b]\ncommand = 'p'\n")
	f.next(t, "another server", func(l *settings.Loaded) bool { return listed(l) == "b: p" })
	p.write(t, sharedFile, `{"mcpServers": {"c": {"command": "p"}}}`)
	f.next(t, "a server of the project", func(l *settings.Loaded) bool { return len(l.Withheld) == 1 })
}
