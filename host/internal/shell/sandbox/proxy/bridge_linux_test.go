package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox/proxy"
	"github.com/toolquay/toolquay/internal/testenv"
)

// The test binary is run again as what is in a sandbox: bridge, or a command under
// it.
const roleName = "TOOLQUAY_TEST_BRIDGE_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleName) {
	case "":
		os.Exit(m.Run())
	case "bridge":
		_ = os.Setenv(roleName, "command")
		code, err := proxy.Bridge(context.Background(), os.Args[1], os.Args[2:])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	case "command":
		command(os.Args[1])
	}
}

// command is what runs under the bridge.
func command(what string) {
	switch what {
	case "get":
		answer, err := http.Get(os.Args[2])
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		text, _ := io.ReadAll(answer.Body)
		fmt.Printf("%d %s", answer.StatusCode, text)
	case "socks":
		at, _ := url.Parse(os.Getenv("ALL_PROXY"))
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Fprint(conn, "\x05\x01\x00\x05\x01\x00\x03\x09site.test\x00\x07hello")
		_ = conn.(*net.TCPConn).CloseWrite()
		text, _ := io.ReadAll(conn)
		fmt.Print(at.Scheme, " ", string(text[max(0, len(text)-5):]))
	case "fds":
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			at, err := os.Readlink("/proc/self/fd/" + e.Name())
			if n, _ := strconv.Atoi(e.Name()); err == nil && n > 2 && !strings.HasPrefix(at, "anon_inode:") {
				fmt.Print(e.Name(), "=", at, " ")
			}
		}
	case "exit":
		code, _ := strconv.Atoi(os.Args[2])
		os.Exit(code)
	}
	os.Exit(0)
}

// bridge is a command under a bridge, not started yet.
func bridge(t *testing.T, socket string, argv ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if argv[0] == "" {
		argv[0] = self
	}
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, append([]string{socket}, argv...)...)
	cmd.Env = append(os.Environ(), roleName+"=bridge", "HTTP_PROXY=http://stale:1", "No_Proxy=site.test", "GIT_SSH_COMMAND=mine")
	return cmd
}

func output(t *testing.T, cmd *exec.Cmd) (string, int) {
	t.Helper()
	text, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func TestBridgeCarries(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "this is ", r.Host)
	}))
	defer origin.Close()
	w := &world{origin: origin.Listener.Addr().String(), names: map[string][]netip.Addr{"site.test": {public}}}
	socket, _ := serve(t, w.options("site.test"))
	if text, code := output(t, bridge(t, socket, "", "get", "http://site.test/")); text != "200 this is site.test" || code != 0 {
		t.Errorf("%q, status %d", text, code)
	}
	text, _ := output(t, bridge(t, socket, "", "get", "http://other.test/"))
	if !strings.HasPrefix(text, "403 ") || !strings.Contains(text, "WebFetch(domain:other.test)") {
		t.Errorf("%q", text)
	}

	python := testenv.NeedTool(t, "python3")
	script := "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"
	if text, code := output(t, bridge(t, socket, python, "-c", script, "http://site.test/")); text != "this is site.test\n" || code != 0 {
		t.Errorf("%q, status %d", text, code)
	}
}

func TestBridgeCarriesSOCKS(t *testing.T) {
	w := &world{origin: echo(t), names: map[string][]netip.Addr{"site.test": {public}}}
	socket, _ := serve(t, w.options("site.test"))
	if text, code := output(t, bridge(t, socket, "", "socks")); text != "socks5h hello" || code != 0 {
		t.Errorf("%q, status %d", text, code)
	}
}

func TestBridgeEnvironment(t *testing.T) {
	testenv.NeedTool(t, "env")
	cmd := bridge(t, "/nowhere", "env")
	cmd.Env = append(cmd.Env, "no_proxy=inside", "JAVA_TOOL_OPTIONS="+proxy.ForJava("-Da=b"))
	text, _ := output(t, cmd)
	var got []string
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if strings.HasSuffix(strings.ToLower(name), "_proxy") && name != "NODE_USE_ENV_PROXY" {
			scheme, _, _ := strings.Cut(value, "://127.0.0.1:")
			got = append(got, name+"="+scheme)
		}
	}
	slices.Sort(got)
	want := []string{
		"ALL_PROXY=socks5h", "FTP_PROXY=http", "HTTPS_PROXY=http", "HTTP_PROXY=http",
		"all_proxy=socks5h", "ftp_proxy=http", "http_proxy=http", "https_proxy=http", "no_proxy=inside",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the command saw %q, want %q", got, want)
	}
	if !strings.Contains(text, "\nNODE_USE_ENV_PROXY=1\n") || !strings.Contains(text, "JAVA_TOOL_OPTIONS=-Da=b -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=") || strings.Contains(text, proxy.PortMark) {
		t.Errorf("Node and Java do not find the proxy: %q", text)
	}
	if !strings.Contains(text, "GIT_SSH_COMMAND=mine\n") {
		t.Error("a variable that is no proxy's was touched")
	}
}

func TestBridgeLeavesNoDescriptors(t *testing.T) {
	secret, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	cmd := bridge(t, "/nowhere", "", "fds")
	cmd.ExtraFiles = []*os.File{secret, secret}
	if text, code := output(t, cmd); strings.Contains(text, os.Args[0]) || strings.Contains(text, "socket:") || code != 0 {
		t.Errorf("the command has %q, status %d", text, code)
	}
}

func TestBridgeStatus(t *testing.T) {
	testenv.NeedTool(t, "bash")
	for _, c := range []struct {
		argv []string
		want int
	}{
		{[]string{"", "exit", "0"}, 0},
		{[]string{"", "exit", "42"}, 42},
		{[]string{"bash", "-c", "kill -USR1 $$"}, 128 + int(syscall.SIGUSR1)},
		{[]string{"no-such-program-anywhere"}, 127},
		{[]string{"/no/such/program"}, 127},
		{[]string{"/"}, 126},
	} {
		if text, code := output(t, bridge(t, "/nowhere", c.argv...)); code != c.want {
			t.Errorf("%q: status %d, want %d (%s)", c.argv, code, c.want, text)
		}
	}
}

func TestBridgePassesSignals(t *testing.T) {
	// Others may be ignored where the tests run, and then are by the bridge.
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2} {
		cmd, _ := hanging(t)
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(sig) {
			t.Errorf("%v: status %d", sig, code)
		}
	}
}

// A bridge that is killed takes its command along.
func TestBridgeKilled(t *testing.T) {
	cmd, pid := hanging(t)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	deadline := time.Now().Add(testenv.Patience)
	for {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the command outlives its bridge")
		}
		time.Sleep(time.Millisecond)
	}
}

// hanging starts a command under a bridge that runs until it is told to end, and
// returns the command's process.
func hanging(t *testing.T) (cmd *exec.Cmd, pid int) {
	t.Helper()
	cmd = bridge(t, "/nowhere", testenv.NeedTool(t, "bash"), "-c", "echo pid $$; exec sleep 600")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := fmt.Fscanf(out, "pid %d\n", &pid); err != nil {
		t.Fatal(err)
	}
	return cmd, pid
}
