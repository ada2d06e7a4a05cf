package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/internal/testenv"
)

const (
	tokenA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	tokenB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// serving is a process of toolquay serve, over a directory with the projects a and b.
type serving struct {
	dir, url string
	cmd      *exec.Cmd
	out      *bufio.Reader
	log      *os.File
}

// projectsDir makes a directory with the projects a and b. The project b has a rule of its own.
func projectsDir(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	for path, content := range map[string]string{
		"work/a/one.txt":                 "text of a\n",
		"work/b/one.txt":                 "text of b\n",
		"work/b/hidden.txt":              "hidden\n",
		"work/b/.toolquay/settings.toml": "[permissions]\ndeny = [\"Read(hidden.txt)\"]\n",
		"work/sub/deep/one.txt":          "text of deep\n",
		"outside/one.txt":                "text outside\n",
	} {
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			tb.Fatal(err)
		}
	}
	tokens := fmt.Sprintf("[[token]]\nname = \"a\"\ntoken = %q\nroot = %q\n\n[[token]]\nname = \"b\"\ntoken = %q\nroot = %q\nmax_mode = \"acceptEdits\"\nsessions = 2\n",
		tokenA, filepath.Join(dir, "work", "a"), tokenB, filepath.Join(dir, "work", "b"))
	if err := os.WriteFile(filepath.Join(dir, "tokens.toml"), []byte(tokens), 0o600); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// startServe starts the command below a home of its own. Relative names are those of dir.
func startServe(tb testing.TB, dir string, args ...string) *serving {
	tb.Helper()
	home := filepath.Join(dir, "home")
	log, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		tb.Fatal(err)
	}
	s := &serving{dir: dir, log: log, cmd: exec.Command("toolquay", append([]string{"serve", "--addr", "127.0.0.1:0", "--log-level", "info"}, args...)...)}
	s.cmd.Dir = dir
	s.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/config", "XDG_STATE_HOME="+home+"/state",
		"XDG_CACHE_HOME="+testenv.CacheHome(), "GORACE=atexit_sleep_ms=0")
	s.cmd.Stderr = log
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it may have ended
		_ = s.cmd.Wait()
		_ = log.Close()
	})
	s.out = bufio.NewReader(out)
	line, err := s.out.ReadBytes('\n')
	var said struct{ Type, URL string }
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil || said.Type != "listening" || !strings.HasSuffix(said.URL, "/mcp") {
		tb.Fatalf("it says %q, %v; %s", line, err, s.logged(tb))
	}
	s.url = said.URL
	return s
}

func (s *serving) logged(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile(s.log.Name())
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// end sends a signal, and returns the exit code.
func (s *serving) end(t *testing.T, signal os.Signal) int {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(s.out)
	if err != nil || len(rest) > 0 {
		t.Errorf("more than one line on standard output: %q, %v", rest, err)
	}
	_ = s.cmd.Wait() // the exit code says it
	return s.cmd.ProcessState.ExitCode()
}

// sending sends a token with each request.
type sending struct{ token string }

func (s sending) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// client connects a client with roots, which wishes for a mode.
func (s *serving) client(t *testing.T, token, revision, mode string, roots ...string) (*sdk.ClientSession, error) {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	for _, root := range roots {
		c.AddRoots(&sdk.Root{URI: "file://" + filepath.ToSlash(root)})
	}
	if mode != "" {
		c.AddSendingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
				if method == "initialize" || method == "tools/call" {
					r.GetParams().SetMeta(map[string]any{"toolquay/mode": mode})
				}
				return next(ctx, method, r)
			}
		})
	}
	session, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: sending{token}}, MaxRetries: -1},
		&sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err == nil {
		t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

// read has a client read a file. It returns the text, or what went wrong.
func read(t *testing.T, c *sdk.ClientSession, path string) string {
	t.Helper()
	return call(t, c, "Read", map[string]any{"file_path": path})
}

func call(t *testing.T, c *sdk.ClientSession, tool string, input map[string]any) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: input})
	if err != nil {
		return "error: " + err.Error()
	}
	var text strings.Builder
	for _, block := range r.Content {
		if b, ok := block.(*sdk.TextContent); ok {
			text.WriteString(b.Text)
		}
	}
	return text.String()
}

