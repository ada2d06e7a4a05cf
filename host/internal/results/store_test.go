package results_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

var update = flag.Bool("update", false, "write the golden files anew")

// bench is a session's store with its directory.
type bench struct {
	*results.Store
	dir *sessiondir.Dir
	log *bytes.Buffer
}

// keep opens the store of the session "s" in a directory.
func keep(tb testing.TB, dir string, o results.Options) *bench {
	tb.Helper()
	b := &bench{log: new(bytes.Buffer)}
	log := slog.New(slog.NewTextHandler(b.log, nil))
	var err error
	if b.dir, err = sessiondir.Open(dir, "s", log); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.close)
	b.Store = results.New(o, b.dir, log)
	return b
}

func (b *bench) close() { _ = b.dir.Close() }

// without is a store without a directory.
func without(o results.Options) *results.Store {
	return results.New(o, nil, slog.New(slog.DiscardHandler))
}

func sessions(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "sessions")
}

func text(id, s string) abi.ToolResult {
	return abi.ToolResult{ToolUseID: id, Content: []abi.Block{abi.TextBlock(s)}}
}

// lines is a text of so many characters in numbered lines, which no two seeds share.
func lines(seed string, n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%s line %d: the quick brown fox\n", seed, i)
	}
	return b.String()[:n-1] + "\n"
}

func chars(rs ...abi.ToolResult) int {
	n := 0
	for _, r := range rs {
		for _, b := range r.Content {
			n += results.Measure(b)
		}
	}
	return n
}

