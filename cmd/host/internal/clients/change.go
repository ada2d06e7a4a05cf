package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/toolquay/toolquay/internal/atomicfile"
)

// maxFile is the largest file that is changed, in bytes. Claude Code's holds its history too.
const maxFile = 64 << 20

// Change is a change of a client's file that is not written yet.
type Change struct {
	// Path is the file, as it is named.
	Path string
	// file is where Path leads to.
	file          string
	there         bool
	mode          fs.FileMode
	before, after []byte
}

// Snippet is what a file without anything else says of a server.
func (c *Client) Snippet(s Server) (string, error) {
	body, err := c.put([]byte(c.language.empty()), s)
	return string(body), err
}

// Install is the change that has the client start a server. What the person added to the entry
// stays. It fails for a file that does not parse, naming the line, and for one that is laid out
// so that no change of the entry alone is possible.
func (c *Client) Install(p Places, s Server) (*Change, error) {
	return c.change(p, func(body []byte) ([]byte, error) { return c.put(body, s) })
}

// Uninstall is the change that takes out what [Client.Install] wrote. It fails if the entry
// runs something else than a toolquay as MCP server.
func (c *Client) Uninstall(p Places, name string) (*Change, error) {
	return c.change(p, func(body []byte) ([]byte, error) { return c.take(body, name) })
}

// Configured is the command line by which the client starts a server, and the environment that
// it adds, as NAME=value.
func (c *Client) Configured(p Places, name string) (command, environment []string, err error) {
	path, err := c.Path(p)
	if err != nil {
		return nil, nil, err
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading what %s starts: %w", c.Title, err)
	}
	doc, err := c.language.decode(withoutMark(body))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	entry, err := lookup(doc, c.path(name))
	if err != nil || entry == nil {
		return nil, nil, errors.Join(fmt.Errorf("%s has no server %s; toolquay mcp install %s adds it", path, name, c.Name), err)
	}
	if command = commandOf(entry); command == nil {
		return nil, nil, fmt.Errorf("%s: the server %s names no program to run", path, name)
	}
	return command, environmentOf(entry), nil
}

// path leads to the entry of a server.
func (c *Client) path(name string) []string { return append(slices.Clone(c.keys), name) }

// change reads a client's file and has its body changed.
func (c *Client) change(p Places, edit func([]byte) ([]byte, error)) (*Change, error) {
	path, err := c.Path(p)
	if err != nil {
		return nil, err
	}
	ch := &Change{Path: path, mode: 0o600}
	if p.Project != "" {
		ch.mode = 0o644
	}
	if ch.file, err = resolve(path, p.Project); err != nil {
		return nil, err
	}
	if ch.before, ch.there, err = read(ch.file); err != nil {
		return nil, err
	}
	if info, err := os.Stat(ch.file); err == nil {
		ch.mode = info.Mode().Perm()
	}
	body := withoutMark(ch.before)
	mark := ch.before[:len(ch.before)-len(body)]
	if blank(body) {
		body = []byte(c.language.empty())
	}
	after, err := edit(body)
	if err != nil {
		return nil, fmt.Errorf("%s is left as it is: %w", path, err)
	}
	if ch.after = slices.Concat(mark, after); bytes.Equal(after, body) {
		ch.after = ch.before
	}
	return ch, nil
}

// put writes the fields of an entry that are missing, or say that something else runs.
func (c *Client) put(body []byte, s Server) ([]byte, error) {
	path := c.path(s.Name)
	doc, err := c.language.decode(body)
	if err != nil {
		return nil, err
	}
	entry, err := lookup(doc, path)
	if err != nil {
		return nil, err
	}
	for _, f := range c.fields(s) {
		was, there := entry[f.key]
		if there && (!f.runs || asJSON(was) == asJSON(f.value)) {
			continue
		}
		changed, err := c.language.set(body, append(slices.Clone(path), f.key), written(f.value))
		if err == nil {
			body, err = changed, c.verify(body, changed, path, &f)
		}
		if err != nil {
			return nil, fmt.Errorf("%w; add this by hand:\n%s", err, c.handful(s))
		}
	}
	return body, nil
}

// handful is the snippet, for a message.
func (c *Client) handful(s Server) string {
	text, err := (&Client{keys: c.keys, language: c.language, fields: c.fields}).Snippet(s)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(text, "\n")
}