// await waits for a state.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(testenv.Patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came: %s", what)
		}
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix) // signals
	s := startServe(t, projectsDir(t), "--root", "work", "--token-file", "tokens.toml", "--max-mode", "acceptEdits")
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for token, name := range map[string]string{tokenA: "a", tokenB: "b"} {
			c, err := s.client(t, token, revision, "")
			if err != nil {
				t.Fatalf("%s, %s: %v", revision, name, err)
			}
			other := map[string]string{"a": "b", "b": "a"}[name]
			for path, want := range map[string]string{
				"one.txt": "text of " + name,
				filepath.Join(s.dir, "work", other, "one.txt"): "denied",
				filepath.Join(s.dir, "outside", "one.txt"):     "denied",
				filepath.Join(s.dir, "tokens.toml"):            "denied",
			} {
				if got := read(t, c, path); !strings.Contains(got, want) || strings.Contains(got, "token =") {
					t.Errorf("%s, %s reads %s: %s, want %s", revision, name, path, got, want)
				}
			}
			// The rules of the token's own project count.
			if got := read(t, c, "hidden.txt"); name == "b" && !strings.Contains(got, "deny rule") {
				t.Errorf("%s: b reads what its project hides: %s", revision, got)
			}
		}
	}
	c, err := s.client(t, tokenA, "2025-11-25", "")
	if err != nil {
		t.Fatal(err)
	}
	// What a client of one token schedules must not come to one of another.
	if got := call(t, c, "CronCreate", map[string]any{"cron": "* * * * *", "prompt": "x", "durable": true}); !strings.Contains(got, "no place here for durable jobs") {
		t.Errorf("a durable prompt: %s", got)
	}
	if got := call(t, c, "CronList", nil); got != "Nothing is scheduled." {
		t.Errorf("scheduled is %s", got)
	}
	for _, token := range []string{"", tokenA + "a"} {
		if _, err := s.client(t, token, "2025-11-25", ""); err == nil {
			t.Errorf("a client with the token %q is served", token)
		}
	}
	if code := s.end(t, syscall.SIGTERM); code != exitSignal+int(syscall.SIGTERM) {
		t.Errorf("it ended with %d", code)
	}
	if log := s.logged(t); !strings.Contains(log, "token=a") || !strings.Contains(log, "session=b-") || strings.Contains(log, tokenA) {
		t.Errorf("the log does not name the tokens, or holds one:\n%s", log)
	}
}

