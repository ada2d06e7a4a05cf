//go:build amd64 || arm64

package shell_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/test/escapes"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// onlooker is a person who looks around while they are asked.
type onlooker struct {
	reply host.Answer
	look  func(a *host.Approval)
	asked int
}

func (*onlooker) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (o *onlooker) Ask(_ context.Context, q host.Question) (host.Reply, error) {
	o.asked++
	o.look(q.Approval)
	return host.Reply{Answer: o.reply}, nil
}

// contained makes the host try commands and ask o.
func contained(o *onlooker) func(*setup) {
	return func(s *setup) {
		s.host.Permissions.Rules = nil
		s.host.Shell.Sandbox.Contained = permissions.ContainedRun
		s.session.Asker = o
	}
}

// TestEscapesTried tries commands that attempt every escape. When the person is asked, nothing has
// changed, not even where commands may write. After a yes, nothing protected has changed.
func TestEscapesTried(t *testing.T) {
	t.Parallel()
	for i, c := range escapes.Batches() {
		for _, reply := range []host.Answer{host.AnswerDeny, host.AnswerAllow} {
			if reply == host.AnswerAllow && !testenv.Thorough() && i%3 != 0 {
				continue
			}
			t.Run(string(reply)+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				w := escapes.New(t)
				if err := os.WriteFile(w.Work+"/escape.sh", []byte(c.Shell), 0o644); err != nil {
					t.Fatal(err)
				}
				before := everything(t, w.Work)
				o := &onlooker{reply: reply}
				o.look = func(a *host.Approval) {
					reasons := strings.Join(a.Reasons, " ")
					if !strings.Contains(reasons, "tried in a throwaway sandbox") {
						t.Errorf("it was not tried: %s", reasons)
					}
					t.Logf("%s\n%.3000s", reasons, a.Preview)
					if now := everything(t, w.Work); !slices.Equal(now, before) {
						t.Errorf("while the person is asked there is %q", now)
					}
					for _, did := range w.Verify(t, a.Preview) {
						t.Errorf("while the person is asked: %s", did)
					}
					// After an inconclusive trial, a yes would run the command outside of a trial.
					if strings.Contains(reasons, "inconclusive") {
						o.reply = host.AnswerDeny
					}
				}
				d := deskIn(t, w, contained(o))
				a := d.bash("bash escape.sh", input{"timeout": 60_000})
				d.close()
				if o.asked > 1 || o.asked == 0 && !strings.Contains(a.Text(), "[contained]") {
					t.Errorf("it is asked %d times: %.300s", o.asked, a.Text())
				}
				for _, did := range w.Verify(t, a.output()) {
					t.Errorf("after %s: %s", o.reply, did)
				}
				if now := everything(t, w.Work); (o.reply == host.AnswerDeny || o.asked == 0) && !slices.Equal(now, before) {
					t.Errorf("after a no there is %q", now)
				}
			})
		}
	}
}

// everything lists a directory and everything below it, with modes, times and contents.
func everything(tb testing.TB, dir string) (list []string) {
	tb.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := path + " " + info.Mode().String() + " " + info.ModTime().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(content)
		}
		list = append(list, text)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return list
}
