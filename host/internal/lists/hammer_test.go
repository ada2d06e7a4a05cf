package lists_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/lists"
	"github.com/toolquay/toolquay/internal/testenv"
)

// hammer makes tasks, marks each with a key of its own in the metadata of task 1, and
// returns the ids that it was given. Whoever loses an update of another leaves a key out.
func hammer(tb testing.TB, list *lists.Tasks, who string, n int) []string {
	tb.Helper()
	var ids []string
	for i := range n {
		task, err := list.Create(tb.Context(), &abi.WorkChange{Subject: new(fmt.Sprint(who, " ", i))}, nil)
		if err != nil {
			tb.Error(err)
			return ids
		}
		ids = append(ids, task.ID)
		key := abi.WorkChange{Description: new(who), Metadata: map[string]jsonText{who + strconv.Itoa(i): jsonText(strconv.Itoa(i))}}
		if _, err := list.Update(tb.Context(), "1", &key, who, nil); err != nil {
			tb.Error(err)
		}
		if i%2 == 1 { // deleted numbers are not given again
			if _, err := list.Update(tb.Context(), task.ID, &abi.WorkChange{Status: new(abi.WorkDeleted)}, who, nil); err != nil {
				tb.Error(err)
			}
		}
		if _, err := list.All(tb.Context()); err != nil {
			tb.Error(err)
		}
	}
	return ids
}

// checkHammered checks that no id was given twice and no update is lost.
func checkHammered(r *room, ids []string, updates int) {
	r.Helper()
	slices.Sort(ids)
	if once := slices.Compact(slices.Clone(ids)); len(once) != len(ids) || slices.Contains(ids, "1") {
		r.Errorf("of %d ids %d are different ones", len(ids), len(once))
	}
	first, _, err := r.Get(r.Context(), "1")
	if err != nil || len(first.Metadata) != updates {
		r.Errorf("%d of %d updates are there, %v", len(first.Metadata), updates, err)
	}
	l, err := r.All(r.Context())
	if want := 1 + (len(ids)+1)/2; err != nil || len(l.Tasks) != want || len(l.Notes) > 0 {
		r.Errorf("%d tasks, not %d; %v, %v", len(l.Tasks), want, l.Notes, err)
	}
}

// Goroutines with one value, and with several on one directory, as processes have them.
func TestHammer(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.create("first")
	const goroutines, each = 6, 10 // as many keys as metadata may have
	var mu sync.Mutex
	var ids []string
	var wg sync.WaitGroup
	for g := range goroutines {
		list := r.Tasks
		if g%2 == 1 {
			list = lists.NewTasks(placeOf(r.dir), slog.New(slog.DiscardHandler))
		}
		wg.Go(func() {
			got := hammer(t, list, fmt.Sprint("g", g, "-"), each)
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, got...)
		})
	}
	wg.Wait()
	checkHammered(r, ids, goroutines*each)
}

// Agents that add edges against each other make no cycle, and none of them is half there.
func TestHammerEdges(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	const tasks = 6
	for range tasks {
		r.create("x")
	}
	var wg sync.WaitGroup
	for g := range tasks {
		list := lists.NewTasks(placeOf(r.dir), slog.New(slog.DiscardHandler))
		wg.Go(func() {
			for i := range testenv.Sample(60) {
				from, to := strconv.Itoa(g+1), strconv.Itoa((g+1+i)%tasks+1)
				_, err := list.Update(t.Context(), from, &abi.WorkChange{AddBlocks: []string{to}}, "a", nil)
				if err != nil && abi.CodeOf(err) != abi.CodeInvalidInput {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	l, err := r.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	edges := 0
	waits := make(map[string][]string)
	for i := range l.Tasks {
		waits[l.Tasks[i].ID] = l.Tasks[i].BlockedBy
		edges += len(l.Tasks[i].Blocks) - len(l.Tasks[i].BlockedBy)
	}
	if edges != 0 {
		t.Errorf("%d edges have one end only", edges)
	}
	for len(waits) > 0 { // take away what waits for nothing, until nothing is left
		before := len(waits)
		for id, list := range waits {
			if !slices.ContainsFunc(list, func(first string) bool { _, there := waits[first]; return there }) {
				delete(waits, id)
			}
		}
		if len(waits) == before {
			t.Fatalf("these wait for each other: %v", waits)
		}
	}
}

func TestTodosHammer(t *testing.T) {
	t.Parallel()
	todos := lists.NewTodos(nil, nil)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				list := slices.Repeat([]abi.Todo{todo(fmt.Sprint(g, i), "pending")}, 5)
				got, err := todos.Set("main", list)
				if err != nil {
					t.Error(err)
				}
				for _, one := range [][]abi.Todo{got.Before, got.Todos} {
					if len(slices.Compact(one)) > 1 {
						t.Errorf("a mix: %v", one)
					}
				}
			}
		})
	}
	wg.Wait()
}
