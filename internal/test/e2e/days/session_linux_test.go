package days

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// settings are the person's: a mode, a deny rule, and one host. A busy machine is to move no
// build to the background.
const settings = `[permissions]
mode = "acceptEdits"
deny = ["Read(.env)"]
allow = ["WebFetch(domain:%s)"]

[sandbox]
mode = "required"
network = "hosts"

[shell]
default_timeout = "5m"
environment = ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"]
`

// session is a toolquay run --stream that goes on for a day.
type session struct {
	in    io.Writer
	lines chan line
	errs  bytes.Buffer
	calls int
	// end closes the command's input, and waits until it has ended.
	end func()
}

// line is what is read of a line of the stream.
type line struct {
	Type     string `json:"type"`
	ID       string `json:"tool_use_id"`
	State    string `json:"state"`
	Approval string `json:"approval"`
	Reason   string `json:"reason"`
	Message  string `json:"message"`
	Content  []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// openSession starts the command in a side's directory.
func openSession(t *testing.T, s *side, flags ...string) *session {
	t.Helper()
	s.put(t, s.home, map[string]string{".config/toolquay/settings.toml": fmt.Sprintf(settings, registryHost)})
	s.compiled(t)
	c := exec.CommandContext(t.Context(), program(t), append([]string{"run", "--stream", "-"}, flags...)...)
	c.Dir, c.Env, c.WaitDelay = s.dir, s.env, testenv.Patience
	got := &session{lines: make(chan line)}
	c.Stderr = &got.errs
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	got.in = in
	go got.read(out)
	got.end = sync.OnceFunc(func() {
		_ = in.Close() // the command may be gone
		for range got.lines {
			// what is still said concerns nobody
		}
		_ = c.Wait() // how it ends tells how calls ended
	})
	t.Cleanup(got.end)
	return got
}

// program returns the path of the toolquay command.
func program(t *testing.T) string {
	t.Helper()
	return testenv.GoProgram(t, filepath.Join("..", "..", "..", "..", "cmd", "host"))
}

func (s *session) read(out io.Reader) {
	defer close(s.lines)
	for r := bufio.NewReader(out); ; {
		text, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			l = line{Type: "error", Message: string(text)}
		}
		s.lines <- l
	}
}

// say writes a line.
func (s *session) say(t *testing.T, line map[string]any) {
	t.Helper()
	b, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.in.Write(append(b, '\n')); err != nil {
		t.Fatalf("%v; the command says %s", err, s.errs.String())
	}
}

// call is a turn of one call, in which the person says yes to what they are asked.
func (s *session) call(t *testing.T, tool string, input map[string]any) answer {
	t.Helper()
	s.calls++
	id := fmt.Sprint("t", s.calls)
	began, late := time.Now(), time.After(6*testenv.Patience)
	s.say(t, map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
	s.say(t, map[string]any{"type": "end"})
	var a answer
	for {
		var l line
		var ok bool
		select {
		case l, ok = <-s.lines:
		case <-late:
		}
		switch {
		case !ok:
			t.Fatalf("no end of %s %v; the command says %s", tool, input, s.errs.String())
		case l.Type == "permission":
			a.asked = append(a.asked, l.Reason)
			s.say(t, map[string]any{"type": "permission", "approval": l.Approval, "answer": "allow"})
		case l.Type == "result" && l.ID == id:
			var text strings.Builder
			for _, block := range l.Content {
				text.WriteString(block.Text)
			}
			a.state, a.text, a.seconds = l.State, text.String(), time.Since(began).Seconds()
		case l.Type == "error":
			t.Errorf("%s %v: %s", tool, input, l.Message)
		case l.Type == "done":
			return a
		}
	}
}

// taskID finds the id of a background task in a result.
var taskID = regexp.MustCompile(`\bb[0-9a-z]{8}\b`)
