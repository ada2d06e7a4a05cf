package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/host/internal/judge/remote"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// TestMain has tests run side by side that wait to ask again.
func TestMain(m *testing.M) {
	testenv.Waiting()
	m.Run()
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, a, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, a.answer(allows)) })
			m := client(t, a, s.config(a))
			for range 2 {
				if got, err := m.Complete(t.Context(), prompt()); err != nil || got != allows {
					t.Errorf("got %q, %v", got, err)
				}
			}
			slash := s.config(a)
			slash.BaseURL += "/"
			if _, err := client(t, a, slash).Complete(t.Context(), prompt()); err != nil {
				t.Errorf("with a slash after the base URL: %v", err)
			}
		})
	}
}

// The whole of it: a judge, its real prompt, a server.
func TestAJudgeOfARemoteModel(t *testing.T) {
	t.Parallel()
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			a.check = func(*http.Request, map[string]any) (int, string, string) { return http.StatusOK, "", "" }
			s := serve(t, a, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, a.answer(allows)) })
			j, err := judge.New(judge.Options{Model: client(t, a, s.config(a))})
			if err != nil {
				t.Fatal(err)
			}
			answer := j.Speculate(t.Context(), judge.Question{InputHash: "h", Tool: "Bash", Text: "make"}).Answer(t.Context())
			if answer.Verdict != permissions.Allow || answer.Reason != "the model judge says: it only builds" {
				t.Errorf("got %+v", answer)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, a, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, a.answer(allows)) })
			for name, c := range map[string]struct {
				change func(*remote.Config)
				kind   remote.Kind
				status int
				want   string
				asked  int32
			}{
				"no key": {func(c *remote.Config) { c.Key = nil }, remote.KindKey, 401, "check it", 1},
				"another key": {func(c *remote.Config) {
					c.Key = func(context.Context) (string, error) { return key + "x", nil }
				}, remote.KindKey, 401, "check it", 1},
				"another model": {func(c *remote.Config) { c.Model = "none" }, remote.KindRequest, 404, "none", 1},
				"another path":  {func(c *remote.Config) { c.BaseURL += "/more" }, remote.KindRequest, 404, "check the model's name and the base URL", 1},
				"a key that fails": {func(c *remote.Config) {
					c.Key = func(context.Context) (string, error) { return "", errors.New("the keyring is locked") }
				}, remote.KindKey, 0, "the keyring is locked", 0},
				"a key with a line break": {func(c *remote.Config) {
					c.Key = func(context.Context) (string, error) { return key + "\n", nil }
				}, remote.KindKey, 0, "line break at its end", 0},
			} {
				s.asked.Store(0)
				config := s.config(a)
				c.change(&config)
				_, err := client(t, a, config).Complete(t.Context(), prompt())
				checkError(t, name, err, c.kind, c.status, c.want)
				if s.asked.Load() != c.asked {
					t.Errorf("%s: asked %d times", name, s.asked.Load())
				}
			}
		})
	}
}

func checkError(t *testing.T, name string, err error, kind remote.Kind, status int, want string) {
	t.Helper()
	known, ok := errors.AsType[*remote.Error](err)
	if !ok {
		t.Errorf("%s: got %v", name, err)
		return
	}
	keyless(t, err.Error())
	if known.Kind != kind || known.Status != status || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
		t.Errorf("%s: got %s %d: %.600v", name, known.Kind, known.Status, err)
	}
}

