package results_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
)

// TestSpilledToldApart has two spilled texts that differ in their middle alone, of
// calls with one id and of calls with two.
func TestSpilledToldApart(t *testing.T) {
	t.Parallel()
	edge := lines("same", abi.SpillKeep)
	texts := []string{edge + "one  " + edge, edge + "other" + edge}
	for name, ids := range map[string][]string{"one id": {"1", "1"}, "two ids": {"1", "2"}} {
		k := keep(t, sessions(t), results.Options{Duplicates: true})
		var rs []abi.ToolResult
		var of []*results.Fitted
		for i, whole := range texts {
			r := abi.ToolResult{ToolUseID: ids[i], Content: []abi.Block{spilled(spill(t, k.Store, whole))}}
			rs, of = append(rs, r), append(of, k.Fit(results.Call{Tool: "T"}, &r))
			rs[i] = r
		}
		before := slices.Clone(rs)
		k.Turn(rs, of)
		if !reflect.DeepEqual(rs, before) {
			t.Errorf("%s: one is taken for the other: %s", name, rs[1].Text())
		}
		for i, whole := range texts {
			if got := slurp(t, of[i].Stored.Path); got != whole {
				t.Errorf("%s: %s is not the text", name, of[i].Stored.Path)
			}
		}
	}
}

// TestFileIsGone has somebody remove the file of a result. What stands for the result
// stays as it was, and a call that answers the same again has its file again.
func TestFileIsGone(t *testing.T) {
	t.Parallel()
	long := lines("x", 2<<20)
	for name, block := range map[string]func(k *bench) abi.Block{
		"held":    func(*bench) abi.Block { return abi.TextBlock(long) },
		"spilled": func(k *bench) abi.Block { return spilled(spill(t, k.Store, long)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := sessions(t)
			k := keep(t, dir, results.Options{})
			check := func(when string, want abi.ToolResult, stored *results.Stored) {
				t.Helper()
				r := abi.ToolResult{ToolUseID: "1", Content: []abi.Block{block(k)}}
				if again := k.Fit(results.Call{Tool: "T"}, &r).Stored; !reflect.DeepEqual(r, want) || *again != *stored {
					t.Errorf("%s: %+v, %.300s", when, again, r.Text())
				}
				if names := inResults(t, k); len(names) != 1 || slurp(t, stored.Path) != long {
					t.Errorf("%s: there are %q", when, names)
				}
			}
			first := abi.ToolResult{ToolUseID: "1", Content: []abi.Block{block(k)}}
			stored := k.Fit(results.Call{Tool: "T"}, &first).Stored
			check("at once", first, stored)
			remove(t, stored.Path)
			if left := []abi.ToolResult{text("1", long)}; name == "held" {
				if k.Turn(left, nil); !reflect.DeepEqual(left[0], first) {
					t.Errorf("evaluated again it is %.300s", left[0].Text())
				}
			}
			check("once it is gone", first, stored)
			k.close()
			k = keep(t, dir, results.Options{MaxChars: 100})
			check("after a restart", first, stored)
			remove(t, stored.Path)
			check("gone after a restart", first, stored)
		})
	}
}

func remove(tb testing.TB, path string) {
	tb.Helper()
	if err := os.Remove(path); err != nil {
		tb.Fatal(err)
	}
}

// TestOddIDs has ids that are no part of a file's name, and too long for a record.
func TestOddIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"", ".", "..", "../../escape", `..\..\escape`, "/etc/passwd", "NUL", "aux.txt", "a\x00b", "\xff\xfe", "\u202e", "CALL", "call",
		strings.Repeat("x", 300_000), strings.Repeat("\x01", 300_000),
	} {
		dir := sessions(t)
		k := keep(t, dir, results.Options{MaxTurnChars: 30_000})
		rs := []abi.ToolResult{text(id, lines("fitted", 60_000)), text(id, lines("turn", 40_000)), text(id, lines("kept", 20_000))}
		whole := slices.Clone(rs)
		if got := indexes(turn(k.Store, results.Call{Tool: "T"}, rs)); !slices.Equal(got, []int{1}) {
			t.Fatalf("%.20q: %v were replaced", id, got)
		}
		names := inResults(t, k)
		if len(names) != 2 {
			t.Errorf("%.20q: there are %q", id, names)
		}
		for _, name := range names {
			if len(name) > 80 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "" {
				t.Errorf("%.20q: %s", id, name)
			}
		}
		k.close()
		k = keep(t, dir, results.Options{MaxTurnChars: 10_000})
		if k.Turn(whole, nil); !reflect.DeepEqual(whole, rs) || k.log.Len() > 0 {
			t.Errorf("%.20q: after a restart they are others; %s", id, k.log)
		}
		k.close()
	}
}

