package days

import (
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// registry serves, on this machine's loopback, one package to each of the four package
// managers, and repositories to git. Addresses in its answers are those that it was asked by;
// who asks it as a proxy is answered alike.
type registry struct {
	port string
	// repositories is the directory of the repositories that it serves below /git/.
	repositories string
}

func serveRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{repositories: t.TempDir()}
	mux := http.NewServeMux()
	mux.Handle("/git/", r.git(t))
	for pattern, body := range goProxy(t) {
		mux.HandleFunc(pattern, reply(body))
	}
	for pattern, body := range npmRegistry(t) {
		mux.HandleFunc(pattern, reply(body))
	}
	for pattern, body := range cargoRegistry(t) {
		mux.HandleFunc(pattern, reply(body))
	}
	for pattern, body := range pypi(t) {
		mux.HandleFunc(pattern, reply(body))
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r.port = port
	return r
}

// reply serves a body in which @URL@ is the server's address.
func reply(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		kind := "application/octet-stream"
		switch {
		case strings.HasPrefix(body, "{"):
			kind = "application/json"
		case strings.HasPrefix(body, "<"):
			kind = "text/html"
		}
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, strings.ReplaceAll(body, "@URL@", "http://"+req.Host))
	}
}

// git serves repositories by git's own server.
func (r *registry) git(t *testing.T) http.Handler {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"), Root: "/git",
		Env: []string{"GIT_PROJECT_ROOT=" + r.repositories, "GIT_HTTP_EXPORT_ALL=1"},
	}
}