// take takes an entry out.
func (c *Client) take(body []byte, name string) ([]byte, error) {
	path := c.path(name)
	doc, err := c.language.decode(body)
	if err != nil {
		return nil, err
	}
	entry, err := lookup(doc, path)
	if err != nil || entry == nil {
		return body, err
	}
	if command := commandOf(entry); !ours(command) {
		return nil, fmt.Errorf("the server %s was not written by toolquay mcp install, as it runs %q; take it out by hand", name, command)
	}
	after, err := c.language.remove(body, path)
	if err == nil {
		err = c.verify(body, after, path, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; take the server %s out by hand", err, name)
	}
	return after, nil
}

// errMore is a change that would come to more than was asked for.
var errMore = errors.New("more than the server's entry would change, by the way the file is laid out")

// verify fails unless two bodies differ just by a field of an entry, or, without one, by the
// entry.
func (c *Client) verify(before, after []byte, path []string, f *field) error {
	was, err := c.language.decode(before)
	if err != nil {
		return err
	}
	is, err := c.language.decode(after)
	if err != nil {
		return fmt.Errorf("the outcome is not understood: %w", err)
	}
	from, to := was, is
	for _, key := range path[:len(path)-1] { // tables on the way may come and go
		from, to = table(from, key), table(to, key)
	}
	name := path[len(path)-1]
	if f == nil {
		delete(from, name)
	} else {
		now := table(to, name)[f.key]
		if asJSON(now) != asJSON(f.value) {
			return errMore
		}
		table(from, name)[f.key] = now
	}
	if !reflect.DeepEqual(was, is) {
		return errMore
	}
	return nil
}

// table is a table of another, which is made if it is not there.
func table(doc map[string]any, key string) map[string]any {
	t, ok := doc[key].(map[string]any)
	if !ok {
		t = make(map[string]any)
		doc[key] = t
	}
	return t
}

// lookup finds an entry. It is nil if there is none.
func lookup(doc map[string]any, path []string) (map[string]any, error) {
	for i, key := range path {
		next, there := doc[key]
		if !there || next == nil {
			return nil, nil
		}
		table, ok := next.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is not a table of values", strings.Join(path[:i+1], "."))
		}
		doc = table
	}
	return doc, nil
}

// commandOf is the command line of an entry, in any client's form, or nil.
func commandOf(entry map[string]any) []string {
	var out []string
	for _, key := range []string{"command", "cmd", "args"} {
		switch v := entry[key].(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, e := range v {
				text, ok := e.(string)
				if !ok {
					return nil
				}
				out = append(out, text)
			}
		}
	}
	return out
}

// environmentOf is the environment of an entry, in any client's form.
func environmentOf(entry map[string]any) []string {
	var out []string
	for _, key := range []string{"env", "envs", "environment"} {
		table, _ := entry[key].(map[string]any)
		for name, value := range table {
			out = append(out, fmt.Sprintf("%s=%v", name, value))
		}
	}
	slices.Sort(out)
	return out
}

// ours reports whether a command line is one that install writes.
func ours(command []string) bool {
	if len(command) < 2 || command[1] != "mcp" {
		return false
	}
	name := filepath.Base(strings.ReplaceAll(command[0], `\`, "/"))
	return strings.TrimSuffix(name, ".exe") == "toolquay"
}

// resolve follows links to the file that is to be changed. A project's may not lead out of it:
// the person would change something elsewhere than they see.
func resolve(path, project string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	file, err := filepath.EvalSymlinks(path)
	if err != nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", fmt.Errorf("%s is a link that leads nowhere: %w", path, err)
	}
	if err != nil || project == "" {
		return file, err
	}
	root, err := filepath.EvalSymlinks(project)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(root, file); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s leads to %s, outside of the project; change that file itself", path, file)
	}
	return file, nil
}

// read reads a file that may be missing.
func read(path string) (body []byte, there bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular():
		return nil, false, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxFile:
		return nil, false, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), maxFile)
	}
	if body, err = os.ReadFile(path); err != nil {
		return nil, false, err
	}
	if !utf8.Valid(body) {
		return nil, false, fmt.Errorf("%s is not UTF-8 text", path)
	}
	return body, true, nil
}

// withoutMark cuts a byte order mark off.
func withoutMark(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\ufeff")) }

// None reports that nothing would change.
func (ch *Change) None() bool { return bytes.Equal(ch.before, ch.after) }

// Diff shows the change as a unified diff.
func (ch *Change) Diff() string {
	from := ch.Path
	if !ch.there {
		from = os.DevNull
	}
	return udiff.Unified(from, ch.Path, string(ch.before), string(ch.after))
}

// Write writes the change: whole or not at all, with the mode that the file had. A new file is
// for its owner alone, but for a project's. It fails if the file changed since it was read.
func (ch *Change) Write() error {
	now, there, err := read(ch.file)
	if err != nil {
		return err
	}
	if there != ch.there || !bytes.Equal(now, ch.before) {
		return fmt.Errorf("%s changed meanwhile and is left as it is; try again", ch.Path)
	}
	if err := os.MkdirAll(filepath.Dir(ch.file), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(ch.file, ch.after, ch.mode)
}
