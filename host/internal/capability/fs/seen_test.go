package fs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
)

// notes keeps what it is told, as a session would.
type notes struct {
	told  []capability.ReadState
	views []string
	again bool
	asked int
}

func (n *notes) Seen(string) (capability.ReadState, bool) { return capability.ReadState{}, false }

func (n *notes) Shown(_, view string, s capability.ReadState) {
	n.told, n.views = append(n.told, s), append(n.views, view)
}

func (n *notes) Again(_, _ string, _ capability.Stamp) bool { n.asked++; return n.again }

func (n *notes) Wrote(string, capability.ReadState) {}

func (n *notes) Rewrote(string, capability.Stamp) {}

// readShown reads for a model, and reads the body to its end.
func readShown(tb testing.TB, scope capability.Scope, args abi.ReadArgs) (abi.ReadOK, string) {
	tb.Helper()
	args.Shown = true
	raw, err := json.Marshal(args)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := New(Options{}).Plan(tb.Context(), scope, abi.Request{Name: abi.CapFSRead, Args: raw})
	if err != nil {
		tb.Fatal(err)
	}
	defer p.Close()
	a, err := p.Do(tb.Context(), all)
	if err != nil {
		tb.Fatal(err)
	}
	defer a.Close()
	ok, _ := a.OK.(abi.ReadOK)
	if a.Body == nil {
		return ok, ""
	}
	body, err := io.ReadAll(a.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return ok, string(body)
}

// rangesOf is what of a text in an encoding a read shows, line by line, by the
// plainest means.
func rangesOf(e encoding, text string, ok *abi.LinesOK, a abi.LineArgs) (out []capability.Range, raw string) {
	raw = encoded(e, text)
	at, n := int64(len(boms[e])), int64(0)
	for line := range strings.SplitAfterSeq(text, "\n") {
		size := int64(len(encoded(e, line)) - len(boms[e]))
		n++
		bare := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		shown := size
		if a.MaxLine > 0 && int64(utf8.RuneCountInString(bare)) > a.MaxLine {
			shown = int64(len(encoded(e, string([]rune(bare)[:a.MaxLine]))) - len(boms[e]))
		}
		if n >= ok.First && n < ok.First+ok.Count && shown > 0 {
			from := at
			if n == 1 {
				from = 0
			}
			if last := len(out) - 1; last >= 0 && out[last].To == from {
				out[last].To = at + shown
			} else {
				out = append(out, capability.Range{From: from, To: at + shown})
			}
		}
		at += size
	}
	for i, r := range out {
		out[i].Hash = sha256.Sum256([]byte(raw[r.From:r.To]))
	}
	return out, raw
}

// TestSeenRanges holds what is counted as seen to what was shown, byte for byte.
func TestSeenRanges(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 1))
	dir := t.TempDir()
	for i := range 300 {
		e := encodings[i%len(encodings)]
		var b strings.Builder
		for range random.IntN(40) {
			fmt.Fprint(&b, strings.Repeat([]string{"x", "ä", "ab"}[random.IntN(3)], random.IntN(12)), []string{"\n", "\r\n", "\n\n"}[random.IntN(3)])
		}
		text := b.String() + []string{"", "end", "ü"}[random.IntN(3)]
		if i >= 300-len(encodings) { // once in every encoding
			text = strings.Repeat("long ", chunkSize/4) + "\n" + text + strings.Repeat("more\n", chunkSize/100)
		}
		if e == latin1 {
			text = "ü" + text
		}
		a := abi.LineArgs{Offset: random.Int64N(12), Limit: random.Int64N(30), MaxLine: random.Int64N(12), MaxChars: random.Int64N(200)}
		write(t, dir, "f", encoded(e, text))
		files := &notes{}
		ok, _ := readShown(t, capability.Scope{Cwd: dir, Files: files}, abi.ReadArgs{Path: "f", Lines: &a})
		want, raw := rangesOf(e, text, ok.Lines, a)
		var got []capability.Range
		if len(files.told) > 0 {
			got = files.told[0].Ranges
			if size := files.told[0].Stamp.Size; size != int64(len(raw)) {
				t.Errorf("the stamp says %d bytes of %d", size, len(raw))
			}
		}
		// A line that follows a byte order mark and is not shown leaves the mark.
		if e.bom() > 0 && len(got) > 0 && got[0].To == int64(e.bom()) {
			got = got[1:]
		}
		if len(want) <= maxRanges && !slices.Equal(got, want) {
			t.Fatalf("%v, %+v of %.300q: %v; want %v", e, a, text, got, want)
		}
	}
}

