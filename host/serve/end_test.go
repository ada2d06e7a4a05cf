package serve_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/serve"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestEnd has requests under way when the server is told to end: one that is done soon, one
// that never is, a stream, and one that does not heed that it was cancelled.
func TestEnd(t *testing.T) {
	t.Parallel()
	const grace = 5 * time.Second
	w := start(t, serve.Options{Limits: serve.Limits{Grace: grace}})
	begun, streamEnded := make(chan struct{}), make(chan struct{})
	over := make(chan struct{})
	defer close(over)
	w.answer = func(_ string, out http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		switch r.URL.Path {
		case "/soon":
			<-streamEnded
			if r.Context().Err() != nil {
				out.WriteHeader(http.StatusTeapot)
			}
		case "/deaf":
			<-over
		case "/stream":
			<-r.Context().Done()
			close(streamEnded)
			out.WriteHeader(http.StatusAccepted)
		default:
			<-r.Context().Done()
			out.WriteHeader(http.StatusAccepted) // it was cancelled, and says so
		}
	}
	type outcome struct {
		status int
		err    error
		took   time.Duration
	}
	outcomes := make(map[string]chan outcome)
	var told time.Time
	for _, tt := range []struct{ name, method, path string }{
		{"soon", "POST", "/soon"}, {"never", "POST", "/never"}, {"stream", "GET", "/stream"}, {"deaf", "POST", "/deaf"},
	} {
		done := make(chan outcome, 1)
		outcomes[tt.name] = done
		go func() {
			got, err := send(context.Background(), tt.method, w.url+"/mcp"+tt.path, nil, bearer(tokenA))
			done <- outcome{got.status, err, time.Since(told)}
		}()
		<-begun
	}
	told = time.Now()
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(told); took > testenv.Patience/2 {
		t.Errorf("ending took %v", took)
	}
	for name, want := range map[string]int{"soon": 200, "never": 202, "stream": 202, "deaf": 0} {
		got := <-outcomes[name]
		if got.status != want || (got.err != nil) != (want == 0) {
			t.Errorf("%s: %d, %v", name, got.status, got.err)
		}
		if early := got.took < grace; name == "never" && early {
			t.Errorf("%s was given %v", name, got.took)
		}
	}
	if got := w.happened(); got != "[a] [a]" {
		t.Errorf("mounted and closed: %s", got)
	}
	if _, err := send(t.Context(), "GET", w.url+"/healthz", nil); err == nil {
		t.Error("it still answers")
	}
}

// TestClientLeaves has a request end when its client is gone.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{})
	begun, ended := make(chan struct{}), make(chan error, 1)
	w.answer = func(_ string, _ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		ended <- r.Context().Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _, _ = send(ctx, "POST", w.url+"/mcp", &zeros{left: 100}, bearer(tokenA)) }()
	<-begun
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(testenv.Patience):
		t.Error("the request goes on without its client")
	}
}
