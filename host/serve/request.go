package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// healthPath answers whoever asks whether the server is there.
const healthPath = "/healthz"

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if no := s.guard.check(r); no != nil {
		s.tell(r, no)
		no.ServeHTTP(w, r)
		return
	}
	if s.guard.share(w, r) {
		return
	}
	if r.URL.Path == healthPath {
		health(w, r)
		return
	}
	if no := s.pass(w, r); no != nil {
		s.tell(r, no)
		no.ServeHTTP(w, r)
	}
}

// tell logs that a request was refused: the first of a second, and how many more there were.
func (s *Server) tell(r *http.Request, no *refusal) {
	s.refused.do(func(more int) {
		s.options.Logger.Warn("a request was refused", "code", no.code, "client", r.RemoteAddr, "path", r.URL.Path, "more", more)
	})
}

func health(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(http.StatusMethodNotAllowed, "wrong_method", "%s answers to GET", healthPath).ServeHTTP(w, r)
		return
	}
	answer(w, http.StatusOK, map[string]string{"status": "ok"})
}

// pass has the handler of the request's token answer, or refuses the request.
func (s *Server) pass(w http.ResponseWriter, r *http.Request) *refusal {
	at, mount := s.find(r.URL.Path)
	if mount == nil {
		return refuse(http.StatusNotFound, "not_found", "there is nothing at %.200q", r.URL.Path)
	}
	p, no := s.admit(r)
	if no != nil {
		return no
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		return refuse(http.StatusTooManyRequests, "too_many_requests",
			"the token %s has %d requests under way already; wait until one of them has ended", p.token.Name, cap(p.slots))
	}
	if no := s.readBody(w, r); no != nil {
		return no
	}
	h, err := p.handler(at, mount)
	switch {
	case errors.Is(err, errRevoked), errors.Is(err, errEnding):
		return refuseFor(err)
	case err != nil:
		s.options.Logger.Error("a token cannot be served", "token", p.token.Name, "path", at, "error", err)
		return refuse(http.StatusInternalServerError, "failed", "the server cannot serve this token now; its log says why")
	}
	s.run(w, r, p, at, h)
	return nil
}

// find returns the mount point of a path: the longest that it lies at or below.
func (s *Server) find(path string) (at string, mount Mount) {
	for point, m := range s.options.Mounts {
		below := path == point || strings.HasPrefix(path, strings.TrimSuffix(point, "/")+"/")
		if below && len(point) > len(at) {
			at, mount = point, m
		}
	}
	return at, mount
}

// admit finds out whose request it is.
func (s *Server) admit(r *http.Request) (*principal, *refusal) {
	if s.options.NoToken {
		p, err := s.known.only()
		return p, refuseFor(err)
	}
	header := r.Header.Values("Authorization")
	if len(header) == 0 {
		return nil, refuse(http.StatusUnauthorized, "no_token", "send a token of this server, as the header Authorization: Bearer TOKEN")
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	if len(header) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return nil, refuse(http.StatusUnauthorized, "invalid_token", "the header Authorization must come once and read: Bearer TOKEN")
	}
	p, err := s.known.find(strings.TrimSpace(token))
	return p, refuseFor(err)
}

// refuseFor is the refusal for want of a principal, or nil without an error.
func refuseFor(err error) *refusal {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errUnknownToken), errors.Is(err, errRevoked):
		return refuse(http.StatusUnauthorized, "invalid_token", "%v; ask the server's operator for one", err)
	case errors.Is(err, errEnding):
		return refuse(http.StatusServiceUnavailable, "ending", "%v", err)
	}
	return refuse(http.StatusServiceUnavailable, "no_tokens", "the server cannot use its file of tokens now; its log says why")
}

// readBody reads the whole body, so that slow clients hold up no handler.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) *refusal {
	limits := s.options.Limits
	tooLarge := refuse(http.StatusRequestEntityTooLarge, "too_large", "a request may have %d bytes, no more", limits.Body)
	if r.ContentLength > limits.Body {
		return tooLarge
	}
	if r.Body == http.NoBody {
		return nil
	}
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(limits.BodyTime)); err != nil {
		return refuse(http.StatusInternalServerError, "failed", "the connection cannot be read")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limits.Body))
	if err == nil {
		err = control.SetReadDeadline(time.Time{})
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge
	case isTimeout(err):
		return refuse(http.StatusRequestTimeout, "too_slow", "the body did not arrive within %v", limits.BodyTime)
	case err != nil:
		return refuse(http.StatusBadRequest, "bad_body", "the body cannot be read: %v", err)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// run has a handler answer. The request ends with its client, its token and the server.
func (s *Server) run(w http.ResponseWriter, r *http.Request, p *principal, at string, h http.Handler) {
	end := s.all
	if r.Method == http.MethodGet {
		end = s.streams
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer endWith(p.ctx, cancel)() //nolint:contextcheck // it is the end of the token that counts
	defer endWith(end, cancel)()   //nolint:contextcheck // and that of the server
	logger := s.options.Logger.With("token", p.token.Name, "method", r.Method, "path", r.URL.Path, "client", r.RemoteAddr)
	began := time.Now()
	defer func() {
		if fault := recover(); fault != nil && fault != http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
			logger.Error("a handler failed", "fault", fault, "stack", string(debug.Stack()))
			panic(http.ErrAbortHandler) // the connection is closed, the server goes on
		}
	}()
	r = r.Clone(ctx)
	for _, checked := range []string{"Authorization", "Origin", "Sec-Fetch-Site"} {
		r.Header.Del(checked)
	}
	http.StripPrefix(strings.TrimSuffix(at, "/"), rooted(h)).ServeHTTP(w, r)
	logger.Info("answered", "took", time.Since(began))
}

// endWith ends a request when something else ends, until its result is called.
func endWith(other context.Context, cancel context.CancelCauseFunc) (unlink func() bool) {
	return context.AfterFunc(other, func() { cancel(context.Cause(other)) })
}

// rooted has a handler see "/" at its mount point.
func rooted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "" {
			r.URL.Path = "/" // it is the copy that StripPrefix made
		}
		h.ServeHTTP(w, r)
	})
}