func TestSeenOfInvalidText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "\xef\xbb\xbfa\nb\xff\nc\n"
	write(t, dir, "f", text)
	files := &notes{}
	readShown(t, capability.Scope{Cwd: dir, Files: files}, abi.ReadArgs{Path: "f", Lines: &abi.LineArgs{}})
	want := []capability.Range{{From: 0, To: 5}, {From: 8, To: 10}}
	for i, r := range want {
		want[i].Hash = sha256.Sum256([]byte(text[r.From:r.To]))
	}
	if got := files.told[0].Ranges; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestManySeenRanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "f", strings.Repeat("a\nlong\n", 3*maxRanges))
	files := &notes{}
	readShown(t, capability.Scope{Cwd: dir, Files: files}, abi.ReadArgs{Path: "f", Lines: &abi.LineArgs{MaxLine: 2}})
	if got := files.told[0].Ranges; len(got) != maxRanges || got[maxRanges-1].To != 7*(maxRanges-1)+4 {
		t.Errorf("%d ranges, the last %+v", len(got), got[len(got)-1])
	}
}

func TestSeenWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, text := range []string{"", "\n", "a", "a\r\nb", "\xef\xbb\xbf", "\xef\xbb\xbfa\n", encoded(utf16LE, "a\nb")} {
		path := write(t, dir, "f", text)
		long := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
		for _, args := range []abi.ReadArgs{{Path: "f", Lines: &abi.LineArgs{}}, {Path: "f"}} {
			files := &notes{}
			readShown(t, capability.Scope{Cwd: dir, Files: files}, args)
			if len(files.told) != 1 || !files.told[0].Whole() || files.told[0].Stamp.Size != int64(len(text)) {
				t.Errorf("%q, %+v: %+v", text, args, files.told)
			}
		}
	}
}

func TestSeenBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "f", "0123456789")
	files := &notes{}
	_, body := readShown(t, capability.Scope{Cwd: dir, Files: files}, abi.ReadArgs{Path: "f", Offset: 2, Length: 3})
	want := capability.Range{From: 2, To: 5, Hash: sha256.Sum256([]byte("234"))}
	if body != "234" || len(files.told) != 1 || !slices.Equal(files.told[0].Ranges, []capability.Range{want}) {
		t.Errorf("%q, %+v", body, files.told)
	}
}

func TestNothingSeen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "f", "text\n")
	lines := &abi.LineArgs{}
	for name, c := range map[string]struct {
		args     abi.ReadArgs
		rehearse bool
	}{
		"a rehearsal":           {abi.ReadArgs{Path: "f", Lines: lines}, true},
		"a rehearsal, by bytes": {abi.ReadArgs{Path: "f"}, true},
		"behind the end":        {abi.ReadArgs{Path: "f", Lines: &abi.LineArgs{Offset: 9}}, false},
		"no line fits":          {abi.ReadArgs{Path: "f", Lines: &abi.LineArgs{MaxChars: 1}}, false},
	} {
		files := &notes{again: c.rehearse}
		ok, _ := readShown(t, capability.Scope{Cwd: dir, Files: files, Rehearse: c.rehearse}, c.args)
		if len(files.told) > 0 || ok.Unchanged || c.rehearse && files.asked > 0 {
			t.Errorf("%s: %+v, %+v, asked %d times", name, ok, files.told, files.asked)
		}
	}
	if _, _, err := call(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "f", Shown: true}, all); err != nil {
		t.Errorf("nobody wants to know: %v", err)
	}
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "f", "text\n")
	files := &notes{again: true}
	for _, args := range []abi.ReadArgs{{Path: "f"}, {Path: "f", Lines: &abi.LineArgs{}}} {
		ok, body := readShown(t, capability.Scope{Cwd: dir, Files: files}, args)
		if !ok.Unchanged || ok.Size != 5 || ok.Lines != nil || body != "" {
			t.Errorf("%+v, %q", ok, body)
		}
	}
	if len(files.told) > 0 {
		t.Errorf("told %+v", files.told)
	}
}

