package host_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// TestHTTPClient lets requests out by the settings as they are at the time.
func TestHTTPClient(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }))
	defer server.Close()
	h := open(t, host.Options{})
	for _, test := range []struct {
		name, allow, deny string
		out               host.Outgoing
		want              string // in the answer or the error
	}{
		{"not named", "", "", host.Outgoing{}, "private network"},
		{"configured", "", "", host.Outgoing{Configured: []string{server.URL}}, "here"},
		{"named", "", "", host.Outgoing{Named: []string{"127.0.0.1"}}, "here"},
		{"named by a rule", "WebFetch(domain:127.0.0.1)", "", host.Outgoing{}, "here"},
		{"denied", "WebFetch(domain:127.0.0.1)", "WebFetch(domain:127.0.0.1)", host.Outgoing{Configured: []string{server.URL}}, "deny rule"},
	} {
		rules := permissions.RuleSet{Source: permissions.SourceUser}
		if test.allow != "" {
			rules.Allow = permissions.RuleTexts(test.allow)
		}
		if test.deny != "" {
			rules.Deny = permissions.RuleTexts(test.deny)
		}
		if err := h.Apply(host.Settings{Rules: []permissions.RuleSet{rules}}); err != nil {
			t.Fatal(err)
		}
		var got string
		answer, err := h.HTTPClient(test.out).Get(server.URL)
		if err != nil {
			got = err.Error()
		} else {
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			got = string(text)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q in it", test.name, got, test.want)
		}
	}
}