func slurp(tb testing.TB, path string) string {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// golden compares a text with a file of testdata. Paths of the session's directory are
// made to look the same everywhere.
func golden(tb testing.TB, name, got string, f *sessiondir.Dir) {
	tb.Helper()
	if f != nil {
		got = strings.ReplaceAll(got, f.Path(), "/SESSION")
	}
	got = strings.ReplaceAll(got, "\r", `\r`) // a checkout may change line endings
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			tb.Fatal(err)
		}
	}
	if want := slurp(tb, path); got != want {
		tb.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		block abi.Block
		want  int
	}{
		"text":          {abi.TextBlock("héllo 😀"), 7},
		"not UTF-8":     {abi.TextBlock("a\xff\xfeb"), 4},
		"spilled":       {abi.Block{Type: abi.BlockText, Spilled: &abi.Spilled{Chars: 12345, Bytes: 99999}}, 12345},
		"small image":   {abi.Block{Type: abi.BlockImage, Data: make([]byte, 10)}, results.ImageChars},
		"large image":   {abi.Block{Type: abi.BlockImage, Data: make([]byte, 1<<20)}, results.ImageChars},
		"PDF":           {abi.Block{Type: abi.BlockDocument, MediaType: "application/pdf", Data: make([]byte, 8000)}, 1000},
		"text document": {abi.Block{Type: abi.BlockDocument, MediaType: "text/plain", Data: []byte("héllo")}, 5},
		"reference":     {abi.Block{Type: abi.BlockToolReference, ToolName: "Grep"}, 4},
	}
	for name, test := range tests {
		if got := results.Measure(test.block); got != test.want {
			t.Errorf("%s: %d, not %d", name, got, test.want)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	image := abi.Block{Type: abi.BlockImage, MediaType: "image/png", Data: []byte("x")}
	padded := []abi.Block{abi.TextBlock("(T completed with no output)")}
	said := abi.TextBlock(`{"a":1}`)
	tests := map[string]struct {
		content    []abi.Block
		structured string
		want       []abi.Block
	}{
		"nothing":                   {nil, "", padded},
		"empty texts":               {[]abi.Block{abi.TextBlock(""), abi.TextBlock("")}, "", padded},
		"an empty text beside more": {[]abi.Block{abi.TextBlock("a"), abi.TextBlock(""), image}, "", []abi.Block{abi.TextBlock("a"), image}},
		"an image":                  {[]abi.Block{image}, "", []abi.Block{image}},
		"structured":                {nil, `{"a":1}`, []abi.Block{said}},
		"structured and text":       {[]abi.Block{abi.TextBlock("a is 1")}, `{"a":1}`, []abi.Block{abi.TextBlock("a is 1")}},
		"structured and an image":   {[]abi.Block{image}, `{"a":1}`, []abi.Block{image}},
		"a space":                   {[]abi.Block{abi.TextBlock(" ")}, "", []abi.Block{abi.TextBlock(" ")}},
	}
	for name, test := range tests {
		r := abi.ToolResult{ToolUseID: "1", Content: slices.Clone(test.content), Structured: json.RawMessage(test.structured)}
		given := slices.Clone(r.Content)
		handed := r.Content
		without(results.Options{}).Fit(results.Call{Tool: "T"}, &r)
		if !reflect.DeepEqual(r.Content, test.want) {
			t.Errorf("%s: %+v", name, r.Content)
		}
		if !reflect.DeepEqual(handed, given) {
			t.Errorf("%s: the tool's own list was changed", name)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options results.Options
		call    results.Call
		limit   int // the longest text that is left alone
	}{
		"all":                     {results.Options{}, results.Call{}, results.DefaultMaxChars},
		"the tool's":              {results.Options{}, results.Call{MaxChars: 100}, 100},
		"the tool's is larger":    {results.Options{}, results.Call{MaxChars: 60_000}, results.DefaultMaxChars},
		"less for all":            {results.Options{MaxChars: 200}, results.Call{}, 200},
		"more for all":            {results.Options{MaxChars: 70_000}, results.Call{MaxChars: 60_000}, 60_000},
		"none for all":            {results.Options{MaxChars: results.Unlimited}, results.Call{MaxChars: 60_000}, 60_000},
		"the operator's":          {results.Options{Tools: map[string]results.ToolOptions{"T": {MaxChars: 300}}}, results.Call{MaxChars: 200}, 300},
		"the operator's, smaller": {results.Options{Tools: map[string]results.ToolOptions{"T": {MaxChars: 100}}}, results.Call{MaxChars: 200, Unlimited: true}, 100},
		"the operator's, larger":  {results.Options{Tools: map[string]results.ToolOptions{"T": {MaxChars: 90_000}}}, results.Call{}, 90_000},
		"another tool's":          {results.Options{Tools: map[string]results.ToolOptions{"U": {MaxChars: 100}}}, results.Call{MaxChars: 200}, 200},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := keep(t, sessions(t), test.options)
			test.call.Tool = "T"
			for _, unit := range []string{"x", "é", "😀"} {
				whole := strings.Repeat(unit, test.limit)
				r := text("a", whole)
				if f := k.Fit(test.call, &r); f != nil && f.Stored != nil || r.Text() != whole {
					t.Errorf("%d %s: it was persisted", test.limit, unit)
				}
				r = text("b", whole+"y")
				f := k.Fit(test.call, &r)
				if f == nil || f.Stored == nil {
					t.Fatalf("%d %s: it was not persisted", test.limit+1, unit)
				}
				if got := slurp(t, f.Stored.Path); got != whole+"y" {
					t.Errorf("the file has %d bytes", len(got))
				}
				want := results.Stored{Path: f.Stored.Path, Chars: int64(test.limit + 1), Bytes: int64(len(whole) + 1)}
				if *f.Stored != want || !strings.Contains(r.Text(), f.Stored.Path) {
					t.Errorf("%+v, %s", f.Stored, r.Text())
				}
			}
		})
	}
	unlimited := map[string]struct {
		options results.Options
		call    results.Call
	}{
		"the tool":     {results.Options{}, results.Call{Unlimited: true, MaxChars: 10}},
		"the operator": {results.Options{Tools: map[string]results.ToolOptions{"": {MaxChars: results.Unlimited}}}, results.Call{MaxChars: 10}},
		"all":          {results.Options{MaxChars: results.Unlimited}, results.Call{}},
		"all, below":   {results.Options{MaxChars: -7, MaxTurnChars: -7}, results.Call{}},
		"below":        {results.Options{Tools: map[string]results.ToolOptions{"": {MaxChars: -7}}}, results.Call{MaxChars: 10}},
	}
	for name, test := range unlimited {
		k := keep(t, sessions(t), test.options)
		r := text("a", strings.Repeat("x", 300_000))
		f := k.Fit(test.call, &r)
		rs := []abi.ToolResult{r}
		if name != "all" {
			k.Turn(rs, []*results.Fitted{f})
		}
		if f == nil || f.Stored != nil || len(rs[0].Text()) != 300_000 {
			t.Errorf("%s: it has %d characters", name, len(rs[0].Text()))
		}
	}
}

