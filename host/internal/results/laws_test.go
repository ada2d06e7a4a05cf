package results_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
)

// TestLaws holds random turns to what must be true of all.
func TestLaws(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 1))
		options := results.Options{
			MaxTurnChars: 20_000 + r.IntN(100_000), Duplicates: r.IntN(2) == 0,
			Strategy: strategies[r.IntN(len(strategies))],
		}
		dir := sessions(t)
		k := keep(t, dir, options)
		var history, sent []abi.ToolResult
		for n := range 3 {
			rs := randomTurn(r, n)
			of := make([]*results.Fitted, len(rs))
			for i := range rs {
				of[i] = k.Fit(results.Call{Tool: "T"}, &rs[i])
			}
			left := slices.Clone(rs)
			k.Turn(rs, of)
			checkTurn(t, seed, options, left, rs)
			history, sent = append(history, left...), append(sent, rs...)
		}
		again := slices.Clone(history)
		k.Turn(again, nil)
		if !reflect.DeepEqual(again, sent) {
			t.Errorf("seed %d: evaluated again, they are others", seed)
		}
		k.Turn(again, nil)
		if !reflect.DeepEqual(again, sent) {
			t.Errorf("seed %d: fitting is not idempotent", seed)
		}
		k.close()
	}
}

var strategies = []results.Strategy{results.StrategyStart, results.StrategyEnd, results.StrategyBoth}

func randomTurn(r *rand.Rand, n int) []abi.ToolResult {
	var rs []abi.ToolResult
	for i := range 1 + r.IntN(12) {
		id := fmt.Sprintf("t%d-c%d", n, i)
		seed := id
		if r.IntN(4) == 0 {
			seed = "common"
		}
		result := text(id, lines(seed, 2+[]int{100, 4_000, 40_000, 60_000}[r.IntN(4)]))
		if r.IntN(5) == 0 {
			result.Content = append(result.Content, abi.Block{Type: abi.BlockImage, Data: []byte{byte(i)}})
		}
		result.IsError = r.IntN(5) == 0
		rs = append(rs, result)
	}
	return rs
}

// checkTurn holds the results of a turn that was decided to what left before it was.
func checkTurn(tb testing.TB, seed uint64, o results.Options, left, rs []abi.ToolResult) {
	tb.Helper()
	floor := 0 // what nothing can shorten
	for i, r := range rs {
		if r.ToolUseID != left[i].ToolUseID || r.IsError != left[i].IsError {
			tb.Errorf("seed %d: the order changed", seed)
		}
		if chars(r) > chars(left[i]) {
			tb.Errorf("seed %d: %s became longer", seed, r.ToolUseID)
		}
		if !utf8.ValidString(r.Text()) {
			tb.Errorf("seed %d: %s is not UTF-8", seed, r.ToolUseID)
		}
		if reflect.DeepEqual(r, left[i]) && len(r.Text()) > 3_000 {
			floor = -1 // something that could have been shortened is whole
		}
	}
	if n := chars(rs...); n > o.MaxTurnChars && floor < 0 {
		tb.Errorf("seed %d: %d characters, over %d, though more could go", seed, n, o.MaxTurnChars)
	}
}

// TestDeterministic fits the same results twice in sessions of their own.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	var before []string
	for range 2 {
		k := keep(t, sessions(t), results.Options{Duplicates: true})
		rs := append(many("c", slices.Repeat([]int{45_000, 60_000, 3_000}, 4)...), text("d", lines("c0", 45_000)))
		turn(k.Store, results.Call{Tool: "T"}, rs)
		var texts []string
		for _, r := range rs {
			texts = append(texts, strings.ReplaceAll(r.Text(), k.dir.Path(), ""))
		}
		if before != nil && !slices.Equal(before, texts) {
			t.Error("they differ")
		}
		before = texts
	}
}
