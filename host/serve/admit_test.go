package serve_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/serve"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{})
	near := tokenA[:len(tokenA)-1]
	for _, tt := range []struct {
		name   string
		header []string
		status int
		code   string
	}{
		{"right", []string{bearer(tokenA)}, 200, ""},
		{"the scheme in other case", []string{"Authorization: bEARER " + tokenA}, 200, ""},
		{"none", nil, 401, "no_token"},
		{"empty", []string{bearer("")}, 401, "invalid_token"},
		{"the scheme alone", []string{"Authorization: Bearer"}, 401, "invalid_token"},
		{"one character short", []string{bearer(near)}, 401, "invalid_token"},
		{"one character long", []string{bearer(tokenA + "a")}, 401, "invalid_token"},
		{"one character other", []string{bearer(near + "b")}, 401, "invalid_token"},
		{"in other case", []string{bearer(strings.ToUpper(tokenA))}, 401, "invalid_token"},
		{"its hash", []string{bearer(fmt.Sprintf("%x", sha256.Sum256([]byte(tokenA))))}, 401, "invalid_token"},
		{"two in one", []string{bearer(tokenA + ", Bearer " + tokenB)}, 401, "invalid_token"},
		{"twice", []string{bearer(tokenA), bearer(tokenB)}, 401, "invalid_token"},
		{"basic", []string{"Authorization: Basic " + tokenA}, 401, "invalid_token"},
		{"without scheme", []string{"Authorization: " + tokenA}, 401, "invalid_token"},
		{"a cookie", []string{"Cookie: token=" + tokenA}, 401, "no_token"},
	} {
		got := do(t, "POST", w.url+"/mcp?token="+tokenA+"&access_token="+tokenA, nil, tt.header...)
		if got.status != tt.status || got.code() != tt.code {
			t.Errorf("%s: %d %s, want %d %s", tt.name, got.status, got.body, tt.status, tt.code)
		}
		challenge := got.header.Get("WWW-Authenticate")
		if (tt.status == 401) != strings.HasPrefix(challenge, `Bearer realm="toolquay"`) ||
			(tt.code == "invalid_token") != strings.Contains(challenge, `error="invalid_token"`) {
			t.Errorf("%s: the challenge is %q", tt.name, challenge)
		}
	}
	if got := w.happened(); got != "[a] []" {
		t.Errorf("mounted: %s", got)
	}
}

func TestNoToken(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{NoToken: true})
	for _, header := range [][]string{nil, {bearer("whatever")}} {
		if got := do(t, "POST", w.url+"/mcp", nil, header...); got.status != 200 || !strings.HasPrefix(got.body, "none POST") {
			t.Errorf("%q: %d %s", header, got.status, got.body)
		}
	}
}

// TestTokensAreFollowed changes the file while the server runs.
func TestTokensAreFollowed(t *testing.T) {
	t.Parallel()
	file := writeTokens(t, twoTokens)
	w := start(t, serve.Options{TokenFile: file})
	held, ended := make(chan struct{}), make(chan error, 1)
	w.answer = func(token string, out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/hold" {
			name(token, out, r)
			return
		}
		close(held)
		<-r.Context().Done()
		ended <- context.Cause(r.Context())
	}
	status := func(token string) string {
		got := do(t, "POST", w.url+"/mcp", nil, bearer(token))
		return fmt.Sprint(got.status, got.code())
	}
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	await := func(what, a, b string) {
		t.Helper()
		until(t, what, func() bool { return status(tokenA) == a && status(tokenB) == b })
	}
	await("both at first", "200", "200")
	go func() { _, _ = send(context.Background(), "POST", w.url+"/mcp/hold", nil, bearer(tokenB)) }()
	<-held

	onlyA := twoTokens[:strings.LastIndex(twoTokens, "[[token]]")]
	write(onlyA)
	await("b revoked", "200", "401invalid_token")
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("the request under way ended with %v", err)
	}
	until(t, "the handler of b is closed", func() bool { return w.happened() == "[a b] [b]" })

	write("[[token]]\nname = 1")
	await("a file with mistakes", "503no_tokens", "503no_tokens")
	write(twoTokens)
	await("both again", "200", "200")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	await("no file", "503no_tokens", "503no_tokens")
	write(twoTokens)
	await("both again", "200", "200")
	write(strings.ReplaceAll(twoTokens, `name = "b"`, "name = \"b\"\ncalls = 3"))
	until(t, "b changed", func() bool { _ = status(tokenB); return w.happened() == "[a b b b] [b b]" })
	if got := w.happened(); strings.Contains(got, "a a") {
		t.Errorf("the handler of a token that stayed was made anew: %s", got)
	}
}

