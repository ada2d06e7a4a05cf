package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
)

func TestMain(m *testing.M) {
	if do := children[os.Getenv(childEnv)]; do != nil {
		do(os.Getenv(childDir))
		return
	}
	os.Exit(m.Run())
}

func open(tb testing.TB, dir string, o audit.Options) *audit.Log {
	tb.Helper()
	l, err := audit.Open(dir, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() }) // its error is for those who close it themselves
	return l
}

func add(tb testing.TB, l *audit.Log, tools ...string) {
	tb.Helper()
	for _, tool := range tools {
		if err := l.Append(audit.Entry{Subject: audit.Subject{Tool: tool}, Finding: audit.Finding{Verdict: permissions.Allow}}); err != nil {
			tb.Fatal(err)
		}
	}
}

func verify(tb testing.TB, dir, known string) audit.Report {
	tb.Helper()
	r, err := audit.Verify(dir, known)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// sound wants a log without fault.
func sound(tb testing.TB, dir string) audit.Report {
	tb.Helper()
	r := verify(tb, dir, "")
	if !r.OK() {
		tb.Fatalf("it has a fault: %s", r.Fault)
	}
	return r
}

func read(tb testing.TB, dir string, f audit.Filter) []audit.Record {
	tb.Helper()
	var out []audit.Record
	for r, err := range audit.Read(dir, f) {
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func tools(records []audit.Record) string {
	var names []string
	for i := range records {
		name := records[i].Tool
		if records[i].Kind != audit.KindDecision {
			name = "<" + string(records[i].Kind) + ">"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func segment(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("log-%06d.jsonl", n)) }

func slurp(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func spill(tb testing.TB, path string, content []byte) {
	tb.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
}

func logDir(tb testing.TB) string { tb.Helper(); return filepath.Join(tb.TempDir(), "log") }

func TestEntryIsKept(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	policy, _, err := permissions.Compile(permissions.Setup{
		Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/ws"}},
		Rules: []permissions.RuleSet{
			{Source: permissions.SourceProject, File: "/ws/s.toml", Deny: []permissions.RuleText{{Text: "Read(.env)", Line: 3}}},
			{Source: permissions.SourceUser, File: "/h/s.toml", Ask: []permissions.RuleText{{Text: "Read(*.env)", Line: 4}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	access := permissions.Access{Kind: permissions.AccessRead, Target: "/ws/.env", Real: "/ws/.env"}
	d := permissions.Decide(policy, permissions.Request{Tool: "Read", Effects: permissions.EffectsListed, Accesses: []permissions.Access{access}}, permissions.Evidence{})
	e := audit.Of(&d)
	e.Judged([]permissions.Access{access})
	e.Session, e.Call, e.Mode, e.Binding, e.By = "s1", "c1", permissions.ModeDefault, "abc", "person"
	l := open(t, dir, audit.Options{})
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	got := read(t, dir, audit.Filter{})
	if len(got) != 1 {
		t.Fatalf("%d records", len(got))
	}
	r := got[0]
	if r.Tool != "Read" || r.Verdict != permissions.Deny || r.Layer != permissions.LayerRule || r.Rule != "Read(.env)" ||
		r.Source != "project, /ws/s.toml:3" || r.Session != "s1" || r.By != "person" || !strings.Contains(r.Matched, "/ws/.env") ||
		len(r.Accesses) != 1 || r.Accesses[0].Target != "/ws/.env" || r.RunnerUp == nil || r.RunnerUp.Verdict != permissions.Ask ||
		r.RunnerUp.Source != "user, /h/s.toml:4" || time.Since(r.Time) > time.Hour {
		t.Errorf("%+v", r)
	}
}

// TestLinesAreAsDocumented holds the format to what its readers are told, with
// nothing of the package.
func TestLinesAreAsDocumented(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	add(t, open(t, dir, audit.Options{}), "A", "B")
	prev := strings.Repeat("0", 64)
	for i, line := range strings.Split(strings.TrimSuffix(string(slurp(t, segment(dir, 1))), "\n"), "\n") {
		said, _, ok := strings.Cut(line, `,"hash":"`)
		sum := sha256.Sum256([]byte(said))
		hash := hex.EncodeToString(sum[:])
		if !ok || !strings.HasPrefix(line, fmt.Sprintf(`{"prev":"%s","seq":%d,"kind":"`, prev, i+1)) || !strings.HasSuffix(line, `,"hash":"`+hash+`"}`) {
			t.Fatalf("line %d: %s", i+1, line)
		}
		prev = hash
	}
}

func TestEntriesAreBounded(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	l := open(t, dir, audit.Options{})
	long := strings.Repeat("\x01ü", 1<<20)
	var e audit.Entry
	e.Tool, e.Reason, e.Rule, e.Matched, e.Source, e.By, e.Session, e.Call = long, long, long, long, long, long, long, long
	e.Plugin, e.Server, e.ServerTool, e.Capability, e.Binding, e.Layer, e.Mode = long, long, long, long, long, permissions.Layer(long), permissions.Mode(long)
	e.RunnerUp = &audit.Opinion{Rule: long, Source: long, Layer: permissions.Layer(long)}
	accesses, elsewhere := make([]permissions.Access, 1000), long+"x"
	for i := range accesses {
		accesses[i] = permissions.Access{Kind: permissions.AccessKind(long), Target: long, Real: elsewhere}
	}
	e.Judged(accesses)
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(audit.Entry{Subject: audit.Subject{Tool: "\xff/\x00"}}); err != nil {
		t.Fatal(err)
	}
	if size := len(slurp(t, segment(dir, 1))); size > 400<<10 {
		t.Errorf("the log has %d bytes", size)
	}
	sound(t, dir)
	got := read(t, dir, audit.Filter{})
	if got[0].Tool != `"\xff/\x00"` || got[1].More != 1000-16 || !strings.HasSuffix(got[1].Tool, "…") || strings.ContainsRune(got[1].Tool, '\uFFFD') {
		t.Errorf("%.80q, %d more, %.80q", got[0].Tool, got[1].More, got[1].Tool)
	}
}

func TestReadFilters(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	l := open(t, dir, audit.Options{SegmentBytes: 2000})
	for i := range 40 {
		e := audit.Entry{Subject: audit.Subject{Tool: "T" + strconv.Itoa(i), Session: "s" + strconv.Itoa(i%2)}, Finding: audit.Finding{Verdict: permissions.Allow}}
		if i%10 == 0 {
			e.Verdict = permissions.Deny
		}
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if sound(t, dir).Segments < 3 {
		t.Error("too few segments to test anything")
	}
	all := read(t, dir, audit.Filter{OldestFirst: true})
	middle := all[20].Time
	for name, test := range map[string]struct {
		filter audit.Filter
		want   string
	}{
		"a tool":       {audit.Filter{Tool: "T7"}, "T7"},
		"a verdict":    {audit.Filter{Verdict: permissions.Deny}, "T30 T20 T10 T0"},
		"oldest first": {audit.Filter{Verdict: permissions.Deny, OldestFirst: true}, "T0 T10 T20 T30"},
		"a session":    {audit.Filter{Session: "s1", Limit: 2}, "T39 T37"},
		"no such":      {audit.Filter{Session: "s2"}, ""},
		"marks":        {audit.Filter{Marks: true, OldestFirst: true, Limit: 2}, "<genesis> T0"},
		"until":        {audit.Filter{Until: middle, Limit: 1}, all[slices.IndexFunc(all, func(r audit.Record) bool { return !r.Time.Before(middle) })-1].Tool},
		"since":        {audit.Filter{Since: middle, OldestFirst: true, Limit: 1}, all[slices.IndexFunc(all, func(r audit.Record) bool { return !r.Time.Before(middle) })].Tool},
		"the future":   {audit.Filter{Since: time.Now().Add(time.Hour)}, ""},
	} {
		if got := tools(read(t, dir, test.filter)); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
	newest := read(t, dir, audit.Filter{})
	slices.Reverse(newest)
	if tools(newest) != tools(all) || len(all) != 40 {
		t.Errorf("backwards: %s", tools(newest))
	}
	for _, err := range audit.Read(dir, audit.Filter{}) { // a reader may stop
		if err != nil {
			t.Error(err)
		}
		break
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	l := open(t, dir, audit.Options{SegmentBytes: 1000})
	add(t, l, strings.Fields(strings.Repeat("T ", 30))...)
	second := open(t, dir, audit.Options{SegmentBytes: 1000}) // as another process
	add(t, second, strings.Fields(strings.Repeat("U ", 30))...)
	add(t, l, "T")
	r := sound(t, dir)
	if r.Segments < 10 || r.Decisions != 61 || r.Head != audit.HeadMatches || r.ID == "" {
		t.Errorf("%+v", r)
	}
	for n := range r.Segments {
		if info, err := os.Stat(segment(dir, n+1)); err != nil || info.Size() > 1000 {
			t.Errorf("segment %d: %v, %v", n+1, info, err)
		}
	}
}

// TestTampering does to a log what may be done to it, and wants to be told what
// and where.
func TestTampering(t *testing.T) {
	t.Parallel()
	type lines = [][]byte
	tests := map[string]struct {
		do   func(lines) lines
		kind audit.FaultKind
		line int
	}{
		"a bit flipped": {func(l lines) lines { l[4][120] ^= 1; return l }, audit.FaultChanged, 5},
		"a verdict changed": {func(l lines) lines {
			l[4] = bytes.Replace(l[4], []byte("allow"), []byte("deny"), 1)
			return l
		}, audit.FaultChanged, 5},
		"a hash changed":              {func(l lines) lines { l[4][len(l[4])-10] ^= 1; return l }, audit.FaultChanged, 5},
		"a prev changed":              {func(l lines) lines { l[4][12] ^= 1; return l }, audit.FaultChanged, 5},
		"the first changed":           {func(l lines) lines { l[0][120] ^= 1; return l }, audit.FaultChanged, 1},
		"the last changed":            {func(l lines) lines { l[9][120] ^= 1; return l }, audit.FaultChanged, 10},
		"a line made anew":            {func(l lines) lines { l[4] = forge(l[4], l[3]); return l }, audit.FaultChanged, 6},
		"the last made anew":          {func(l lines) lines { l[9] = forge(l[9], l[8]); return l }, audit.FaultChanged, 1},
		"a newline taken out":         {func(l lines) lines { l[4] = append(l[4], l[5]...); return slices.Delete(l, 5, 6) }, audit.FaultChanged, 5},
		"a line removed":              {func(l lines) lines { return slices.Delete(l, 4, 5) }, audit.FaultRemoved, 5},
		"three removed":               {func(l lines) lines { return slices.Delete(l, 4, 7) }, audit.FaultRemoved, 5},
		"the first removed":           {func(l lines) lines { return l[1:] }, audit.FaultRemoved, 1},
		"the last removed":            {func(l lines) lines { return l[:9] }, audit.FaultTruncated, 0},
		"all removed":                 {func(lines) lines { return nil }, audit.FaultTruncated, 0},
		"two swapped":                 {func(l lines) lines { l[4], l[5] = l[5], l[4]; return l }, audit.FaultReordered, 5},
		"moved back":                  {func(l lines) lines { return slices.Insert(slices.Delete(l, 7, 8), 2, l[7]) }, audit.FaultReordered, 3},
		"moved on":                    {func(l lines) lines { x := l[2]; return slices.Insert(slices.Delete(l, 2, 3), 6, x) }, audit.FaultReordered, 3},
		"one repeated":                {func(l lines) lines { return slices.Insert(l, 5, l[4]) }, audit.FaultInserted, 6},
		"an old one repeated":         {func(l lines) lines { return slices.Insert(l, 5, l[1]) }, audit.FaultInserted, 6},
		"a forged one put in":         {func(l lines) lines { return slices.Insert(l, 5, forge(l[5], l[4])) }, audit.FaultInserted, 7},
		"rubbish put in":              {func(l lines) lines { return slices.Insert(l, 5, []byte("rubbish")) }, audit.FaultInserted, 6},
		"an empty line":               {func(l lines) lines { return slices.Insert(l, 5, []byte{}) }, audit.FaultInserted, 6},
		"longer than a line can be":   {func(l lines) lines { return slices.Insert(l, 5, bytes.Repeat([]byte("x"), 2<<20)) }, audit.FaultInserted, 6},
		"rubbish at the end":          {func(l lines) lines { return append(l, []byte("rubbish")) }, audit.FaultChanged, 11},
		"a torn record for no reason": {func(l lines) lines { return slices.Insert(l, 5, tornFor(l[4])) }, audit.FaultInserted, 7},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := logDir(t)
			l := open(t, dir, audit.Options{})
			add(t, l, strings.Fields("B C D E F G H I J")...)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			content := bytes.TrimSuffix(slurp(t, segment(dir, 1)), []byte{'\n'})
			changed := bytes.Join(append(test.do(bytes.Split(content, []byte{'\n'})), nil), []byte{'\n'})
			spill(t, segment(dir, 1), changed)
			r := verify(t, dir, "")
			if r.OK() || r.Fault.Kind != test.kind || r.Fault.Line != test.line {
				t.Fatalf("got %+v, want %s in line %d", r.Fault, test.kind, test.line)
			}
			if _, err := audit.Verify(dir, r.Hash); err != nil {
				t.Error(err)
			}
			// A writer that goes on does not hide it.
			add(t, open(t, dir, audit.Options{}), "K")
			if again := verify(t, dir, ""); again.OK() {
				t.Error("nothing is wrong any more")
			}
		})
	}
}

// forge is a line that says something else, with its hash right, after another.
func forge(line, after []byte) []byte {
	said, _, _ := bytes.Cut(line, []byte(`,"hash":"`))
	prev := after[len(after)-66 : len(after)-2]
	said = bytes.Replace(said, said[9:73], prev, 1)
	return sealed(bytes.Replace(said, []byte(`"verdict":"allow"`), []byte(`"verdict":"deny"`), 1))
}

// tornFor is a torn record right after a line.
func tornFor(after []byte) []byte {
	prev := after[len(after)-66 : len(after)-2]
	return sealed(fmt.Appendf(nil, `{"prev":"%s","seq":6,"kind":"torn","time":"2026-01-01T00:00:00Z","bytes":5,"sha256":"%064x"`, prev, 0))
}

func sealed(said []byte) []byte {
	return fmt.Appendf(nil, `%s,"hash":"%x"}`, said, sha256.Sum256(said))
}

func TestSegmentTakenAway(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]audit.FaultKind{1: audit.FaultRemoved, 3: audit.FaultRemoved, 0: audit.FaultTruncated} {
		dir := logDir(t)
		l := open(t, dir, audit.Options{SegmentBytes: 1000})
		add(t, l, strings.Fields(strings.Repeat("T ", 20))...)
		if n == 0 {
			n = sound(t, dir).Segments
		}
		if err := os.Remove(segment(dir, n)); err != nil {
			t.Fatal(err)
		}
		if r := verify(t, dir, ""); r.OK() || r.Fault.Kind != want {
			t.Errorf("segment %d: %+v", n, r.Fault)
		}
		add(t, l, "after") // the log is open all the while
		r := verify(t, dir, "")
		if r.OK() || r.Fault.Kind != audit.FaultRemoved {
			t.Errorf("segment %d: then %+v", n, r.Fault)
		}
		if got := read(t, dir, audit.Filter{Limit: 1}); tools(got) != "after" {
			t.Errorf("segment %d: %s", n, tools(got))
		}
	}
}

// TestKnownHash holds a log to a line that was kept elsewhere.
func TestKnownHash(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	l := open(t, dir, audit.Options{})
	add(t, l, "A", "B")
	known := sound(t, dir).Hash
	add(t, l, "C")
	if r := verify(t, dir, strings.ToUpper(known)); !r.OK() {
		t.Errorf("%s", r.Fault)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	add(t, open(t, dir, audit.Options{}), "A", "B", "C") // written anew, and sound by itself
	sound(t, dir)
	if r := verify(t, dir, known); r.OK() || r.Fault.Kind != audit.FaultUnknown {
		t.Errorf("%+v", r.Fault)
	}
	for _, bad := range []string{"x", strings.Repeat("g", 64), known + "00"} {
		if _, err := audit.Verify(dir, bad); err == nil {
			t.Errorf("%q is taken for a hash", bad)
		}
	}
	if _, err := audit.Verify(t.TempDir(), ""); err == nil {
		t.Error("an empty directory is taken for a log")
	}
}

// TestTornLine is what a crash in the middle of a write leaves, and a second one
// in the middle of the record of the first.
func TestTornLine(t *testing.T) {
	t.Parallel()
	whole := `{"prev":"` + strings.Repeat("0", 64)
	for name, left := range map[string]string{
		"a few bytes": `{"pre`, "more": whole, "twice": "{\"prev\"\n{\"prev\":\"00",
		"zeros": strings.Repeat("\x00", 4096), "much": strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := logDir(t)
			l := open(t, dir, audit.Options{})
			add(t, l, "A")
			spill(t, segment(dir, 1), append(slurp(t, segment(dir, 1)), left...))
			if r := sound(t, dir); r.Torn != 1 || r.Decisions != 1 {
				t.Errorf("before anybody writes: %+v", r)
			}
			add(t, l, "B")
			add(t, open(t, dir, audit.Options{}), "C")
			r := sound(t, dir)
			if r.Torn != 1 || r.Decisions != 3 || !bytes.Contains(slurp(t, segment(dir, 1)), []byte(left)) {
				t.Errorf("%+v", r)
			}
			marks := 0
			for record, err := range audit.Read(dir, audit.Filter{Marks: true}) {
				if err == nil && record.Kind == audit.KindTorn {
					marks++
				}
			}
			if marks != 1 {
				t.Errorf("%d records of it", marks)
			}
			// Nobody may change what was torn, either.
			spill(t, segment(dir, 1), bytes.Replace(slurp(t, segment(dir, 1)), []byte(left), []byte("y"+left), 1))
			if r := verify(t, dir, ""); r.OK() {
				t.Error("it was changed unseen")
			}
		})
	}
}

// TestHead has the head left behind by a crash, lost, and damaged.
func TestHead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do    func(tb testing.TB, head string, old []byte)
		state audit.HeadState
		notes int
	}{
		"behind":  {func(tb testing.TB, head string, old []byte) { tb.Helper(); spill(tb, head, old) }, audit.HeadMatches, 0},
		"damaged": {func(tb testing.TB, head string, _ []byte) { tb.Helper(); spill(tb, head, []byte("{}")) }, audit.HeadDamaged, 1},
		"missing": {func(tb testing.TB, head string, _ []byte) {
			tb.Helper()
			if err := os.Remove(head); err != nil {
				tb.Fatal(err)
			}
		}, audit.HeadMissing, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := logDir(t)
			head := filepath.Join(dir, "head")
			l := open(t, dir, audit.Options{SegmentBytes: 1000})
			add(t, l, "A")
			old := slurp(t, head)
			add(t, l, strings.Fields(strings.Repeat("T ", 10))...)
			test.do(t, head, old)
			if r := sound(t, dir); r.Head != test.state {
				t.Errorf("the head: %s", r.Head)
			}
			add(t, open(t, dir, audit.Options{SegmentBytes: 1000}), "U")
			add(t, l, "V")
			if r := sound(t, dir); r.Head != audit.HeadMatches || r.Decisions != 13 || r.Notices != test.notes {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestBeginningIsTornOff crashes before the first line, and in it.
func TestBeginningIsTornOff(t *testing.T) {
	t.Parallel()
	for _, left := range []string{"", `{"prev":"00`} {
		dir := logDir(t)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		spill(t, segment(dir, 1), []byte(left))
		add(t, open(t, dir, audit.Options{}), "A")
		if r := sound(t, dir); r.ID == "" || r.Decisions != 1 || r.Notices != 0 {
			t.Errorf("%q: %+v", left, r)
		}
	}
}

// TestRotationIsCutShort crashes after a segment was made and before its first
// line.
func TestRotationIsCutShort(t *testing.T) {
	t.Parallel()
	for _, head := range []bool{true, false} {
		dir := logDir(t)
		l := open(t, dir, audit.Options{})
		add(t, l, "A", "B")
		spill(t, segment(dir, 2), nil)
		if !head {
			if err := os.Remove(filepath.Join(dir, "head")); err != nil {
				t.Fatal(err)
			}
		}
		other := open(t, dir, audit.Options{})
		add(t, other, "C")
		if head {
			other = l // which still has the first segment open
		}
		add(t, other, "D")
		if r := sound(t, dir); r.Decisions != 4 || r.Segments != 2 {
			t.Errorf("%+v", r)
		}
	}
}

// TestManyWriters has goroutines and several logs on one directory append at
// once.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	const logs, routines, each = 3, 4, 25
	var wg sync.WaitGroup
	for range logs {
		l := open(t, dir, audit.Options{SegmentBytes: 5000})
		for range routines {
			wg.Go(func() {
				for range each {
					if err := l.Append(audit.Entry{Subject: audit.Subject{Tool: "T"}, Finding: audit.Finding{Verdict: permissions.Ask}}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	for range 5 {
		sound(t, dir) // while they write
	}
	wg.Wait()
	if r := sound(t, dir); r.Decisions != logs*routines*each || r.Notices != 0 || r.Torn != 0 {
		t.Errorf("%+v", r)
	}
}

// TestVerifyTakesNoMemory reads a log that is larger than what it may allocate.
func TestVerifyTakesNoMemory(t *testing.T) { // not beside others, which allocate too
	dir := logDir(t)
	l := open(t, dir, audit.Options{Sync: audit.SyncNever})
	for range 8000 {
		if err := l.Append(audit.Entry{Subject: audit.Subject{Tool: "T"}, Finding: audit.Finding{Reason: strings.Repeat("r", 900)}}); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := sound(t, dir)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; r.Bytes < 8<<20 || took > 2<<20 {
		t.Errorf("it allocated %d bytes for a log of %d", took, r.Bytes)
	}
}
