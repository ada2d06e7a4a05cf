package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
)

// ideServer is the name of the server that is an editor. What its tool getDiagnostics has to say
// of a file that was edited is noted behind the result.
const (
	ideServer       = "ide"
	diagnosticsTool = "getDiagnostics"
)

// diagnosticsTime bounds what an edit waits for the editor, before and after together.
var diagnosticsTime = 2 * time.Second

const (
	// maxDiagnostics is how many are told.
	maxDiagnostics = 10
	// maxTaken is how many diagnostics of a file are looked at.
	maxTaken = 1000
	// maxDiagnostic bounds what is told of one, in bytes.
	maxDiagnostic = 300
)

// settleTimes are the waits before the editor is asked again whether the edit brought something:
// it has to see the file and to look through it. The first answer with something new counts.
var settleTimes = []time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond}

// diagnostic is one problem that an editor sees in a file.
type diagnostic struct {
	Message  string   `json:"message"`
	Severity severity `json:"severity"`
	Source   string   `json:"source"`
	Range    struct {
		Start struct {
			Line      int `json:"line"`
			Character int `json:"character"`
		} `json:"start"`
	} `json:"range"`
}

// severity is how bad a diagnostic is: the number of the Language Server Protocol, 1 for an error
// to 4 for a hint. Editors write the words too.
type severity int

var severities = []string{"error", "warning", "info", "hint"}

// UnmarshalJSON reads a number or a word; any other is a hint.
func (s *severity) UnmarshalJSON(text []byte) error {
	var number int
	if json.Unmarshal(text, &number) == nil {
		*s = severity(min(max(number, 1), len(severities)))
		return nil
	}
	var word string
	_ = json.Unmarshal(text, &word)
	*s = severity(len(severities))
	for i, known := range severities {
		if word = strings.ToLower(word); strings.HasPrefix(word, known) {
			*s = severity(i + 1)
		}
	}
	return nil
}

func (s severity) String() string { return severities[min(max(int(s), 1), len(severities))-1] }

// same reports whether it is the same problem, wherever it is by now.
func (d *diagnostic) same(other *diagnostic) bool {
	return d.Message == other.Message && d.Severity == other.Severity && d.Source == other.Source
}

// watchEdits looks at files before and after edits, by the tool that tells diagnostics. A rule that
// denies that tool turns it off, and so does a definition that changed.
func (s *server) watchEdits(tool *definition) host.EditWatch {
	return func(ctx context.Context, e host.FileEdit) func(context.Context) string {
		if !e.Policy.OfferedFrom(permissions.Origin{Server: ideServer, Tool: tool.own}, tool.offered) || s.set.pins.changed(&s.config, tool) != "" {
			return nil
		}
		w := &editWatch{server: s, tool: tool, file: e.File, left: diagnosticsTime}
		was, err := w.ask(ctx)
		if err != nil {
			s.log.Info("an editor did not tell the diagnostics of a file", "file", e.File, "problem", shown{err})
			return nil
		}
		return func(ctx context.Context) string { return w.note(ctx, was) }
	}
}

// editWatch is one edit of a file.
type editWatch struct {
	server *server
	tool   *definition
	file   string
	left   time.Duration // of diagnosticsTime
}

// ask asks the editor for the diagnostics of the file. It connects to none.
func (w *editWatch) ask(ctx context.Context) ([]diagnostic, error) {
	began := time.Now()
	defer func() { w.left -= time.Since(began) }()
	s := w.server
	s.mu.Lock()
	c := s.hold()
	s.mu.Unlock()
	if c == nil {
		return nil, errors.New("it is not connected")
	}
	defer c.release()
	input, err := json.Marshal(map[string]string{"uri": fileURI(w.file)})
	if err != nil {
		return nil, err
	}
	ctx, of := s.begin(ctx, &host.Call{Input: input, Report: func(abi.ProgressHead) {}}, max(w.left, time.Millisecond), "for diagnostics")
	defer of.limit.stop()
	r, err := c.callTool(ctx, of, w.tool)
	if err != nil {
		return nil, err
	}
	return diagnosticsOf(r, w.file)
}

// note says what the edit brought; empty is nothing.
func (w *editWatch) note(ctx context.Context, was []diagnostic) string {
	for _, wait := range settleTimes {
		if w.left <= wait || !sleep(ctx, wait) {
			break
		}
		w.left -= wait
		now, err := w.ask(ctx)
		if err != nil {
			w.server.log.Info("an editor did not tell the diagnostics of a file", "file", w.file, "problem", shown{err})
			break
		}
		if brought := without(now, was); len(brought) > 0 {
			return noteOf(w.file, brought)
		}
	}
	return ""
}

// sleep waits, and reports false if ctx ends.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// diagnosticsOf reads what getDiagnostics answers: a list of files with their diagnostics, as JSON
// in a text.
func diagnosticsOf(r *mcp.CallToolResult, file string) ([]diagnostic, error) {
	if r.IsError || len(r.Content) == 0 {
		return nil, errors.New("it answered with an error, or nothing")
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		return nil, errors.New("it answered with no text")
	}
	var files []struct {
		URI         string       `json:"uri"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}
	if err := json.Unmarshal([]byte(text.Text), &files); err != nil {
		return nil, fmt.Errorf("it answered with no list of diagnostics: %w", err)
	}
	var all []diagnostic
	for _, f := range files {
		if names(f.URI, file) {
			all = append(all, f.Diagnostics...)
		}
	}
	return all[:min(len(all), maxTaken)], nil
}

// fileURI is the URI of a file.
func fileURI(file string) string {
	slashed := filepath.ToSlash(file)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/...
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// names reports whether a URI is that of a file, or of what the file's links lead to.
func names(uri, file string) bool {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return false
	}
	is := func(file string) bool { // in any case, as editors write the letters of drives as they like
		return strings.EqualFold(strings.TrimPrefix(u.Path, "/"), strings.TrimPrefix(filepath.ToSlash(file), "/"))
	}
	if is(file) {
		return true
	}
	led, err := filepath.EvalSymlinks(file)
	return err == nil && is(led)
}

// without are those diagnostics that were not there before. What an edit only moved was.
func without(now, was []diagnostic) []diagnostic {
	now = slices.Clone(now)
	for _, before := range was {
		at := slices.IndexFunc(now, func(d diagnostic) bool { return d == before })
		if at < 0 {
			at = slices.IndexFunc(now, func(d diagnostic) bool { return d.same(&before) })
		}
		if at >= 0 {
			now = slices.Delete(now, at, at+1)
		}
	}
	return now
}

// noteOf tells the model of diagnostics, errors first.
func noteOf(file string, list []diagnostic) string {
	slices.SortStableFunc(list, func(a, b diagnostic) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Range.Start.Line, b.Range.Start.Line))
	})
	var text strings.Builder
	fmt.Fprintf(&text, "The user's editor reports, since this edit of %s:", visible.Line(file))
	for i, d := range list {
		if i == maxDiagnostics {
			fmt.Fprintf(&text, "\nand %d more", len(list)-i)
			break
		}
		fmt.Fprintf(&text, "\n- %s, line %d:%d: %s", d.Severity, d.Range.Start.Line+1, d.Range.Start.Character+1, visible.Short(d.Message, maxDiagnostic))
		if d.Source != "" {
			fmt.Fprintf(&text, " (%s)", visible.Short(d.Source, maxClaim))
		}
	}
	return text.String()
}
