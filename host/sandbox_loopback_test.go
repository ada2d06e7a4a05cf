package host_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// serve is a server that answers every connection, for python3.
const serve = `exec python3 -c '
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"served")
http.server.HTTPServer(("127.0.0.1", %d), H).serve_forever()'`

// fetch waits until the server answers.
const fetch = "for i in $(seq 600); do curl -sf http://localhost:%d && break; sleep 0.1; done; echo"

// TestSessionLoopback has a later command reach the server that an earlier one left in the
// background, in its own session and in no other, nor on the machine.
func TestSessionLoopback(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "curl")
	testenv.NeedTool(t, "python3")
	h := newShelled(t, func(o *host.Options) { // as most have it
		o.Shell.Sandbox.Network, o.Permissions.Rules = host.NetworkHosts, rules("", "", "Bash | WebFetch(domain:registry.example.org)")
	})
	s, other := session(t, h.Host, host.SessionOptions{}), session(t, h.Host, host.SessionOptions{})
	const port = 8137
	if got := told(t, s, fmt.Sprintf(serve, port), inBackground); !strings.Contains(got, "toolquay tasks forward PORT]") {
		t.Errorf("nothing tells who reaches it: %q", got)
	}
	if got := told(t, s, fmt.Sprintf(fetch, port)); !strings.HasPrefix(got, "served") {
		t.Fatalf("the session: got %q", got)
	}
	if got := told(t, other, fmt.Sprintf("curl -sS http://localhost:%d", port)); strings.Contains(got, "served") {
		t.Errorf("another session: got %q", got)
	}
	if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
		_ = conn.Close()
		t.Error("the machine reaches it")
	}
	if got := told(t, other, fmt.Sprintf(serve, port), inBackground); strings.Contains(got, "Address already in use") {
		t.Errorf("the port is taken by another session: %q", got)
	}
	if got := told(t, other, fmt.Sprintf(fetch, port)); !strings.HasPrefix(got, "served") {
		t.Errorf("the other session: got %q", got)
	}
}

// TestApprovedHostInBackground has a command in the background look for the proxies of others: the
// host that a person allowed a later call is not open to it.
func TestApprovedHostInBackground(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	h := newReaching(t, func(o *host.Options) { o.Shell.Sandbox.Network = host.NetworkHosts })
	s := session(t, h.Host, host.SessionOptions{Asker: onlyCalls{}})
	told(t, s, `exec python3 -c '
import glob, socket, time
end = time.time() + 4
while time.time() < end:
    for line in open("/proc/net/tcp").readlines()[1:]:
        f = line.split()
        if f[3] != "0A": continue
        try:
            s = socket.create_connection(("127.0.0.1", int(f[1].split(":")[1], 16)), 1)
            s.settimeout(1)
            s.sendall(b"GET http://shown.example.org/stolen HTTP/1.1\r\nHost: shown.example.org\r\nConnection: close\r\n\r\n")
            print(s.recv(4096).decode(errors="replace"), flush=True)
        except OSError: pass
    time.sleep(0.01)'`, inBackground)
	if got := told(t, s, "curl -sS http://shown.example.org; sleep 1.5"); !strings.Contains(got, "reached shown.example.org") {
		t.Fatalf("the call: got %q", got)
	}
	tasks := s.Tasks()
	if len(tasks) != 1 {
		t.Fatalf("got the tasks %v", tasks)
	}
	results := s.Results(t.Context(), []abi.ToolUse{use("o", "TaskOutput", fmt.Sprintf(`{"task_id": %q, "block": true, "timeout": 20000}`, tasks[0].ID))})
	if got := results[0].Text(); strings.Contains(got, "reached shown") {
		t.Errorf("the background reached the host: %q", got)
	}
}
