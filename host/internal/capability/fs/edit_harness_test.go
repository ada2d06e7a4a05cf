package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// knowledge is what a session has seen, for one goroutine.
type knowledge map[string]capability.ReadState

func (k knowledge) Seen(path string) (capability.ReadState, bool) { s, ok := k[path]; return s, ok }
func (k knowledge) Shown(path, _ string, s capability.ReadState)  { k[path] = s }
func (k knowledge) Again(string, string, capability.Stamp) bool   { return false }
func (k knowledge) Wrote(path string, s capability.ReadState)     { k[path] = s }
func (k knowledge) Rewrote(string, capability.Stamp)              {}
func (k knowledge) see(tb testing.TB, path string, ranges ...[2]int64) {
	tb.Helper()
	k[path] = readStateOf(tb, path, ranges)
}
func (k knowledge) seen(tb testing.TB, path string) (out []string) {
	tb.Helper()
	text := slurp(tb, path)
	for _, r := range k[path].Ranges {
		if sum := sha256.Sum256([]byte(text[r.From:r.To])); sum != r.Hash {
			tb.Errorf("the hash of %d-%d is not that of %q", r.From, r.To, text[r.From:r.To])
		}
		out = append(out, text[r.From:r.To])
	}
	return out
}

// readStateOf is what a reader of some ranges of a file has seen; without any, of all.
func readStateOf(tb testing.TB, path string, ranges [][2]int64) capability.ReadState {
	tb.Helper()
	n, err := workspace.Resolve("/", path)
	if err != nil {
		tb.Fatal(err)
	}
	defer n.Close()
	s := capability.ReadState{Stamp: n.Info.Stamp()}
	text := slurp(tb, path)
	if ranges == nil {
		ranges = [][2]int64{{0, int64(len(text))}}
	}
	for _, r := range ranges {
		s.Ranges = append(s.Ranges, capability.Range{From: r[0], To: r[1], Hash: sha256.Sum256([]byte(text[r[0]:r[1]]))})
	}
	return s
}

// past is a history that remembers, and fails where it is told to.
type past struct {
	capability.History // for the methods that edits do not call

	kept   []capability.Write
	before []string
	voided []string
	fail   error
	then   func() // called once the former content is kept
}

func (h *past) Keep(_ context.Context, w capability.Write) (string, error) {
	if h.fail != nil {
		return "", h.fail
	}
	text := "<none>"
	if w.Before != nil {
		b, err := io.ReadAll(w.Before)
		if err != nil {
			return "", err
		}
		text = string(b)
	}
	h.kept, h.before = append(h.kept, w), append(h.before, text)
	if h.then != nil {
		h.then()
	}
	return "w1", nil
}

func (h *past) Void(id string) error { h.voided = append(h.voided, id); return nil }

// did is what a write came to.
type did struct {
	abi.WriteOK
	diff string
}

func edit(tb testing.TB, scope capability.Scope, name string, args any, parts ...string) (did, error) {
	tb.Helper()
	return editIn(tb.Context(), tb, scope, name, args, parts...)
}

func editIn(ctx context.Context, tb testing.TB, scope capability.Scope, name string, args any, parts ...string) (did, error) {
	tb.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		tb.Fatal(err)
	}
	req := abi.Request{Name: name, Args: raw}
	for _, p := range parts {
		req.Parts = append(req.Parts, abi.Part{Type: abi.PartText, Data: []byte(p)})
	}
	p, err := New(Options{}).Plan(tb.Context(), scope, req)
	if err != nil {
		return did{}, err
	}
	defer p.Close()
	a, err := p.Do(ctx, all)
	if err != nil {
		return did{}, err
	}
	defer a.Close()
	diff, err := io.ReadAll(a.Body)
	if err != nil || int64(len(diff)) != a.Size {
		tb.Errorf("a body of %d bytes, %d were said; %v", len(diff), a.Size, err)
	}
	ok, _ := a.OK.(abi.WriteOK)
	return did{ok, string(diff)}, nil
}

func slurp(tb testing.TB, path string) string {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func realDir(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

func hexOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