// Views are the same just where the answers are.
func TestViews(t *testing.T) {
	t.Parallel()
	args := []abi.ReadArgs{
		{}, {Offset: 1}, {Length: 1}, {Lines: &abi.LineArgs{}}, {Lines: &abi.LineArgs{Offset: 2}}, {Lines: &abi.LineArgs{Limit: 2}},
		{Lines: &abi.LineArgs{MaxLine: 2}}, {Lines: &abi.LineArgs{MaxChars: 2}}, {Lines: &abi.LineArgs{Number: true}},
	}
	views := make(map[string]int)
	for i := range args {
		views[viewOf(&args[i])] = i
	}
	if len(views) != len(args) {
		t.Errorf("%d views for %d requests: %v", len(views), len(args), views)
	}
	one := abi.ReadArgs{Path: "x", Shown: true, Lines: &abi.LineArgs{Offset: 1}}
	if viewOf(&one) != viewOf(&args[3]) {
		t.Error("line 1 and line 0 are two views")
	}
}

// A file that changes while it is read keeps the stamp that it had before, and the
// hash of what was shown.
func TestSeenWhileItChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, dir, "f", "before")
	files := &notes{}
	raw, _ := json.Marshal(abi.ReadArgs{Path: "f", Shown: true})
	p, err := New(Options{}).Plan(t.Context(), capability.Scope{Cwd: dir, Files: files}, abi.Request{Name: abi.CapFSRead, Args: raw})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a, err := p.Do(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("during"), 0o600); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(a.Body); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	s := files.told[0]
	if s.Stamp.ModTime.Equal(later) || s.Ranges[0].Hash != sha256.Sum256([]byte("during")) {
		t.Errorf("%+v", s)
	}
}

func TestStatHash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.Repeat("text", chunkSize)
	write(t, dir, "f", text)
	write(t, dir, "empty", "")
	for path, want := range map[string]string{"f": fmt.Sprintf("%x", sha256.Sum256([]byte(text))), "empty": fmt.Sprintf("%x", sha256.Sum256(nil)), ".": ""} {
		ok, _, err := call(t, dir, abi.CapFSStat, abi.StatArgs{Path: path, Hash: true}, all)
		if got, _ := ok.(abi.StatOK); err != nil || got.Hash != want {
			t.Errorf("%s: %+v, %v; want %s", path, ok, err, want)
		}
		ok, _, err = call(t, dir, abi.CapFSStat, abi.StatArgs{Path: path}, all)
		if got, _ := ok.(abi.StatOK); err != nil || got.Hash != "" {
			t.Errorf("%s: %+v, %v", path, ok, err)
		}
	}
	p, err := plan(t, dir, abi.CapFSStat, abi.StatArgs{Path: "f", Hash: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Do(ctx, all); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("cancelled: %v", err)
	}
}

// TestCancelDeep ends reads that are deep in a large file.
func TestCancelDeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, dir, "f", strings.Repeat("line\n", 5000))
	if err := os.Truncate(path, 64<<30); err != nil {
		testenv.Missing(t, "a file system with sparse files: "+err.Error())
	}
	for name, args := range map[string]any{
		abi.CapFSRead: abi.ReadArgs{Path: "f", Lines: &abi.LineArgs{Offset: 1 << 40}},
		abi.CapFSStat: abi.StatArgs{Path: "f", Hash: true},
	} {
		testenv.InTime(t, 50*time.Millisecond, func() time.Duration {
			p, err := plan(t, dir, name, args)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			ctx, cancel := context.WithCancel(t.Context())
			var end time.Time
			time.AfterFunc(20*time.Millisecond, func() { end = time.Now(); cancel() })
			if _, err := p.Do(ctx, all); abi.CodeOf(err) != abi.CodeCancelled {
				t.Errorf("%s: %v", name, err)
			}
			return time.Since(end)
		})
	}
}

// TestLongNames reads a file whose path is close to the longest there is.
func TestLongNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := strings.Repeat("n", 200)
	path := name
	for len(dir)+len(path)+2*len(name) < 4096 {
		path = filepath.Join(path, name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(path, []byte("deep\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := &notes{}
	if ok, body := readShown(t, capability.Scope{Cwd: dir, Files: files}, abi.ReadArgs{Path: path, Lines: &abi.LineArgs{}}); body != "deep" || len(files.told) != 1 {
		t.Errorf("%+v, %q", ok, body)
	}
}
