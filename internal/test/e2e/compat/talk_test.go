//go:build unix

package compat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTalk holds the conversation again: what was said to the command gets the same lines.
// New types of line and new keys may come between.
func TestTalk(t *testing.T) {
	t.Parallel()
	h := open(t, "before")
	c := h.toolquay("--mode", "default", "--session", "talk", "run", "--stream", "--input", "jsonl", "-")
	var errs bytes.Buffer
	c.Stderr = &errs
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
	talk := &conversation{in, bufio.NewReader(out), make(map[string]string)}
	for n, line := range lines(t, "talk.txt") {
		if err := talk.follow(line, h); err != nil {
			t.Errorf("line %d: %v; the command says %s", n+1, err, errs.String())
			break
		}
	}
	_ = in.Close() // the command may be gone
	rest, _ := io.ReadAll(talk.out)
	const faults = 2 // lines that could not be read
	if _ = c.Wait(); c.ProcessState.ExitCode() != faults && !t.Failed() {
		t.Errorf("%v; after the last line there is %s%s", c.ProcessState, rest, errs.String())
	}
}

// conversation is one under way.
type conversation struct {
	in  io.Writer
	out *bufio.Reader
	// ids are the approvals' of now, by those of then.
	ids map[string]string
}

// types are those of the lines that there were.
var types = regexp.MustCompile(`^(session|started|permission|persisted|result|interruptible|discarded|error|done)$`)

func (c *conversation) follow(line string, h *home) error {
	line = strings.ReplaceAll(line, recorded, h.dir)
	if text, said := strings.CutPrefix(line, "> "); said {
		for then, now := range c.ids {
			text = strings.ReplaceAll(text, then, now)
		}
		_, err := io.WriteString(c.in, text+"\n")
		return err
	}
	var then, now map[string]any
	if err := json.Unmarshal([]byte(line[2:]), &then); err != nil {
		return err
	}
	for {
		text, err := c.out.ReadBytes('\n')
		if err == nil {
			now = nil
			err = json.Unmarshal(text, &now)
		}
		if err != nil {
			return fmt.Errorf("no line as %s: %w", line, err)
		}
		if kind, _ := now["type"].(string); types.MatchString(kind) {
			break
		}
	}
	if id, ok := then["approval"].(string); ok {
		c.ids[id], _ = now["approval"].(string)
	}
	return within("", then, now)
}

// changing are the keys whose values differ from run to run.
var changing = []string{"time", "queued", "started", "ended", "elapsed_ms", "version", "approval"}

// prose are the keys of texts for people, which may be worded better.
var prose = []string{"message", "reason", "reasons", "cause"}

// within says what of a value of then is not in the one of now.
func within(at string, then, now any) error {
	switch then := then.(type) {
	case map[string]any:
		now, _ := now.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(then)) {
			there, ok := now[key]
			switch {
			case !ok || reflect.TypeOf(there) != reflect.TypeOf(then[key]):
				return fmt.Errorf("%s.%s was %v and is %v", at, key, then[key], there)
			case slices.Contains(changing, key) || slices.Contains(prose, key):
			case key == "tools": // more may be offered
				for _, tool := range then[key].([]any) { //nolint:forcetypeassert // it was recorded so
					if !slices.Contains(there.([]any), tool) { //nolint:forcetypeassert // their types are the same
						return fmt.Errorf("%s.tools lacks %v", at, tool)
					}
				}
			default:
				if err := within(at+"."+key, then[key], there); err != nil {
					return err
				}
			}
		}
		return nil
	case []any:
		now, _ := now.([]any)
		if len(now) != len(then) {
			return fmt.Errorf("%s was %v and is %v", at, then, now)
		}
		for i := range then {
			if err := within(fmt.Sprintf("%s[%d]", at, i), then[i], now[i]); err != nil {
				return err
			}
		}
		return nil
	case string: // what the host says to the model is in angle brackets, and may be worded better
		if now, ok := now.(string); ok && strings.HasPrefix(then, "<") && strings.HasPrefix(now, "<") {
			return nil
		}
	}
	if !reflect.DeepEqual(then, now) {
		return fmt.Errorf("%s was %v and is %v", at, then, now)
	}
	return nil
}
