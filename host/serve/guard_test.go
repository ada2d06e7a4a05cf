package serve_test

import (
	"net"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/serve"
)

func TestHostsAndOrigins(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{NoToken: true, Hosts: []string{"Tools.Example.com", "192.0.2.7"}, Origins: []string{"https://app.example.com"}})
	_, port, err := net.SplitHostPort(w.addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		header []string
		code   string
	}{
		{"as it is called", nil, ""},
		{"localhost", []string{"Host: localhost:" + port}, ""},
		{"localhost with a dot", []string{"Host: localhost."}, ""},
		{"the loopback of version 6", []string{"Host: [::1]:" + port}, ""},
		{"through a forwarded port", []string{"Host: localhost:1"}, ""},
		{"a name of its own", []string{"Host: tools.example.com"}, ""},
		{"an address of its own", []string{"Host: 192.0.2.7:80"}, ""},
		{"a rebound name", []string{"Host: evil.example.com:" + port}, "wrong_host"},
		{"a rebound name below its own", []string{"Host: x.tools.example.com"}, "wrong_host"},
		{"a name that ends alike", []string{"Host: eviltools.example.com"}, "wrong_host"},
		{"a name that begins alike", []string{"Host: localhost.evil.example.com"}, "wrong_host"},
		{"another address", []string{"Host: 192.0.2.8"}, "wrong_host"},
		{"any address", []string{"Host: 0.0.0.0"}, "wrong_host"},
		{"a user", []string{"Host: localhost@evil.example.com"}, "wrong_host"},

		{"its own page", []string{"Origin: http://" + w.addr}, ""},
		{"a page that may", []string{"Origin: https://app.example.com", "Sec-Fetch-Site: cross-site"}, ""},
		{"another page", []string{"Origin: https://evil.example.com"}, "wrong_origin"},
		{"another page, as browsers say", []string{"Origin: https://evil.example.com", "Sec-Fetch-Site: cross-site"}, "wrong_origin"},
		{"a page that may, by another scheme", []string{"Origin: http://app.example.com", "Sec-Fetch-Site: cross-site"}, "wrong_origin"},
		{"a page that may, at another port", []string{"Origin: https://app.example.com:8443"}, "wrong_origin"},
		{"a page below one that may", []string{"Origin: https://x.app.example.com"}, "wrong_origin"},
		{"no origin to speak of", []string{"Origin: null"}, "wrong_origin"},
		{"another port of this machine", []string{"Origin: http://127.0.0.1:1", "Sec-Fetch-Site: same-site"}, "wrong_origin"},
		{"a picture in another page", []string{"Sec-Fetch-Site: cross-site"}, "wrong_origin"},
		{"typed by a person", []string{"Sec-Fetch-Site: none"}, ""},
		{"a rebound name and its page", []string{"Host: evil.example.com", "Origin: http://evil.example.com", "Sec-Fetch-Site: same-origin"}, "wrong_host"},
	} {
		for _, method := range []string{"POST", "GET", "DELETE", "OPTIONS"} {
			got := do(t, method, w.url+"/mcp", strings.NewReader("{}"), tt.header...)
			if want := map[string]int{"": 200}[tt.code]; got.code() != tt.code || want != 0 && got.status != want || tt.code != "" && got.status != 403 {
				t.Errorf("%s, %s: %d %s, want %q", tt.name, method, got.status, got.body, tt.code)
			}
			if allowed := got.header.Get("Access-Control-Allow-Origin"); (allowed != "") != strings.HasPrefix(tt.name, "a page that may") && tt.code == "" {
				t.Errorf("%s, %s: answers may be read by %q", tt.name, method, allowed)
			}
		}
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{Origins: []string{"https://app.example.com"}})
	ask := []string{"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type"}
	got := do(t, "OPTIONS", w.url+"/mcp", nil, append(ask, "Origin: https://app.example.com")...)
	if got.status != 204 || got.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" ||
		!strings.HasPrefix(got.header.Get("Access-Control-Allow-Headers"), "Authorization,") {
		t.Errorf("a page that may: %d %v", got.status, got.header)
	}
	got = do(t, "OPTIONS", w.url+"/mcp", nil, append(ask, "Origin: https://evil.example.com")...)
	if got.status != 403 || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another page: %d %v", got.status, got.header)
	}
	if got := w.happened(); got != "[] []" {
		t.Errorf("a preflight reached a handler: %s", got)
	}
}
