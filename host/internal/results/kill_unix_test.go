//go:build unix

package results_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/internal/testenv"
)

const childEnv, childDir, childFrom = "TOOLQUAY_TEST_RESULTS_CHILD", "TOOLQUAY_TEST_RESULTS_DIR", "TOOLQUAY_TEST_RESULTS_FROM"

// children are what this test binary does when it is started as another process.
var children = map[string]func(dir string){
	"persist": childPersists,
	"large":   childFitsLargeText,
	"full":    childFillsDisk,
}

func TestMain(m *testing.M) {
	if do := children[os.Getenv(childEnv)]; do != nil {
		do(os.Getenv(childDir))
		return
	}
	os.Exit(m.Run())
}

func child(tb testing.TB, what, dir string, from int) *exec.Cmd {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+what, childDir+"="+dir, childFrom+"="+strconv.Itoa(from), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// killOptions are those of the sessions that are killed.
var killOptions = results.Options{MaxChars: 20_000, MaxTurnChars: 30_000, Duplicates: true}

// answers are what the tools of one turn answer: over their limit, too much together,
// and the same.
func answers(n int) []abi.ToolResult {
	id := func(i int) string { return fmt.Sprintf("t%d-%d", n, i) }
	return []abi.ToolResult{
		text(id(0), lines(id(0), 25_000)), text(id(1), lines(id(1), 15_000)), text(id(2), lines(id(2), 14_000)),
		text(id(3), lines(id(2), 14_000)), text(id(4), lines(id(4), 9_000)), text(id(5), lines(id(0), 25_000)),
	}
}

// told is what a child says of a result that it would have sent.
type told struct {
	Turn, Index int
	Text        [32]byte
	Stored      string
}

func childPersists(dir string) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	f, err := sessiondir.Open(dir, "s", log)
	must(err)
	k := results.New(killOptions, f, log)
	from, err := strconv.Atoi(os.Getenv(childFrom))
	must(err)
	out := json.NewEncoder(os.Stdout)
	for n := from; ; n++ {
		rs := answers(n)
		stored := make(map[int]string)
		of := make([]*results.Fitted, len(rs))
		for i := range rs {
			if of[i] = k.Fit(results.Call{Tool: "T"}, &rs[i]); of[i] != nil && of[i].Stored != nil {
				stored[i] = of[i].Stored.Path
			}
		}
		for _, r := range k.Turn(rs, of) {
			if r.Stored != nil {
				stored[r.Index] = r.Stored.Path
			}
		}
		must(f.Append(sessiondir.Record{Kind: "turn", Data: n}))
		for i := range rs {
			must(out.Encode(told{n, i, sha256.Sum256([]byte(rs[i].Text())), stored[i]}))
		}
	}
}

// TestKilled kills processes while they persist and remember. Whatever they told
// before is there and the same, and nothing is half there.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := sessions(t)
	var all []told
	rounds := 25
	if !testenv.Thorough() {
		rounds = 5
	}
	r := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		from := 0
		if len(all) > 0 {
			from = all[len(all)-1].Turn + 1
		}
		after := time.Duration(r.IntN(40_000)) * time.Microsecond
		all = append(all, killed(t, dir, from, after, round%5 == 4)...)
		checkKilled(t, dir, all)
	}
	if len(all) < rounds-rounds/5 { // as many as were not killed early
		t.Errorf("only %d results were told of", len(all))
	}
}

// killed starts a process, kills it some time after its first word, or early: after
// its start, and returns what it had told.
func killed(tb testing.TB, dir string, from int, after time.Duration, early bool) []told {
	tb.Helper()
	cmd := child(tb, "persist", dir, from)
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	kill := func() { _ = cmd.Process.Kill() }
	if early {
		time.AfterFunc(after, kill)
	}
	var all []told
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if len(all) == 0 && !early {
			time.AfterFunc(after, kill)
		}
		var one told
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			break // it was killed in the middle of a word
		}
		all = append(all, one)
	}
	_ = cmd.Wait() // it was killed
	return all
}

// checkKilled opens the session that was killed, and closes it again.
func checkKilled(t *testing.T, dir string, all []told) {
	t.Helper()
	k := keep(t, dir, killOptions)
	defer k.close()
	if log := k.log.String(); strings.Contains(log, "damaged") {
		t.Errorf("it was told: %s", log)
	}
	turns := make(map[int][]abi.ToolResult)
	for _, one := range all {
		if turns[one.Turn] == nil {
			turns[one.Turn] = answers(one.Turn)
			k.Turn(turns[one.Turn], nil)
		}
		if got := turns[one.Turn][one.Index].Text(); sha256.Sum256([]byte(got)) != one.Text {
			t.Fatalf("turn %d, result %d is another now: %.300s", one.Turn, one.Index, got)
		}
		if one.Stored != "" && slurp(t, one.Stored) != answers(one.Turn)[one.Index].Text() {
			t.Fatalf("turn %d, result %d: its file is not its text", one.Turn, one.Index)
		}
	}
	recalled := make(map[int]bool)
	for _, data := range k.dir.Recall("turn") {
		var n int
		if err := json.Unmarshal(data, &n); err != nil {
			t.Fatal(err)
		}
		recalled[n] = true
	}
	for _, one := range all {
		if !recalled[one.Turn] {
			t.Fatalf("turn %d is forgotten", one.Turn)
		}
	}
	checkFiles(t, k)
}

// checkFiles wants every file of results to be all of one.
func checkFiles(t *testing.T, k *bench) {
	t.Helper()
	for _, name := range inResults(t, k) {
		var n, i int
		if _, err := fmt.Sscanf(name, "t%d-%d-", &n, &i); err != nil {
			t.Fatalf("there is %s", name)
		}
		if got := slurp(t, filepath.Join(k.dir.Path(), results.Dir, name)); got != answers(n)[i].Text() {
			t.Fatalf("%s has %d bytes and is not the text", name, len(got))
		}
	}
}

const largeText = 200 << 20

// childFitsLargeText has a text of 200 MB spilled and fitted, and prints how much
// memory that took in all, whether it was freed again or not.
func childFitsLargeText(dir string) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	f, err := sessiondir.Open(dir, "s", log)
	must(err)
	k := results.New(results.Options{}, f, log)
	piece := []byte(lines("x", 64<<10))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := k.Spill()
	must(err)
	for range largeText / len(piece) {
		_, err := s.Write(piece)
		must(err)
	}
	done, err := s.Done()
	must(err)
	r := abi.ToolResult{ToolUseID: "1", Content: []abi.Block{{Type: abi.BlockText, Spilled: done}}}
	of := k.Fit(results.Call{Tool: "Bash"}, &r)
	k.Turn([]abi.ToolResult{r}, []*results.Fitted{of})
	runtime.ReadMemStats(&after)
	if of.Stored == nil || of.Stored.Bytes != largeText {
		must(fmt.Errorf("stored %+v", of.Stored))
	}
	fmt.Println(after.TotalAlloc - before.TotalAlloc)
}

func TestLargeText(t *testing.T) {
	t.Parallel()
	out, err := child(t, "large", sessions(t), 0).Output()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || n > 8<<20 {
		t.Errorf("%d bytes were allocated, %v", n, err)
	}
	t.Logf("%d KiB were allocated", n>>10)
}