// TestLeftWholeForEver restarts after turns of which nothing was replaced by the
// budget, though they are over it or there is nothing to be gained.
func TestLeftWholeForEver(t *testing.T) {
	t.Parallel()
	note := abi.TextBlock("A hook says: " + strings.Repeat("mind the gap, ", 500))
	tests := map[string]struct {
		call  results.Call
		sizes []int
	}{
		"unlimited, over the budget": {results.Call{Tool: "T", Unlimited: true}, []int{90_000, 90_000, 90_000}},
		"persisted, with a note":     {results.Call{Tool: "T"}, []int{60_000, 5_000}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := sessions(t)
			k := keep(t, dir, results.Options{})
			rs := many("c", test.sizes...)
			of := make([]*results.Fitted, len(rs))
			for i := range rs {
				of[i] = k.Fit(test.call, &rs[i])
				rs[i].Content = append(rs[i].Content, note)
				of[i].Notes = 1
			}
			left := slices.Clone(rs)
			k.Turn(rs, of)
			if !reflect.DeepEqual(left, rs) {
				t.Fatal("something was replaced")
			}
			k.close()
			k = keep(t, dir, results.Options{MaxTurnChars: 4_000})
			if got := k.Turn(rs, nil); !reflect.DeepEqual(left, rs) {
				t.Errorf("after a restart with a smaller budget, %v were replaced", indexes(got))
			}
		})
	}
}

// TestLeftWholeInLargerTurns leaves results whole in a turn that is under its budget,
// evaluates them beside others that are not, and restarts. Only the very same results
// stay whole.
func TestLeftWholeInLargerTurns(t *testing.T) {
	t.Parallel()
	dir := sessions(t)
	k := keep(t, dir, results.Options{})
	small := many("c", 40_000, 38_000)
	small[1].Content = append(small[1].Content, abi.Block{Type: abi.BlockImage, MediaType: "image/png", Data: []byte("x")})
	if got := turn(k.Store, results.Call{Tool: "T"}, small); got != nil {
		t.Fatalf("%v were replaced", indexes(got))
	}
	if got := turn(k.Store, results.Call{Tool: "T"}, small); got != nil {
		t.Fatalf("again, %v were replaced", indexes(got))
	}
	others := many("d", 30_000, 30_000, 30_000, 30_000)
	larger := append(slices.Clone(small), others...)
	if got := indexes(turn(k.Store, results.Call{Tool: "T"}, larger)); !slices.Equal(got, []int{2}) {
		t.Errorf("in a larger turn %v were replaced", got)
	}
	k.close()
	k = keep(t, dir, results.Options{MaxTurnChars: 4_000})
	if got := k.Turn(slices.Clone(small), nil); got != nil {
		t.Errorf("after a restart with a smaller budget, %v were replaced", indexes(got))
	}
}

// TestLeftWholeIsTheVerySame evaluates results that differ in one thing each from one
// that was left whole.
func TestLeftWholeIsTheVerySame(t *testing.T) {
	t.Parallel()
	whole := text("1", lines("x", 40_000))
	whole.Content[0].Title = "title"
	for name, change := range map[string]func(r *abi.ToolResult){
		"another id":      func(r *abi.ToolResult) { r.ToolUseID = "2" },
		"another text":    func(r *abi.ToolResult) { r.Content[0].Text += "." },
		"a failure":       func(r *abi.ToolResult) { r.IsError = true },
		"another block":   func(r *abi.ToolResult) { r.Content = append(r.Content, abi.TextBlock("more")) },
		"another title":   func(r *abi.ToolResult) { r.Content[0].Title = "other" },
		"the other field": func(r *abi.ToolResult) { r.Content[0].Title, r.Content[0].MediaType = "", "title" },
		"data":            func(r *abi.ToolResult) { r.Content[0].Data = []byte("data") },
	} {
		k := keep(t, sessions(t), results.Options{})
		turn(k.Store, results.Call{Tool: "T"}, []abi.ToolResult{whole})
		other := whole
		other.Content = slices.Clone(whole.Content)
		change(&other)
		huge := many("huge", 39_000, 39_000, 39_000, 39_000, 39_000)
		if got := indexes(turn(k.Store, results.Call{Tool: "T"}, append(huge, whole))); slices.Contains(got, 5) || got == nil {
			t.Errorf("%s: of the same %v were replaced", name, got)
		}
		if got := indexes(turn(k.Store, results.Call{Tool: "T"}, append(many("again", 39_000, 39_000, 39_000, 39_000, 39_000), other))); !slices.Contains(got, 5) {
			t.Errorf("%s: of another %v were replaced", name, got)
		}
	}
}

// TestLimitHoldsForWhatWasWhole has a call answer what a turn left whole before, when
// its limit is less.
func TestLimitHoldsForWhatWasWhole(t *testing.T) {
	t.Parallel()
	dir := sessions(t)
	k := keep(t, dir, results.Options{MaxTurnChars: 50_000})
	turn(k.Store, results.Call{Tool: "T"}, many("c", 45_000, 40_000))
	k.close()
	k = keep(t, dir, results.Options{MaxChars: 1_000})
	rs := many("c", 45_000, 40_000)
	for i := range rs {
		if f := k.Fit(results.Call{Tool: "T"}, &rs[i]); f.Stored == nil || len(rs[i].Text()) > 3_000 {
			t.Errorf("%d: %d characters are left", i, chars(rs[i]))
		}
	}
}

