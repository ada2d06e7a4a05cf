// Command agent is a whole agent loop on one host: two sessions work at once, calls start
// while the model still writes, a person is asked, and one conversation is cancelled and
// goes on. The model and the person are scripted, so that it runs anywhere:
//
//	go run ./examples/agent
//	go run ./examples/agent -shell
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"sync"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/hosttest"
)

func main() {
	host.Main() // commands are supervised by this program, started again
	shell := flag.Bool("shell", false, "give the models a shell")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	dir, err := os.MkdirTemp("", "agent-")
	if err == nil {
		options, scripts := host.Options{Builtins: true}, plain()
		if *shell {
			options.Shell = &host.Shell{Environ: os.Environ(), Sandbox: host.SandboxOptions{State: filepath.Join(dir, "state")}}
			scripts = withShell()
		}
		err = errors.Join(run(ctx, options, dir, scripts, os.Stdout), os.RemoveAll(dir))
	}
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// run has every script played in a session of its own, all of them at once.
func run(ctx context.Context, options host.Options, dir string, scripts []*script, out io.Writer) error {
	h, err := host.Open(ctx, options)
	if err != nil {
		return err
	}
	defer h.Close(context.WithoutCancel(ctx)) // it ends what still runs
	var printing sync.Mutex
	printf := func(format string, args ...any) {
		printing.Lock()
		defer printing.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
	}
	var all sync.WaitGroup
	errs := make([]error, len(scripts))
	for i, script := range scripts {
		all.Go(func() {
			cwd := filepath.Join(dir, script.name)
			if errs[i] = os.Mkdir(cwd, 0o700); errs[i] == nil {
				errs[i] = script.play(ctx, h, cwd, printf)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// script is one conversation.
type script struct {
	name  string
	model *hosttest.Model
	asker *hosttest.Asker
	// cancel is the event at which the user cancels, once; empty is never.
	cancel host.EventKind
}

func (s *script) play(ctx context.Context, h *host.Host, cwd string, printf func(string, ...any)) error {
	session, err := h.NewSession(host.SessionOptions{ID: s.name, Cwd: cwd, Asker: s.asker})
	if err != nil {
		return err
	}
	cancelled, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &Conversation{Session: session, Model: s.model, Show: func(e host.Event) {
		show(printf, e)
		if e.Kind == s.cancel {
			cancel()
		}
	}}
	text, err := c.Run(cancelled)
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		printf("%s: cancelled", s.name)
		text, err = c.Run(ctx) // the user has written something new
	}
	printf("%s: %s", s.name, text)
	return errors.Join(err, s.model.Err(), s.asker.Err())
}

// show prints what a user would see.
func show(printf func(string, ...any), e host.Event) {
	switch e.Kind {
	case host.EventQuestion:
		printf("%s: may %s run? %s", e.Session, e.Tool, e.Title)
	case host.EventResult: // in the order of the calls
		outcome := "done"
		if err := e.Result.Error; err != nil {
			outcome = string(err.Code)
		}
		printf("%s: %s %s: %s", e.Session, e.Tool, e.Title, outcome)
	}
}
