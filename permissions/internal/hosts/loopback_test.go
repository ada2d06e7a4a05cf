package hosts_test

import (
	"testing"

	"github.com/toolquay/toolquay/permissions/internal/hosts"
)

func TestLoopback(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]bool{
		"localhost": true, "http://LOCALHOST.:3000/x": true, "127.0.0.1:80": true, "http://[::1]:3000": true, "0.0.0.0:8000": true, "127.9.9.9": true,
		"http://127.1": false, "http://a@localhost": false, "localhost.example.org": false, "x.localhost": false, "192.168.0.1": false,
		"host.toolquay.internal": false, "169.254.169.254": false, "[::ffff:127.0.0.1]": true, "": false,
	} {
		h := hosts.Of(target)
		if got := h.Loopback(); got != want {
			t.Errorf("%q: got %v", target, got)
		}
	}
	if hosts.AnyHost.Loopback() {
		t.Error("any host is the loopback")
	}
}