func TestFailuresInPassing(t *testing.T) {
	t.Parallel()
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			for status, kind := range map[int]remote.Kind{429: remote.KindLimit, 500: remote.KindServer, 503: remote.KindServer, 529: remote.KindServer} {
				// Once passed, once for good.
				for _, failures := range []int{2, 9} {
					t.Run(fmt.Sprint(status, failures), func(t *testing.T) {
						t.Parallel()
						s := serve(t, a, func(w http.ResponseWriter, _ *http.Request, n int) {
							if n > failures {
								fmt.Fprint(w, a.answer(allows))
								return
							}
							w.Header().Set("Retry-After", "0")
							w.WriteHeader(status)
							fmt.Fprint(w, a.fault("some_error", "busy \x1b with "+key))
						})
						got, err := client(t, a, s.config(a)).Complete(t.Context(), prompt())
						if failures == 2 {
							if err != nil || got != allows {
								t.Errorf("%d: got %q, %v", status, got, err)
							}
						} else {
							checkError(t, strconv.Itoa(status), err, kind, status, `tried 3 times: some_error: busy \x1b with [key]`)
						}
						if s.asked.Load() != 3 {
							t.Errorf("%d: asked %d times", status, s.asked.Load())
						}
					})
				}
			}
		})
	}
}

func TestRetryAfterIsHeeded(t *testing.T) {
	t.Parallel()
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			var first atomic.Int64
			var waited time.Duration
			s := serve(t, a, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n == 1 {
					first.Store(time.Now().UnixNano())
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				waited = time.Since(time.Unix(0, first.Load()))
				fmt.Fprint(w, a.answer(allows))
			})
			if _, err := client(t, a, s.config(a)).Complete(t.Context(), prompt()); err != nil || waited < time.Second {
				t.Errorf("waited %v, %v", waited, err)
			}
		})
	}
}

// Where the time asked for is not there, nothing is waited for.
func TestRetryAfterPastTheDeadline(t *testing.T) {
	t.Parallel()
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			for _, after := range []string{"3600", "99999999999999999999", "4294967295", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)} {
				s := serve(t, a, func(w http.ResponseWriter, _ *http.Request, _ int) {
					w.Header().Set("Retry-After", after)
					w.WriteHeader(http.StatusTooManyRequests)
				})
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
				t.Cleanup(cancel)
				c := s.config(a)
				c.Timeout = 20 * time.Minute
				testenv.InTime(t, 5*time.Second, func() time.Duration {
					return testenv.Took(func() {
						_, err := client(t, a, c).Complete(ctx, prompt())
						checkError(t, after, err, remote.KindLimit, 429, "no room now")
						if n := s.asked.Swap(0); n != 1 {
							t.Errorf("%s: asked %d times", after, n)
						}
					})
				})
			}
		})
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	bodies := map[string]map[string]string{
		"anthropic": {
			``:           "no message",
			`{}`:         `the type "", not a message`,
			`not JSON`:   "no message",
			`[]`:         "no message",
			`{"type":1}`: "no message",
			`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                                                                                 `the type "error"`,
			`{"type":"message","stop_reason":"end_turn","content":[{"type":"text","text":"allow"}]}`:                                                                      `stopped with "end_turn"`,
			`{"type":"message","stop_reason":"max_tokens","content":[{"type":"tool_use","name":"judgement","input":{"verdict":"allow"}}]}`:                                `stopped with "max_tokens"`,
			`{"type":"message","stop_reason":"refusal","content":[]}`:                                                                                                     `stopped with "refusal"`,
			`{"type":"message","stop_reason":"tool_use","content":[]}`:                                                                                                    "did not use the tool",
			`{"type":"message","stop_reason":"tool_use","content":[{"type":"tool_use","name":"other","input":{}}]}`:                                                       "another tool",
			`{"type":"message","stop_reason":"tool_use","content":[{"type":"tool_use","name":"judgement","input":{}},{"type":"tool_use","name":"judgement","input":{}}]}`: "twice",
			`{"type":"message","stop_reason":"end_turn","stop_reason":"tool_use","content":[]}`:                                                                           "duplicate",
		},
		"openai": {
			``:               "no completion",
			`{}`:             "0 choices",
			`<html></html>`:  "no completion",
			`{"choices":[]}`: "0 choices",
			`{"choices":[{"finish_reason":"stop","message":{"content":"a"}},{"finish_reason":"stop","message":{"content":"b"}}]}`: "2 choices",
			`{"choices":[{"finish_reason":"length","message":{"content":"{}"}}]}`:                                                 `stopped with "length"`,
			`{"choices":[{"finish_reason":"content_filter","message":{"content":null}}]}`:                                         `stopped with "content_filter"`,
			`{"choices":[{"finish_reason":"stop","message":{"content":null,"refusal":"I can't\nhelp"}}]}`:                         `declined: I can't\nhelp`,
			`{"choices":[{"finish_reason":"stop","message":{"content":null}}]}`:                                                   "empty",
			`{"choices":[{"finish_reason":null,"message":{"content":"{}"}}]}`:                                                     `stopped with ""`,
		},
	}
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			for body, want := range bodies[a.name] {
				s := serve(t, a, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, body) })
				_, err := client(t, a, s.config(a)).Complete(t.Context(), prompt())
				checkError(t, body, err, remote.KindAnswer, 0, want)
				if s.asked.Load() != 1 {
					t.Errorf("%s: asked %d times", body, s.asked.Load())
				}
			}
		})
	}
}