// TestServeRoots has clients offer roots, of which those below --root count.
func TestServeRoots(t *testing.T) {
	t.Parallel()
	dir := projectsDir(t)
	s := startServe(t, dir, "--root", "work", "--no-token")
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	if err := os.Symlink(in("outside"), in("work", "link")); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		roots []string
		want  string
	}{
		"none":                 {nil, "does not exist"},
		"a project":            {[]string{in("work", "a")}, "text of a"},
		"a project with rules": {[]string{in("work", "b")}, "text of b"},
		"a directory in it":    {[]string{in("work", "sub", "deep")}, "text of deep"},
		"one outside":          {[]string{in("outside"), in("work", "a")}, "text of a"},
		"above":                {[]string{in(), "/", in("home")}, "does not exist"},
		"by dots":              {[]string{in("work", "a", "..", "..", "outside")}, "does not exist"},
		"by a link":            {[]string{in("work", "link")}, "does not exist"},
		"what is not there":    {[]string{in("work", "missing")}, "does not exist"},
		"what is no directory": {[]string{in("work", "a", "one.txt")}, "does not exist"},
	} {
		c, err := s.client(t, "", "2025-11-25", "", tt.roots...)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, c, "one.txt"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if got := read(t, c, "hidden.txt"); strings.Contains(tt.want, "of b") && !strings.Contains(got, "deny rule") {
			t.Errorf("%s: the project's rule does not count: %s", name, got)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestServeApart has a client with one token try what belongs to another.
func TestServeApart(t *testing.T) {
	t.Parallel()
	s := startServe(t, projectsDir(t), "--root", "work", "--token-file", "tokens.toml", "--max-mode", "acceptEdits")
	a, err := s.client(t, tokenA, "2025-11-25", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, a, "one.txt"); !strings.Contains(got, "text of a") {
		t.Fatal(got)
	}
	request := func(method, token string) int {
		t.Helper()
		body := strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"Read","arguments":{"file_path":"one.txt"}}}`)
		r, err := http.NewRequestWithContext(t.Context(), method, s.url, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Mcp-Session-Id", a.ID())
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := (&http.Client{Transport: sending{token}}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if got := request(method, tokenB); got != http.StatusNotFound {
			t.Errorf("%s of another's session: %d", method, got)
		}
	}
	if got := request("POST", tokenA); got != http.StatusOK {
		t.Errorf("its own: %d", got)
	}
}

func TestServeModesAndQuota(t *testing.T) {
	t.Parallel()
	s := startServe(t, projectsDir(t), "--root", "work", "--token-file", "tokens.toml", "--max-mode", "acceptEdits")
	edit := map[string]any{"file_path": "made.txt", "content": "made\n"}
	first, err := s.client(t, tokenB, "2025-11-25", "acceptEdits")
	if err != nil {
		t.Fatal(err)
	}
	if got := call(t, first, "Write", edit); strings.Contains(got, "denied") || strings.Contains(got, "error") {
		t.Errorf("a mode that the token may choose: %s", got)
	}
	second, err := s.client(t, tokenB, "2025-11-25", "bypassPermissions")
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, second, "one.txt"); !strings.Contains(got, "bypassPermissions is not open to clients") {
		t.Errorf("a mode above --max-mode: %s", got)
	}
	if _, err := s.client(t, tokenB, "2025-11-25", ""); err == nil {
		t.Error("the third session of a token with two")
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	await(t, "a session, as one has ended", func() bool {
		_, err := s.client(t, tokenB, "2025-11-25", "")
		return err == nil
	})
	if a, err := s.client(t, tokenA, "2025-11-25", ""); err != nil || !strings.Contains(read(t, a, "one.txt"), "text of a") {
		t.Errorf("another token: %v", err)
	}
}

// TestServeEnds ends the server while a call runs.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix) // signals
	testenv.NeedTool(t, "sleep")
	s := startServe(t, projectsDir(t), "--root", "work", "--no-token", "--allow", "Bash")
	c, err := s.client(t, "", "2026-07-28", "")
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan string, 1)
	go func() {
		results <- call(t, c, "Bash", map[string]any{"command": "echo > begun; until test -e end; do sleep 0.05; done; echo rested"})
	}()
	await(t, "the call begins", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "work", "begun"))
		return err == nil
	})
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await(t, "it stops listening", func() bool {
		c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), mcpPath))
		if err == nil {
			_ = c.Close() // it was only tried
		}
		return err != nil
	})
	if err := os.WriteFile(filepath.Join(s.dir, "work", "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-results; !strings.Contains(got, "rested") {
		t.Errorf("the call under way ended with %s", got)
	}
	if _, err := io.ReadAll(s.out); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // the exit code says it
	if code := s.cmd.ProcessState.ExitCode(); code != exitSignal+int(syscall.SIGTERM) {
		t.Errorf("it ended with %d", code)
	}
}

func TestServeUsage(t *testing.T) {
	t.Parallel()
	dir := projectsDir(t)
	bad := func(name, keys string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("[[token]]\nname = \"x\"\ntoken = \""+tokenA+"\"\n"+keys), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "--root is missing"},
		{[]string{"--root", "work"}, "write --token-file FILE, or --no-token"},
		{[]string{"--root", "work", "--no-token", "--token-file", "tokens.toml"}, "write --token-file FILE, or --no-token"},
		{[]string{"--root", "missing", "--no-token"}, "--root: "},
		{[]string{"--root", "/", "--no-token"}, "it is the home, or holds it"},
		{[]string{"--root", "home", "--no-token"}, "it is the home, or holds it"},
		{[]string{"--root", "work", "--no-token", "--cwd", "outside"}, "lies below no --root"},
		{[]string{"--root", "work", "--no-token", "--session", "x"}, "each client has sessions of its own"},
		{[]string{"--root", "work", "--no-token", "--approval", "pipe"}, "--approval pipe"},
		{[]string{"--root", "work", "--no-token", "--max-mode", "lax"}, `unknown mode "lax"`},
		{[]string{"--root", "work", "--no-token", "--max-sessions", "0"}, "write a number from 1 on"},
		{[]string{"--root", "work", "--no-token", "--addr", "0.0.0.0:0"}, "so clients need tokens"},
		{[]string{"--root", "work", "--no-token", "--addr", "nowhere"}, "--addr: "},
		{[]string{"--root", "work", "--token-file", "tokens.toml", "--max-mode", "acceptEdits", "--addr", "0.0.0.0:0"}, "tokens would be sent in the clear"},
		{[]string{"--root", "work", "--token-file", "nowhere"}, "no token file nowhere"},
		{[]string{"--root", "work", "--token-file", bad("t1", "root = \""+dir+"/outside\"\n")}, "line 1: token[0]: root: "},
		{[]string{"--root", "work", "--token-file", bad("t2", "max_mode = \"auto\"\n")}, "max_mode: auto is looser than default; start with --max-mode auto"},
		{[]string{"--root", "work", "--token-file", bad("t3", "sessions = 65\n")}, "start with --max-sessions"},
		{[]string{"--root", "work", "--no-token", "--tls-cert", "c.pem"}, "TLS needs both files"},
	} {
		cmd := exec.Command("toolquay", append([]string{"serve", "--addr", "127.0.0.1:0"}, tt.args...)...)
		cmd.Dir = dir
		home := filepath.Join(dir, "home")
		if err := os.MkdirAll(home, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/config", "XDG_STATE_HOME="+home+"/state", "XDG_CACHE_HOME="+testenv.CacheHome())
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); err == nil || code != exitUsage || len(out) > 0 || !strings.Contains(said.String(), tt.want) {
			t.Errorf("%q: %d, %q, %s, want %s", slices.Clip(tt.args), code, out, said.String(), tt.want)
		}
	}
}
