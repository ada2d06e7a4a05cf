package results

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// store puts the text of a result's content into a file named after the result, and
// returns the preview that takes its place.
func (s *Store) store(c Call, content []abi.Block, id key, shown int) (outcome, error) {
	if s.dir == nil {
		return outcome{}, errNoDir
	}
	name := cmp.Or(sessiondir.Safe(id.ID, 40), "call") + "-" + hex.EncodeToString(id.Content[:8]) + ".txt"
	t := textOf(content)
	path, err := s.keep(&t, name)
	if err != nil {
		return outcome{}, err
	}
	text := preview(&t, path, s.strategy(c), shown)
	return outcome{Text: &text, Stored: &Stored{Path: path, Chars: t.chars, Bytes: t.bytes}}, nil
}

func (s *Store) strategy(c Call) Strategy {
	return cmp.Or(s.options.Tools[c.Tool].Strategy, s.options.Strategy, StrategyStart)
}

// previewLimit is how much a preview shows where a result may count so much.
func previewLimit(limit int) int {
	if limit == Unlimited {
		return PreviewBytes
	}
	return min(limit, PreviewBytes)
}

// cutTo is how much is left of a result that must go and cannot.
func cutTo(limit int) int {
	if limit == Unlimited {
		return DefaultMaxChars
	}
	return limit
}

// keep gives a text its file. A text that was spilled into the directory is not
// written again.
func (s *Store) keep(t *text, name string) (string, error) {
	if path, ok, err := s.adopt(t, name); ok || err != nil {
		return path, err
	}
	path, err := s.dir.Write(Dir, name, func(w io.Writer) error {
		_, err := t.WriteTo(w)
		return err
	})
	if err != nil {
		return "", err
	}
	s.Drop(t.blocks)
	return path, nil
}

// adopt keeps the file of a text that is spilled as a whole and lies in the directory.
func (s *Store) adopt(t *text, name string) (path string, ok bool, err error) {
	if len(t.blocks) != 1 || t.blocks[0].Spilled == nil {
		return "", false, nil
	}
	from := t.blocks[0].Spilled.Path
	if filepath.Dir(from) != filepath.Join(s.dir.Path(), Dir) {
		return "", false, nil
	}
	f, err := os.OpenFile(from, os.O_RDWR, 0) // to be forced to the disk
	if err != nil {
		return "", false, err
	}
	path, err = s.dir.Keep(f, name)
	return path, err == nil, err
}

// renew puts the text of a result that was replaced before back into its file, should
// somebody have removed that.
func (s *Store) renew(o outcome, content []abi.Block) {
	if o.Stored != nil && s.dir != nil {
		if _, err := os.Lstat(o.Stored.Path); errors.Is(err, os.ErrNotExist) {
			t := textOf(content)
			if _, err := s.keep(&t, filepath.Base(o.Stored.Path)); err != nil {
				s.log.Warn("a persisted result that is gone could not be written again", "file", o.Stored.Path, "error", err)
			}
		}
	}
	s.Drop(content)
}

// Drop removes the files of what is spilled of a result that is replaced, or that nobody
// gets. They were the result's alone.
func (s *Store) Drop(content []abi.Block) {
	for _, path := range spilled(content) {
		if path == "" {
			continue // it was lost on its way
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.log.Warn("a result's text was left behind", "file", path, "error", err)
		}
	}
}

// lost tells why a result is cut, and removes what was spilled of it.
func (s *Store) lost(r *abi.ToolResult, err error) {
	if !errors.Is(err, errNoDir) {
		s.log.Warn("a result could not be persisted, and was cut", "call", r.ToolUseID, "error", err)
	}
	s.Drop(r.Content)
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
