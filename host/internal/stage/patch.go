package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/ondisk"
)

// Note is what there is to say of a file beside a patch.
type Note struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	// Left says that the patch does not tell of the file, and Same that it has nothing to
	// tell, as the file holds this already. Else the file is not what it was when it was
	// staged: the patch is to what it is now.
	Left bool `json:"left,omitempty"`
	Same bool `json:"same,omitempty"`
}

// Patch writes what applying a selection would change as a patch that git apply takes
// in the directory of the options. It returns the files that there is something to say
// of: those that are left out, as they lie elsewhere or have over 64 MiB, those that
// changed since they were staged, and those that hold what is staged already.
func (s *Store) Patch(ctx context.Context, w io.Writer, sel Selection, o history.PatchOptions) ([]Note, error) {
	list, err := s.List(sel)
	if err == nil && len(list) == 0 {
		err = ErrNothing
	}
	if err != nil {
		return nil, err
	}
	var notes []Note
	for i := range list {
		e := &list[i]
		text, changed, err := patch(ctx, &s.contents, e, o)
		if ctx.Err() != nil {
			return notes, context.Cause(ctx)
		}
		if err != nil {
			notes = append(notes, Note{Path: e.Path, Why: err.Error(), Left: true})
			continue
		}
		if text == nil {
			notes = append(notes, Note{Path: e.Path, Why: "it holds what is staged already", Same: true})
		}
		if changed != nil {
			notes = append(notes, Note{Path: e.Path, Why: changed.Error()})
		}
		if _, err := w.Write(text); err != nil {
			return notes, err
		}
	}
	return notes, nil
}

// patch is the change of one file, nil where there is none, and how the file is not what
// it was.
func patch(ctx context.Context, staged *contents, e *Entry, o history.PatchOptions) (text []byte, changed, err error) {
	d, err := ondisk.Look(ctx, e.Path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if d.Content.Same(&e.Content) {
		return nil, nil, nil // applying it would change nothing
	}
	if e.Content.Size > history.MaxPatched || d.Content != nil && d.Content.Size > history.MaxPatched {
		return nil, nil, fmt.Errorf("it is over %d MiB", history.MaxPatched>>20)
	}
	c := history.FileChange{Path: e.Path, Exists: true}
	if d.Content != nil {
		c.Existed, c.Mode = true, d.Content.Mode
		if c.Before, err = io.ReadAll(io.LimitReader(d.Reader(), d.Content.Size)); err != nil {
			return nil, nil, err
		}
	}
	var after bytes.Buffer
	if err := staged.copyTo(ctx, &after, e); err != nil {
		return nil, nil, err
	}
	c.After = after.Bytes()
	text, err = c.Patch(o)
	return text, e.unchanged(d.Content), err
}