func TestHostileServers(t *testing.T) {
	t.Parallel()
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			for name, c := range map[string]struct {
				respond func(http.ResponseWriter, *http.Request)
				kind    remote.Kind
				status  int
				want    string
			}{
				"too large": {func(w http.ResponseWriter, _ *http.Request) {
					chunk := []byte(strings.Repeat(" ", 64<<10))
					for range 1 << 10 {
						if _, err := w.Write(chunk); err != nil {
							return
						}
					}
					t.Error("64 MiB were taken")
				}, remote.KindAnswer, 0, "larger than 1048576 bytes"},
				"an error that is too large": {func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, a.fault("invalid_request_error", strings.Repeat("x", 2000)))
				}, remote.KindRequest, 400, "xxx..."},
				"created":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }, remote.KindAnswer, 201, "201"},
				"no content": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, remote.KindAnswer, 204, "204"},
				"drips": {func(w http.ResponseWriter, r *http.Request) {
					for r.Context().Err() == nil {
						fmt.Fprint(w, " ")
						_ = http.NewResponseController(w).Flush() // the client is told by the context
						time.Sleep(10 * time.Millisecond)
					}
				}, remote.KindTime, 0, "in time"},
				"hangs": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, remote.KindTime, 0, "in time"},
			} {
				s := serve(t, a, func(w http.ResponseWriter, r *http.Request, _ int) { c.respond(w, r) })
				config := s.config(a)
				if c.kind == remote.KindTime {
					config.Timeout = 200 * time.Millisecond
				}
				testenv.InTime(t, 10*time.Second, func() time.Duration {
					return testenv.Took(func() {
						_, err := client(t, a, config).Complete(t.Context(), prompt())
						checkError(t, name, err, c.kind, c.status, c.want)
					})
				})
			}
		})
	}
}

// A key and a call's data are for the server that is configured.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			var reached atomic.Bool
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
			defer other.Close()
			for _, status := range []int{301, 302, 303, 307, 308} {
				s := serve(t, a, func(w http.ResponseWriter, r *http.Request, _ int) {
					http.Redirect(w, r, other.URL+"/"+key, status)
				})
				_, err := client(t, a, s.config(a)).Complete(t.Context(), prompt())
				checkError(t, strconv.Itoa(status), err, remote.KindServer, status, strings.TrimPrefix(other.URL, "http://")+", which is not followed")
			}
			if reached.Load() {
				t.Error("a redirect was followed")
			}
		})
	}
}