// TestTexts compares what models see with golden files.
func TestTexts(t *testing.T) {
	t.Parallel()
	long := lines("first", 60_000)
	tests := map[string]struct {
		options results.Options
		call    results.Call
		result  abi.ToolResult
	}{
		"start":     {results.Options{}, results.Call{Tool: "Bash"}, text("toolu_01", long)},
		"end":       {results.Options{Strategy: results.StrategyEnd}, results.Call{Tool: "Bash"}, text("toolu_01", long)},
		"both":      {results.Options{Strategy: results.StrategyEnd, Tools: map[string]results.ToolOptions{"Bash": {Strategy: results.StrategyBoth}}}, results.Call{Tool: "Bash"}, text("toolu_01", long)},
		"one line":  {results.Options{}, results.Call{Tool: "Bash"}, text("../odd id/…", strings.Repeat("x", 50_001))},
		"CRLF":      {results.Options{}, results.Call{Tool: "T", MaxChars: 90}, text("1", strings.Repeat("a line\r\n", 2000))},
		"no id":     {results.Options{}, results.Call{Tool: "T", MaxChars: 90}, text("", strings.Repeat("a line\n", 2000))},
		"structure": {results.Options{}, results.Call{Tool: "T", MaxChars: 500}, abi.ToolResult{ToolUseID: "1", Structured: json.RawMessage(`{"list":[` + strings.Repeat("1,", 500) + `1]}`)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := keep(t, sessions(t), test.options)
			k.Fit(test.call, &test.result)
			golden(t, strings.ReplaceAll(name, " ", "_"), test.result.Text(), k.dir)
		})
	}
	t.Run("cut", func(t *testing.T) {
		t.Parallel()
		r := text("1", lines("first", 1_000))
		without(results.Options{}).Fit(results.Call{Tool: "T", MaxChars: 200}, &r)
		golden(t, "cut", r.Text(), nil)
	})
	t.Run("cut_turn", func(t *testing.T) {
		t.Parallel()
		rs := []abi.ToolResult{text("1", lines("first", 9_000)), text("2", lines("second", 8_000))}
		without(results.Options{MaxTurnChars: 12_000}).Turn(rs, nil)
		golden(t, "cut_turn", rs[0].Text(), nil)
		if rs[1].Text() != lines("second", 8_000) {
			t.Error("more was cut than needed")
		}
	})
}