func TestTokenFileOfOthers(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix) // Windows has no modes
	file := writeTokens(t, tokenA)
	w := start(t, serve.Options{TokenFile: file})
	status := func() int { return do(t, "POST", w.url+"/mcp", nil, bearer(tokenA)).status }
	if got := status(); got != 200 {
		t.Fatal(got)
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o660, 0o602} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		until(t, fmt.Sprintf("mode %o", mode), func() bool { return status() == 503 })
		if _, err := serve.New(serve.Options{TokenFile: file}); err == nil || !strings.Contains(err.Error(), "chmod 600 "+file) {
			t.Errorf("mode %o: %v", mode, err)
		}
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
		until(t, "mode 600", func() bool { return status() == 200 })
	}
	if text := w.logs.String(); !strings.Contains(text, "nobody is let in") || !strings.Contains(text, "chmod 600") {
		t.Errorf("the log does not say it:\n%s", text)
	}
	if got := w.happened(); got != "[default] []" {
		t.Errorf("mounted and closed: %s", got)
	}
	link := file + "-link"
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if _, err := serve.New(serve.Options{TokenFile: link}); err != nil {
		t.Errorf("by a link: %v", err)
	}
}

func TestTokenFiles(t *testing.T) {
	t.Parallel()
	table := func(keys string) string { return "[[token]]\n" + keys + "\n" }
	named := "name = \"x\"\ntoken = \"" + tokenA + "\"\n"
	for _, tt := range []struct{ name, content, want string }{
		{"one line", tokenA, ""},
		{"one line in lines", "\n" + tokenA + "\r\n\n", ""},
		{"one line that ends as base64 does", "QUJDREVGR0hJSktMTU5PUFFSU1RVVg==", ""},
		{"a table", table(named), ""},
		{"a hash", table(fmt.Sprintf("name = \"x\"\ntoken_sha256 = \"%X\"", sha256.Sum256([]byte(tokenA)))), ""},
		{"all keys", table(named + "root = \"/srv\"\nmax_mode = \"plan\"\nsessions = 2\ncalls = 3"), ""},
		{"empty", "", "it holds no token"},
		{"a comment alone", "# nothing\n", "it holds no token"},
		{"short", "password", "a token has 22 to 512 letters"},
		{"two lines", tokenA + "\n" + tokenB + "\n", "line 1: "},
		{"no name", table("token = \"" + tokenA + "\""), "line 1: token[0].name: a name has 1 to 64"},
		{"a name with a blank", table("name = \"x y\"\ntoken = \"" + tokenA + "\""), "line 2: token[0].name: a name has 1 to 64"},
		{"no token", table("name = \"x\""), "line 1: token[0]: write either token or token_sha256"},
		{"both", table(named + "token_sha256 = \"00\""), "line 1: token[0]: write either token or token_sha256"},
		{"a short token", table("name = \"x\"\ntoken = \"secret\""), "line 3: token[0].token: a token has"},
		{"a short hash", table("name = \"x\"\ntoken_sha256 = \"0011\""), "line 3: token[0].token_sha256: write 64 hexadecimal digits"},
		{"a relative root", table(named + "root = \"srv\""), "line 4: token[0].root: write the whole path"},
		{"a mode", table(named + "max_mode = \"all\""), `line 4: token[0].max_mode: unknown mode "all"`},
		{"a quota", table(named + "calls = -1"), "line 4: token[0].calls: -1: write a number"},
		{"a key", table(named + "session = 1"), "line 4: token[0].session: unknown key"},
		{"a name twice", table(named) + table("name = \"x\"\ntoken = \""+tokenB+"\""), `line 6: token[1].name: there is another token "x"`},
		{"a token twice", table(named) + table("name = \"y\"\ntoken = \""+tokenA+"\""), `line 5: token[1]: "y" is the same token as one before`},
		{"not to the program's liking", table("name = \"bad\"\ntoken = \"" + tokenA + "\""), "line 1: token[0]: bad is bad"},
	} {
		_, err := serve.New(serve.Options{TokenFile: writeTokens(t, tt.content), CheckToken: func(t *serve.Token) error {
			if t.Name == "bad" {
				return errors.New("bad is bad")
			}
			return nil
		}})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if err != nil && (strings.Contains(err.Error(), tokenA) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: the error repeats the token: %v", tt.name, err)
		}
	}
}
