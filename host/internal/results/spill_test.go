package results_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
)

// spill writes a text to a spill of the store's.
func spill(tb testing.TB, k *results.Store, pieces ...string) *abi.Spilled {
	tb.Helper()
	s, err := k.Spill()
	if err != nil {
		tb.Fatal(err)
	}
	for _, piece := range pieces {
		if n, err := io.WriteString(s, piece); n != len(piece) || err != nil {
			tb.Fatal(n, err)
		}
	}
	done, err := s.Done()
	if err != nil {
		tb.Fatal(err)
	}
	return done
}

func spilled(s *abi.Spilled) abi.Block { return abi.Block{Type: abi.BlockText, Spilled: s} }

// inResults lists the files that results lie in.
func inResults(tb testing.TB, k *bench) []string {
	tb.Helper()
	entries, err := os.ReadDir(filepath.Join(k.dir.Path(), results.Dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSpilled(t *testing.T) {
	t.Parallel()
	long := lines("x", 2<<20)
	elsewhere := filepath.Join(t.TempDir(), "spilled")
	tests := map[string]struct {
		call   results.Call
		blocks func(tb testing.TB, k *results.Store) []abi.Block
		want   string // in the file
	}{
		"alone": {results.Call{}, func(tb testing.TB, k *results.Store) []abi.Block {
			tb.Helper()
			return []abi.Block{spilled(spill(tb, k, long))}
		}, long},
		"unlimited": {results.Call{Unlimited: true}, func(tb testing.TB, k *results.Store) []abi.Block {
			tb.Helper()
			return []abi.Block{spilled(spill(tb, k, long))}
		}, long},
		"short": {results.Call{}, func(tb testing.TB, k *results.Store) []abi.Block {
			tb.Helper()
			return []abi.Block{spilled(spill(tb, k, "short"))}
		}, "short"},
		"between others": {results.Call{}, func(tb testing.TB, k *results.Store) []abi.Block {
			tb.Helper()
			return []abi.Block{abi.TextBlock("before"), spilled(spill(tb, k, long)), abi.TextBlock("after"), spilled(spill(tb, k, "end"))}
		}, "before\n" + long + "after\nend"},
		"not UTF-8": {results.Call{}, func(tb testing.TB, k *results.Store) []abi.Block {
			tb.Helper()
			return []abi.Block{spilled(spill(tb, k, "a\xffb", long, "\xfe"))}
		}, "a\xffb" + long + "\xfe"},
		"elsewhere": {results.Call{}, func(tb testing.TB, _ *results.Store) []abi.Block {
			tb.Helper()
			if err := os.WriteFile(elsewhere, []byte(long), 0o600); err != nil {
				tb.Fatal(err)
			}
			return []abi.Block{spilled(&abi.Spilled{Path: elsewhere, Bytes: int64(len(long)), Chars: int64(len(long)), Head: long[:5000], Tail: long[len(long)-5000:]})}
		}, long},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := keep(t, sessions(t), results.Options{Strategy: results.StrategyBoth})
			r := abi.ToolResult{ToolUseID: "1", Content: test.blocks(t, k.Store)}
			f := k.Fit(test.call, &r)
			if f == nil || f.Stored == nil {
				t.Fatal("it was not persisted")
			}
			if got := slurp(t, f.Stored.Path); got != test.want || f.Stored.Bytes != int64(len(got)) || f.Stored.Chars != int64(len([]rune(got))) {
				t.Errorf("the file has %d bytes; %+v", len(got), f.Stored)
			}
			if len(r.Content) != 1 || r.Content[0].Spilled != nil || !strings.HasPrefix(r.Text(), "<persisted-output>") {
				t.Errorf("got %+v", r.Content)
			}
			if names := inResults(t, k); len(names) != 1 || filepath.Join(k.dir.Path(), results.Dir, names[0]) != f.Stored.Path {
				t.Errorf("there are %q", names)
			}
			if _, err := os.Lstat(elsewhere); name == "elsewhere" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("its first file is left: %v", err)
			}
		})
	}
}

func TestSpilledHead(t *testing.T) {
	t.Parallel()
	k := keep(t, sessions(t), results.Options{Strategy: results.StrategyBoth})
	r := abi.ToolResult{ToolUseID: "1", Content: []abi.Block{spilled(spill(t, k.Store, lines("first", 1<<20), lines("last", 1<<20)))}}
	k.Fit(results.Call{Tool: "Bash"}, &r)
	golden(t, "spilled", r.Text(), k.dir)
}

// TestDiscardedSpills leaves nothing behind.
func TestDiscardedSpills(t *testing.T) {
	t.Parallel()
	dir := sessions(t)
	k := keep(t, dir, results.Options{})
	for name, do := range map[string]func(s abi.Spill){
		"at once":    func(s abi.Spill) { s.Discard() },
		"after Done": func(s abi.Spill) { _, _ = s.Done(); s.Discard() },
		"twice":      func(s abi.Spill) { s.Discard(); s.Discard() },
	} {
		s, err := k.Spill()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
			t.Fatal(err)
		}
		do(s)
		if names := inResults(t, k); len(names) > 0 {
			t.Errorf("%s: %q is left", name, names)
		}
	}
	s, err := k.Spill()
	if err != nil {
		t.Fatal(err)
	}
	s.Discard()
	if _, err := s.Done(); err == nil {
		t.Error("what was discarded can be done")
	}
	spill(t, k.Store, "nobody's")
	k.close()
	if names := inResults(t, k); len(names) > 0 {
		t.Errorf("the session's end leaves %q", names)
	}
	if _, err := k.Spill(); err == nil {
		t.Error("a session that is over takes texts")
	}
	if _, err := without(results.Options{}).Spill(); err == nil {
		t.Error("without a directory there is a place")
	}
}

// TestSpilledIsCut has no directory to keep a text in that somebody spilled.
func TestSpilledIsCut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spilled")
	long := lines("x", 300_000)
	if err := os.WriteFile(path, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, unlimited := range []bool{true, false} {
		r := abi.ToolResult{ToolUseID: "1", Content: []abi.Block{spilled(&abi.Spilled{Path: path, Bytes: 300_000, Chars: 300_000, Head: long[:abi.SpillKeep], Tail: long[len(long)-abi.SpillKeep:]})}}
		f := without(results.Options{}).Fit(results.Call{Tool: "T", Unlimited: unlimited}, &r)
		if n := len(r.Content); f.Stored != nil || n != 2 || len(r.Content[0].Text) > 50_000 || len(r.Content[0].Text) < 40_000 || !strings.HasPrefix(long, r.Content[0].Text) || !strings.Contains(r.Content[1].Text, "300000 characters, over") {
			t.Errorf("%d blocks, %.300s", n, r.Text())
		}
		if slices.ContainsFunc(r.Content, func(b abi.Block) bool { return b.Spilled != nil }) {
			t.Error("a spilled text is left")
		}
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its file is left: %v", err)
	}
}