// TestBesideText keeps what is no text beside a text that is persisted.
func TestBesideText(t *testing.T) {
	t.Parallel()
	image := abi.Block{Type: abi.BlockImage, MediaType: "image/png", Data: []byte("x")}
	document := abi.Block{Type: abi.BlockDocument, MediaType: "application/pdf", Data: []byte("y")}
	r := abi.ToolResult{ToolUseID: "1", Content: []abi.Block{image, abi.TextBlock(strings.Repeat("a", 30_000)), document, abi.TextBlock(strings.Repeat("b", 30_000) + "\n"), abi.TextBlock("c")}}
	k := keep(t, sessions(t), results.Options{})
	given := slices.Clone(r.Content)
	handed := r.Content
	f := k.Fit(results.Call{Tool: "T"}, &r)
	if want := strings.Repeat("a", 30_000) + "\n" + strings.Repeat("b", 30_000) + "\nc"; f.Stored == nil || slurp(t, f.Stored.Path) != want {
		t.Fatalf("stored %+v", f.Stored)
	}
	if len(r.Content) != 3 || !reflect.DeepEqual(r.Content[0], image) || r.Content[1].Type != abi.BlockText || !reflect.DeepEqual(r.Content[2], document) {
		t.Errorf("got %+v", r.Content)
	}
	if !reflect.DeepEqual(handed, given) {
		t.Error("the tool's own list was changed")
	}
	// Images alone are left, however many; a short text among them is no help.
	images := slices.Repeat([]abi.Block{image}, 20)
	for name, content := range map[string][]abi.Block{"images": images, "images and a caption": append(slices.Clone(images), abi.TextBlock("a caption"))} {
		r := abi.ToolResult{ToolUseID: "2", Content: slices.Clone(content)}
		if f := k.Fit(results.Call{Tool: "T"}, &r); f.Stored != nil || !reflect.DeepEqual(r.Content, content) {
			t.Errorf("%s: %+v", name, r.Content)
		}
	}
	r = abi.ToolResult{ToolUseID: "3", Content: append(slices.Clone(images), abi.TextBlock(strings.Repeat("c", 20_000)))}
	if f := k.Fit(results.Call{Tool: "T"}, &r); f.Stored == nil || len(r.Content) != 21 {
		t.Errorf("images and a long text: %+v", f.Stored)
	}
}

// TestCounter counts as an embedder says.
func TestCounter(t *testing.T) {
	t.Parallel()
	tokens := func(b abi.Block) int { return (len(b.Text) + 3) / 4 }
	k := keep(t, sessions(t), results.Options{MaxChars: 1_000, MaxTurnChars: 3_000, Measure: tokens})
	r := text("1", strings.Repeat("x", 4_000))
	if f := k.Fit(results.Call{Tool: "T"}, &r); f.Stored != nil {
		t.Error("4,000 characters are 1,000 tokens, which is not over the limit")
	}
	r = text("2", strings.Repeat("x", 4_001))
	if f := k.Fit(results.Call{Tool: "T"}, &r); f.Stored == nil {
		t.Error("1,001 tokens were let pass")
	}
}

// turn fits the results of a turn as a session does.
func turn(k *results.Store, call results.Call, rs []abi.ToolResult) []results.Replacement {
	of := make([]*results.Fitted, len(rs))
	for i := range rs {
		of[i] = k.Fit(call, &rs[i])
	}
	return k.Turn(rs, of)
}

func many(prefix string, sizes ...int) []abi.ToolResult {
	var rs []abi.ToolResult
	for i, n := range sizes {
		id := fmt.Sprint(prefix, i)
		rs = append(rs, text(id, lines(id, n)))
	}
	return rs
}

func indexes(replaced []results.Replacement) []int {
	var out []int
	for _, r := range replaced {
		out = append(out, r.Index)
	}
	return out
}

func TestTurn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sizes []int
		call  results.Call
		want  []int
	}{
		"within":                     {[]int{50_000, 50_000, 50_000, 50_000}, results.Call{}, nil},
		"one over":                   {[]int{50_000, 50_000, 50_000, 49_999, 2}, results.Call{}, []int{0}},
		"the longest first":          {[]int{40_000, 49_000, 41_000, 50_000, 45_000}, results.Call{}, []int{3}},
		"two":                        {slices.Repeat([]int{48_000}, 6), results.Call{}, []int{0, 1}},
		"unlimited ones never":       {[]int{90_000, 90_000, 90_000}, results.Call{Unlimited: true}, nil},
		"what was persisted already": {[]int{49_000, 49_000, 51_000, 49_000, 49_000, 2_900}, results.Call{}, []int{0}},
		"no results":                 {nil, results.Call{}, nil},
		"short ones never":           {slices.Repeat([]int{2_900}, 100), results.Call{}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := keep(t, sessions(t), results.Options{})
			test.call.Tool = "T"
			rs := many("c", test.sizes...)
			whole := slices.Clone(rs)
			replaced := turn(k.Store, test.call, rs)
			if got := indexes(replaced); !slices.Equal(got, test.want) {
				t.Errorf("%v were replaced", got)
			}
			for _, r := range replaced {
				if slurp(t, r.Stored.Path) != whole[r.Index].Text() {
					t.Errorf("the file of %d is not its text", r.Index)
				}
			}
		})
	}
}

