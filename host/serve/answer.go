package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// refusal is an answer of the server's own to a request that no handler gets.
type refusal struct {
	status  int
	code    string
	message string
}

func refuse(status int, code, format string, args ...any) *refusal {
	return &refusal{status, code, fmt.Sprintf(format, args...)}
}

// answer writes a document of the server's own.
func answer(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document) // a client that is gone needs none
}

// ServeHTTP writes the refusal as {"error":{"code":...,"message":...}}.
func (r *refusal) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	switch r.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", challenge(r.code))
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusRequestEntityTooLarge, http.StatusRequestTimeout, http.StatusBadRequest:
		w.Header().Set("Connection", "close") // the rest of the body is not waited for
	}
	answer(w, r.status, map[string]any{"error": map[string]string{"code": r.code, "message": r.message}})
}

// challenge is RFC 6750's: a request without a token is not told that one is wrong.
func challenge(code string) string {
	if code == "no_token" {
		return `Bearer realm="toolquay"`
	}
	return fmt.Sprintf(`Bearer realm="toolquay", error=%q`, code)
}
