package results

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// Dir is the name of the directory for results in the session's directory.
const Dir = "tool-results"

// errNoDir is that of a session without a place to keep anything.
var errNoDir = errors.New("the session has no directory")

// files are the texts of results in a session's directory.
type files struct {
	dir *sessiondir.Dir // nil is none
	log *slog.Logger
}

// put puts the text of a result's content into a file named after the result, and
// returns the preview that takes its place.
func (f *files) put(content []abi.Block, id key, how Strategy, shown int) (outcome, error) {
	if f.dir == nil {
		return outcome{}, errNoDir
	}
	name := cmp.Or(sessiondir.Safe(id.ID, 40), "call") + "-" + hex.EncodeToString(id.Content[:8]) + ".txt"
	t := textOf(content)
	path, err := f.keep(&t, name)
	if err != nil {
		return outcome{}, err
	}
	text := preview(&t, path, how, shown)
	return outcome{Text: &text, Stored: &Stored{Path: path, Chars: t.chars, Bytes: t.bytes}}, nil
}

// keep gives a text its file. A text that was spilled into the directory is not
// written again.
func (f *files) keep(t *text, name string) (string, error) {
	if path, ok, err := f.adopt(t, name); ok || err != nil {
		return path, err
	}
	path, err := f.dir.Write(Dir, name, func(w io.Writer) error {
		_, err := t.WriteTo(w)
		return err
	})
	if err != nil {
		return "", err
	}
	f.drop(t.blocks)
	return path, nil
}

// adopt keeps the file of a text that is spilled as a whole and lies in the directory.
func (f *files) adopt(t *text, name string) (path string, ok bool, err error) {
	if len(t.blocks) != 1 || t.blocks[0].Spilled == nil {
		return "", false, nil
	}
	from := t.blocks[0].Spilled.Path
	if filepath.Dir(from) != filepath.Join(f.dir.Path(), Dir) {
		return "", false, nil
	}
	file, err := os.OpenFile(from, os.O_RDWR, 0) // to be forced to the disk
	if err != nil {
		return "", false, err
	}
	path, err = f.dir.Keep(file, name)
	return path, err == nil, err
}

// renew puts the text of a result that was replaced before back into its file, should
// somebody have removed that.
func (f *files) renew(o outcome, content []abi.Block) {
	if o.Stored != nil && f.dir != nil {
		if _, err := os.Lstat(o.Stored.Path); errors.Is(err, os.ErrNotExist) {
			t := textOf(content)
			if _, err := f.keep(&t, filepath.Base(o.Stored.Path)); err != nil {
				f.log.Warn("a persisted result that is gone could not be written again", "file", o.Stored.Path, "error", err)
			}
		}
	}
	f.drop(content)
}

// drop removes the files of what is spilled of a result that is replaced, or that nobody
// gets. They were the result's alone.
func (f *files) drop(content []abi.Block) {
	for _, path := range spilled(content) {
		if path == "" {
			continue // it was lost on its way
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			f.log.Warn("a result's text was left behind", "file", path, "error", err)
		}
	}
}

// lost tells why a result is cut, and removes what was spilled of it.
func (f *files) lost(r *abi.ToolResult, err error) {
	if !errors.Is(err, errNoDir) {
		f.log.Warn("a result could not be persisted, and was cut", "call", r.ToolUseID, "error", err)
	}
	f.drop(r.Content)
}

// why is the limit that a result was cut for, and what else there is to say.
func why(limit int, err error) string {
	text := fmt.Sprintf("this tool's limit of %d", limit)
	if limit == Unlimited {
		text = fmt.Sprintf("the %d that can be held", DefaultMaxChars)
	}
	if !errors.Is(err, errNoDir) {
		text += ", and all of it could not be written to a file"
	}
	return text
}

// spill makes a place for a text; see [Store.Spill].
func (f *files) spill() (abi.Spill, error) {
	if f.dir == nil {
		return nil, errNoDir
	}
	file, err := f.dir.Temp(Dir)
	if errors.Is(err, sessiondir.ErrClosed) {
		return nil, err
	}
	made := &spill{log: f.log, file: file}
	if err != nil {
		made.fail(err)
	} else {
		made.buffered = bufio.NewWriterSize(file, spillBuffer)
	}
	made.SpillWriter = abi.NewSpillWriter(toFile{made})
	return made, nil
}