// Connections that break are tried again, and the last one told of.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]string{
		"closed at once":     "",
		"half a status":      "HTTP/1.1 2",
		"no HTTP":            "SSH-2.0-OpenSSH\r\n",
		"half a body":        "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"type\":",
		"half a chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
		"endless headers":    "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
		"says the key twice": "HTTP/1.1 " + key + " " + key + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			var asked atomic.Int32
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					asked.Add(1)
					go func() {
						defer conn.Close()
						_, _ = conn.Read(make([]byte, 64<<10))
						_, _ = conn.Write([]byte(say))
					}()
				}
			}()
			a := apis()[0]
			_, err = client(t, a, remote.Config{
				BaseURL: "http://" + l.Addr().String(), Model: modelName, Key: func(context.Context) (string, error) { return key, nil },
			}).Complete(t.Context(), prompt())
			checkError(t, name, err, remote.KindConnection, 0, "tried 3 times")
			if asked.Load() != 3 {
				t.Errorf("asked %d times", asked.Load())
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	a := apis()[0]
	m, err := a.open(remote.Config{BaseURL: "http://127.0.0.1:1", Model: modelName}) // a port that no test is given
	if err != nil {
		t.Fatal(err)
	}
	took := testenv.Took(func() { _, err = m.Complete(t.Context(), prompt()) })
	checkError(t, "closed", err, remote.KindConnection, 0, "check the base URL")
	// Each wait is at least half of 500 ms, doubling.
	if took < 750*time.Millisecond {
		t.Errorf("three tries in %v", took)
	}
}

func TestCancelling(t *testing.T) {
	t.Parallel()
	a := apis()[0]
	arrived := make(chan struct{})
	s := serve(t, a, func(_ http.ResponseWriter, r *http.Request, _ int) {
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := client(t, a, s.config(a)).Complete(ctx, prompt())
	if !errors.Is(err, context.Canceled) || s.asked.Load() != 1 {
		t.Errorf("got %v after %d", err, s.asked.Load())
	}
}

func TestConfigFaults(t *testing.T) {
	t.Parallel()
	withKey := func(context.Context) (string, error) { return key, nil }
	for _, c := range []struct {
		config remote.Config
		want   string
	}{
		{remote.Config{BaseURL: "https://x.example"}, "the model has no name"},
		{remote.Config{Model: "m"}, "https://host/path"},
		{remote.Config{Model: "m", BaseURL: "x.example"}, "https://host/path"},
		{remote.Config{Model: "m", BaseURL: "ftp://x.example"}, "https://host/path"},
		{remote.Config{Model: "m", BaseURL: "https:x.example"}, "https://host/path"},
		{remote.Config{Model: "m", BaseURL: "https://" + key + "@x.example"}, "a user, query or fragment"},
		{remote.Config{Model: "m", BaseURL: "https://x.example/?key=" + key}, "a user, query or fragment"},
		{remote.Config{Model: "m", BaseURL: "https://x.example/#" + key}, "a user, query or fragment"},
		{remote.Config{Model: "m", BaseURL: "https://" + key + " .example:x%zz"}, "cannot be parsed"},
		{remote.Config{Model: "m", BaseURL: "http://x.example", Key: withKey}, "unencrypted; write https"},
		{remote.Config{Model: "m", BaseURL: "http://192.168.1.1:80/v1", Key: withKey}, "unencrypted"},
		{remote.Config{Model: "m", BaseURL: "http://127.0.0.1.example/v1", Key: withKey}, "unencrypted"},
		{remote.Config{Model: "m", BaseURL: "https://x.example", Timeout: -1}, "more than 0"},
	} {
		m, err := remote.OpenAI(c.config)
		if m != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", c.config.BaseURL, err)
			continue
		}
		keyless(t, err.Error())
	}
	for _, url := range []string{"http://localhost:11434/v1", "http://[::1]:80", "http://127.0.0.1", "https://x.example/v1/"} {
		if _, err := remote.OpenAI(remote.Config{Model: "m", BaseURL: url, Key: withKey}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := remote.OpenAI(remote.Config{Model: "m", BaseURL: "http://gpu.lan/v1"}); err != nil {
		t.Errorf("without a key: %v", err)
	}
}