// TestTenOfForty is ten results of 40,000 characters.
func TestTenOfForty(t *testing.T) {
	t.Parallel()
	k := keep(t, sessions(t), results.Options{})
	rs := many("c", slices.Repeat([]int{40_000}, 10)...)
	whole := slices.Clone(rs)
	if got := indexes(turn(k.Store, results.Call{Tool: "T"}, rs)); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("%v were replaced", got)
	}
	if n := chars(rs...); n > results.DefaultMaxTurnChars {
		t.Errorf("they have %d characters", n)
	}
	again := slices.Clone(whole)
	k.Turn(again, nil)
	if !reflect.DeepEqual(again, rs) {
		t.Error("evaluated again, they are others")
	}
}

// TestNotes keeps what hooks and hints add, whatever becomes of the answer.
func TestNotes(t *testing.T) {
	t.Parallel()
	k := keep(t, sessions(t), results.Options{MaxTurnChars: 10_000})
	rs := many("c", 60_000, 9_000)
	of := make([]*results.Fitted, len(rs))
	note := abi.TextBlock("A hook says: mind " + strings.Repeat("the gap, ", 500))
	for i := range rs {
		of[i] = k.Fit(results.Call{Tool: "T"}, &rs[i])
		rs[i].Content = append(rs[i].Content, note)
		of[i].Notes = 1
	}
	left := slices.Clone(rs)
	if got := indexes(k.Turn(rs, of)); !slices.Equal(got, []int{1}) {
		t.Errorf("%v were replaced", got)
	}
	for _, r := range rs {
		if n := len(r.Content); n != 2 || r.Content[1].Text != note.Text || !strings.HasPrefix(r.Content[0].Text, "<persisted-output>") {
			t.Errorf("got %.300s", r.Text())
		}
	}
	k.Turn(left, nil)
	if !reflect.DeepEqual(left, rs) {
		t.Error("evaluated again, they are others")
	}
}

func TestHammer(t *testing.T) {
	t.Parallel()
	k := keep(t, sessions(t), results.Options{Duplicates: true, MaxTurnChars: 30_000})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 5 {
				rs := many(fmt.Sprintf("%d-%d-", i, j), 60_000, 20_000, 2_000, 20_000)
				sent := slices.Clone(rs)
				turn(k.Store, results.Call{Tool: "T"}, sent)
				k.Turn(rs[1:], nil)
				if !reflect.DeepEqual(rs[1:], sent[1:]) {
					t.Error("evaluated again, they are others")
				}
			}
		})
	}
	all.Wait()
}

// TestCannotPersist has no place for a text: it is cut, and the log says why.
func TestCannotPersist(t *testing.T) {
	t.Parallel()
	dir := sessions(t)
	k := keep(t, dir, results.Options{MaxTurnChars: 60_000})
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "s"), 0o700), os.Chmod(dir, 0o700), os.WriteFile(filepath.Join(dir, "s", results.Dir), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	rs := many("c", 51_000, 40_000)
	if got := indexes(turn(k.Store, results.Call{Tool: "T"}, rs)); !slices.Equal(got, []int{0}) {
		t.Errorf("%v were replaced", got)
	}
	if !strings.Contains(k.log.String(), "could not be persisted") || !strings.Contains(rs[0].Text(), "the results of this turn together are over their limit of 60000") {
		t.Errorf("%s\n%s", rs[0].Text(), k.log)
	}
	again := slices.Clone(rs)
	k.Turn(again, nil)
	if !reflect.DeepEqual(again, rs) {
		t.Error("evaluated again, they are others")
	}
}