// TestUnlimitedCounts has an unlimited result take the room of others.
func TestUnlimitedCounts(t *testing.T) {
	t.Parallel()
	k := keep(t, sessions(t), results.Options{})
	rs := many("c", 150_000, 40_000, 20_000)
	of := make([]*results.Fitted, len(rs))
	for i := range rs {
		of[i] = k.Fit(results.Call{Tool: "T", Unlimited: i == 0}, &rs[i])
	}
	if got := indexes(k.Turn(rs, of)); !slices.Equal(got, []int{1}) {
		t.Errorf("%v were replaced", got)
	}
}

// TestFitTwice fits random texts to random limits, and then what came of them.
func TestFitTwice(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for range 100 {
		limit := 1 + r.IntN(4_000)
		options := results.Options{MaxChars: limit, Strategy: strategies[r.IntN(len(strategies))]}
		whole := randomText(r, r.IntN(3*limit))
		call := results.Call{Tool: "T"}

		k := keep(t, sessions(t), options)
		fitted := text("1", whole)
		f := k.Fit(call, &fitted)
		over := len([]rune(whole)) > limit
		switch {
		case over && (f == nil || f.Stored == nil || slurp(t, f.Stored.Path) != whole):
			t.Fatalf("limit %d: the file is not the text", limit)
		case !over && whole != "" && fitted.Text() != whole:
			t.Fatalf("limit %d: it was changed to %q", limit, fitted.Text())
		}
		if again := again(k.Store, call, fitted); !reflect.DeepEqual(again, fitted) {
			t.Fatalf("limit %d: fitted twice it is %q, not %q", limit, again.Text(), fitted.Text())
		}
		k.close()

		short := without(options)
		fitted = text("1", whole)
		short.Fit(call, &fitted)
		if limit < 400 {
			continue // what is said of it takes more than half of the limit
		}
		if n := chars(fitted); n > limit || n < limit/4 && over {
			t.Fatalf("limit %d: %d characters are left of %q", limit, n, whole)
		}
		if again := again(short, call, fitted); !reflect.DeepEqual(again, fitted) {
			t.Fatalf("limit %d: cut twice it is %q, not %q", limit, again.Text(), fitted.Text())
		}
	}
}

// again fits a result once more.
func again(k *results.Store, call results.Call, r abi.ToolResult) abi.ToolResult {
	r.Content = slices.Clone(r.Content)
	k.Fit(call, &r)
	return r
}

// randomText has characters of all lengths, line ends of both kinds and what
// imitates the end of a preview.
func randomText(r *rand.Rand, n int) string {
	pieces := []string{"a", "a line\n", "a line\r\n", "é", "€", "😀", "\x00", "</persisted-output>", "</PERSISTED-OUTPUT>", "\n", "<persisted-output>\n"}
	pieces = pieces[:1+r.IntN(len(pieces))]
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// TestNotUTF8IsCut has a text that no model can read, and no place to keep it.
func TestNotUTF8IsCut(t *testing.T) {
	t.Parallel()
	r := text("1", strings.Repeat("\x80", 5_000))
	without(results.Options{MaxChars: 1_000}).Fit(results.Call{Tool: "T"}, &r)
	if len(r.Content) != 2 || len([]rune(r.Content[0].Text)) < 500 || strings.Trim(r.Content[0].Text, "\uFFFD") != "" {
		t.Errorf("got %.300q", r.Text())
	}
}

// TestSpillWithoutFile has a place for long texts that cannot be written to: what is
// left of a text is its beginning.
func TestSpillWithoutFile(t *testing.T) {
	t.Parallel()
	dir := sessions(t)
	k := keep(t, dir, results.Options{})
	if err := os.MkdirAll(filepath.Join(dir, "s"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "s", results.Dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := lines("x", 2<<20)
	r := abi.ToolResult{ToolUseID: "1", Content: []abi.Block{spilled(spill(t, k.Store, long))}}
	f := k.Fit(results.Call{Tool: "T"}, &r)
	checkLost(t, k, f, r, long)
}

// checkLost wants the beginning of a text that is not in a file, and a word on it.
func checkLost(t *testing.T, k *bench, f *results.Fitted, r abi.ToolResult, long string) {
	t.Helper()
	if f.Stored != nil || len(r.Content) != 2 || !strings.HasPrefix(long, r.Content[0].Text) || len(r.Content[0].Text) < 40_000 || chars(r) > results.DefaultMaxChars {
		t.Fatalf("stored %+v, %d characters, %.300s", f.Stored, chars(r), r.Text())
	}
	if said := r.Content[1].Text; !strings.Contains(said, "2097152 characters, over this tool's limit of 50000, and all of it could not be written to a file") {
		t.Errorf("it says %s", said)
	}
	if !strings.Contains(k.log.String(), "could not be") {
		t.Errorf("the log says %s", k.log)
	}
}
