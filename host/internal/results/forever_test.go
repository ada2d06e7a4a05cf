package results_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
)

// TestForEver evaluates results again, in other company and after a restart.
func TestForEver(t *testing.T) {
	t.Parallel()
	dir := sessions(t)
	k := keep(t, dir, results.Options{})
	left := many("c", 45_000, 46_000, 47_000, 48_000, 60_000, 30_000)
	of := make([]*results.Fitted, len(left))
	for i := range left {
		of[i] = k.Fit(results.Call{Tool: "T"}, &left[i])
	}
	sent := slices.Clone(left)
	k.Turn(sent, of)
	check := func(k *results.Store, when string) {
		t.Helper()
		for name, group := range map[string][]abi.ToolResult{
			"the same":           left,
			"what was sent":      sent,
			"one by one":         left[3:4],
			"in a larger turn":   append(slices.Clone(left), many("more", 49_000, 49_000, 49_000, 49_000)...),
			"beside huge others": append(many("huge", 900_000), left...),
		} {
			rs := slices.Clone(group)
			k.Turn(rs, nil)
			for _, r := range rs {
				i := slices.IndexFunc(sent, func(s abi.ToolResult) bool { return s.ToolUseID == r.ToolUseID })
				if i >= 0 && !reflect.DeepEqual(r, sent[i]) {
					t.Errorf("%s, %s: %s is another", when, name, r.ToolUseID)
				}
			}
		}
	}
	check(k.Store, "at once")
	k.close()
	k = keep(t, dir, results.Options{MaxTurnChars: 1_000, MaxChars: 5_000, Strategy: results.StrategyEnd})
	check(k.Store, "after a restart with other options")
	if k.log.Len() > 0 {
		t.Errorf("it was told: %s", k.log)
	}
}

// TestSameID gives another result the id of one that was replaced.
func TestSameID(t *testing.T) {
	t.Parallel()
	k := keep(t, sessions(t), results.Options{})
	first, second := text("call_0", lines("first", 60_000)), text("call_0", lines("second", 20_000))
	turn(k.Store, results.Call{Tool: "T"}, []abi.ToolResult{first})
	if got := turn(k.Store, results.Call{Tool: "T"}, []abi.ToolResult{second}); got != nil || second.Text() != lines("second", 20_000) {
		t.Errorf("it was replaced: %s", second.Text())
	}
	third := text("call_0", lines("third", 60_000))
	f := k.Fit(results.Call{Tool: "T"}, &third)
	if slurp(t, f.Stored.Path) != lines("third", 60_000) {
		t.Error("the file is of another result")
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	dir := sessions(t)
	o := results.Options{Duplicates: true}
	k := keep(t, dir, o)
	read := results.Call{Tool: "Read", Title: "src/main.go"}
	short, long, huge := strings.Repeat("s", 999), lines("long", 1_000), lines("huge", 60_000)
	one := []abi.ToolResult{text("1", short), text("2", short), text("3", long), text("4", long), text("5", huge), text("6", huge)}
	if got := indexes(turn(k.Store, read, one)); !slices.Equal(got, []int{3, 5}) {
		t.Errorf("%v were replaced", got)
	}
	golden(t, "duplicate", one[3].Text(), k.dir)
	golden(t, "duplicate_persisted", one[5].Text(), k.dir)

	// Later, of a failed call, with an image, and after a restart.
	image := abi.Block{Type: abi.BlockImage, MediaType: "image/png", Data: []byte("x")}
	failed, pictured := text("8", long), text("9", long)
	failed.IsError = true
	pictured.Content = append(pictured.Content, image)
	two := []abi.ToolResult{text("7", long), failed, pictured}
	if got := indexes(turn(k.Store, read, two)); !slices.Equal(got, []int{0}) {
		t.Errorf("%v were replaced", got)
	}
	k.close()
	k = keep(t, dir, o)
	three := []abi.ToolResult{text("10", long), text("3", long), text("4", long), text("7", long)}
	k.Turn(three, nil)
	if three[0].Text() != two[0].Text() || three[1].Text() != long || three[2].Text() != one[3].Text() || three[3].Text() != two[0].Text() {
		t.Errorf("after a restart: %+v", three)
	}
	off := []abi.ToolResult{text("1", long), text("2", long)}
	if got := turn(keep(t, sessions(t), results.Options{}).Store, read, off); got != nil {
		t.Errorf("unasked, %v were replaced", got)
	}
}

// TestDuplicateEvaluatedAgain sends on what left before the turn was decided.
func TestDuplicateEvaluatedAgain(t *testing.T) {
	t.Parallel()
	k := keep(t, sessions(t), results.Options{Duplicates: true})
	left := []abi.ToolResult{text("1", lines("x", 60_000)), text("2", lines("x", 60_000))}
	of := make([]*results.Fitted, len(left))
	for i := range left {
		of[i] = k.Fit(results.Call{Tool: "T"}, &left[i])
	}
	sent := slices.Clone(left)
	k.Turn(sent, of)
	if strings.Contains(sent[1].Text(), "<persisted-output>") {
		t.Fatalf("got %s", sent[1].Text())
	}
	original := []abi.ToolResult{text("1", lines("x", 60_000)), text("2", lines("x", 60_000))}
	k.Turn(left, nil)
	k.Turn(original, nil)
	if !reflect.DeepEqual(left, sent) || !reflect.DeepEqual(original, sent) {
		t.Error("evaluated again, they are others")
	}
}
