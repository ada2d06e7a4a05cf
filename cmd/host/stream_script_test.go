package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestStreamExample drives the command from another language.
func TestStreamExample(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	runScripts(t, "testdata/python")
}

// TestGuestsAreBuiltFromSource assembles the guests of the scripts again.
func TestGuestsAreBuiltFromSource(t *testing.T) {
	t.Parallel()
	wat2wasm := testenv.NeedTool(t, "wat2wasm")
	sources, err := filepath.Glob("testdata/guests/*.wat")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	for _, source := range sources {
		out := filepath.Join(t.TempDir(), "out.wasm")
		if said, err := exec.CommandContext(t.Context(), wat2wasm, "--enable-all", source, "-o", out).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		want, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		built := strings.TrimSuffix(source, ".wat") + ".wasm"
		if got, err := os.ReadFile(built); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its source gives, %v; run: wat2wasm --enable-all %s -o %s", built, err, source, built)
		}
	}
}

// told FILE TYPE... writes the lines of those types that a stream gave, the last
// command's or those of a dialog, without what differs from run to run. The lines of
// a call stand together: its result may come after lines of the next call.
func told(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: told file type...")
	}
	lines := ts.ReadFile("stdout")
	if _, err := os.Stat(ts.MkAbs("dialog.out")); err == nil {
		lines = ts.ReadFile("dialog.out")
	}
	var list []toldLine
	results := make(map[toldCall]int) // the places of calls' results, from 1 on
	for line := range strings.Lines(lines) {
		var head struct {
			Type string
			toldCall
		}
		if err := json.Unmarshal([]byte(line), &head); err != nil {
			ts.Fatalf("%v: %q", err, line)
		}
		if !strings.Contains(line, `"tool_use_id":`) {
			head.ID = "no call"
		}
		if head.Type == "result" {
			results[head.toldCall] = len(results) + 1
		}
		if slices.Contains(args[1:], head.Type) {
			list = append(list, toldLine{strings.ReplaceAll(timeless(line), ts.Getenv("WORK"), "$WORK"), head.toldCall})
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(byCall(list, results)), 0o600))
}

// toldLine is a line of a stream, and the call that it is about.
type toldLine struct {
	text string
	call toldCall
}

type toldCall struct {
	Turn int
	ID   string `json:"tool_use_id"`
}

// byCall joins lines. Neighbours whose calls have results are sorted by the places of these.
func byCall(list []toldLine, results map[toldCall]int) string {
	var out strings.Builder
	for len(list) > 0 {
		n := slices.IndexFunc(list, func(l toldLine) bool { return results[l.call] == 0 })
		switch n {
		case -1:
			n = len(list)
		case 0:
			n = 1
		}
		slices.SortStableFunc(list[:n], func(a, b toldLine) int { return results[a.call] - results[b.call] })
		for _, l := range list[:n] {
			out.WriteString(l.text)
		}
		list = list[n:]
	}
	return out.String()
}

// timeless takes times and made-up ids out of a line, and who makes the calls.
func timeless(line string) string {
	line = regexp.MustCompile(`"(time|queued|started|ended|sent_at|sentAt)":"[^"]*",?`).ReplaceAllString(line, "")
	line = regexp.MustCompile(`"elapsed_ms":[0-9.]+,?`).ReplaceAllString(line, "")
	line = regexp.MustCompile(`,"session":"[^"]*","agent":"main","chain":"[^"]*"`).ReplaceAllString(line, "")
	line = regexp.MustCompile(`\b[A-Z0-9]{26}\b`).ReplaceAllString(line, "ID")
	return strings.ReplaceAll(line, ",}", "}")
}

// dialogTime is how long a dialog waits for a line.
const dialogTime = 60 * time.Second

// dialog FILE PROGRAM [ARG...] talks to a program. A line "> text" of the file is
// written to it, "< pattern" waits for a line of its output that matches, behind
// the one before, and "! pattern" says that none so far did. $1 in what is written
// is what the last pattern found in parentheses, $WORK and $HOME the script's. "= file
// place" moves a file. At the file's end the input ends.
// What the program wrote goes to dialog.out. With ! before dialog it must fail.
func dialog(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] dialog file program [arg...]")
	}
	program, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(program, args[2:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), os.Environ()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "GORACE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	d := &talk{in: in, dir: ts.MkAbs("."), lines: make(chan string, 1000)}
	go d.listen(out)
	places := strings.NewReplacer("$WORK", ts.Getenv("WORK"), "$HOME", ts.Getenv("HOME"))
	err = d.follow(places.Replace(ts.ReadFile(args[0])))
	_ = in.Close() // the program may be gone
	for line := range d.lines {
		d.heard = append(d.heard, line)
	}
	ended := cmd.Wait()
	said := strings.Join(d.heard, "")
	ts.Check(os.WriteFile(ts.MkAbs("dialog.out"), []byte(said), 0o600))
	if err != nil || (ended != nil) != neg {
		ts.Fatalf("%v; it ended with %v\nit wrote:\n%s\n%s", err, ended, said, stderr.String())
	}
}

// talk is a dialog under way.
type talk struct {
	in    io.Writer
	dir   string
	lines chan string
	heard []string
	found string
}

func (d *talk) listen(out io.Reader) {
	defer close(d.lines)
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			d.lines <- line
		}
		if err != nil {
			return
		}
	}
}

func (d *talk) follow(script string) error {
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		mark, text, _ := strings.Cut(line, " ")
		var err error
		switch mark {
		case ">":
			_, err = io.WriteString(d.in, strings.ReplaceAll(text, "$1", d.found)+"\n")
		case "<":
			err = d.wait(regexp.MustCompile(text))
		case "=":
			from, to, _ := strings.Cut(text, " ")
			err = os.Rename(filepath.Join(d.dir, from), filepath.Join(d.dir, to))
		case "!":
			if said := strings.Join(d.heard, ""); regexp.MustCompile(text).MatchString(said) {
				err = fmt.Errorf("%s was heard", text)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

func (d *talk) wait(pattern *regexp.Regexp) error {
	late := time.After(dialogTime)
	for {
		select {
		case line, more := <-d.lines:
			if !more {
				return io.ErrUnexpectedEOF
			}
			d.heard = append(d.heard, line)
			found := pattern.FindStringSubmatch(line)
			if len(found) > 1 {
				d.found = found[1]
			}
			if found != nil {
				return nil
			}
		case <-late:
			return os.ErrDeadlineExceeded
		}
	}
}

// bulk FILE TOOL COUNT CHARS writes lines with so many calls of a tool, each with
// an input of so many characters.
func bulk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: bulk file tool count chars")
	}
	count, err := strconv.Atoi(args[2])
	ts.Check(err)
	chars, err := strconv.Atoi(args[3])
	ts.Check(err)
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, `{"type": "tool_use", "id": "t%d", "name": %q, "input": {"text": "%d%s"}}`+"\n", i, args[1], i, strings.Repeat("x", chars))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}
