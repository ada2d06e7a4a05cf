// Command agent is a whole agent loop on one host: two sessions work at once, calls start
// while the model still writes, a person is asked, and one conversation is cancelled and
// goes on. The model and the person are scripted, so that it runs anywhere:
//
//	go run ./examples/agent
//	go run ./examples/agent -shell
//	go run ./examples/agent -plan
//	go run ./examples/agent -worktree
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
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/hosttest"
)

func main() {
	host.Main() // commands are supervised by this program, started again
	shell := flag.Bool("shell", false, "give the models a shell")
	plan := flag.Bool("plan", false, "plan, ask, work through tasks and report, on a real repository")
	worktree := flag.Bool("worktree", false, "mend a test by a skill, in a worktree of a real repository, and come back to it by the clock")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	dir, err := os.MkdirTemp("", "agent-")
	if err == nil {
		options, scripts := host.Options{Builtins: true}, plain()
		if *plan {
			err, scripts = withMessages(&options, dir), planned()
		}
		if *shell {
			options.Shell, scripts = shellIn(dir), withShell()
		}
		if *worktree {
			options.Shell, scripts = shellIn(dir), mended()
			err = withWorktrees(&options, dir)
		}
		if err == nil {
			err = run(ctx, options, dir, scripts, os.Stdout)
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// shellIn is a shell that keeps what it needs in a directory.
func shellIn(dir string) *host.Shell {
	state := filepath.Join(dir, "state")
	return &host.Shell{Environ: os.Environ(), Sandbox: host.SandboxOptions{State: state, Caches: filepath.Join(state, "caches")}}
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
			errs[i] = os.Mkdir(cwd, 0o700)
			if errs[i] == nil && script.prepare != nil {
				errs[i] = script.prepare(ctx, cwd)
			}
			if errs[i] == nil {
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
	// prepare fills the working directory, and options change those of the session; nil does
	// not.
	prepare func(ctx context.Context, dir string) error
	options func(*host.SessionOptions)
	// cancel is the event at which the user cancels, once; empty is never.
	cancel host.EventKind
	// prompts is how many of those that come due are waited for, until a minute later on the clock.
	prompts int
	clock   *hosttest.Clock
}

func (s *script) play(ctx context.Context, h *host.Host, cwd string, printf func(string, ...any)) error {
	o := host.SessionOptions{ID: s.name, Cwd: cwd, Asker: s.asker}
	if s.options != nil {
		s.options(&o)
	}
	session, err := h.NewSession(o)
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
	if err == nil && s.prompts > 0 {
		err = s.later(ctx, c, printf)
	}
	if output := session.Output(); output != nil {
		printf("%s: %s", s.name, output)
	}
	return errors.Join(err, s.model.Err(), s.asker.Err())
}

// later goes on with the prompts that come due, which your client gives the model as messages.
func (s *script) later(ctx context.Context, c *Conversation, printf func(string, ...any)) error {
	left := s.prompts
	s.clock.Advance(time.Minute)
	for p := range c.Session.Prompts(ctx) {
		printf("%s: due: %s", s.name, p.Prompt)
		text, err := c.Run(ctx)
		printf("%s: %s", s.name, text)
		if left--; err != nil || left == 0 {
			return err
		}
	}
	return context.Cause(ctx)
}

// show prints what a user would see.
func show(printf func(string, ...any), e host.Event) {
	switch e.Kind {
	case host.EventQuestion:
		printf("%s: %s", e.Session, asks(&e))
	case host.EventWork:
		printf("%s: task %s, %s: %s", e.Session, e.Work.Item.ID, e.Work.Item.Status, e.Work.Item.Subject)
	case host.EventWorktree:
		printf("%s: worktree %s: %s", e.Session, e.Worktree.Change, e.Worktree.Branch)
	case host.EventMessage:
		printf("%s: tells you: %s", e.Session, e.Reason)
	case host.EventResult: // in the order of the calls
		outcome := "done"
		if err := e.Result.Error; err != nil {
			outcome = string(err.Code)
		}
		printf("%s: %s %s: %s", e.Session, e.Tool, e.Title, outcome)
	}
}

// asks is what a person is asked.
func asks(e *host.Event) string {
	switch q := e.Question; {
	case q.Choice != nil:
		return q.Choice.Questions[0].Question
	case q.Plan != nil:
		return "shall I follow this plan? " + strings.ReplaceAll(strings.TrimSpace(q.Plan.Plan), "\n", " ")
	default:
		return fmt.Sprintf("may %s run? %s", e.Tool, e.Title)
	}
}
