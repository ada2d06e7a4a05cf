package stage_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/stage"
)

// TestConcurrent has several stores of one directory, as processes have, stage, apply
// and discard at once: each file ends as something that was staged for it, whole, and
// what is staged in the end can be applied, or is refused for what was applied between
// the look at the file and its staging.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	const writers, rounds, files = 4, 25, 3
	content := func(w, i int) string { return strings.Repeat(fmt.Sprintf("%d-%d ", w, i), 500) }
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			s := r.open(r.history)
			for i := range rounds {
				err := stageIn(s, r.path(fmt.Sprintf("f%d", i%files)), content(w, i))
				if err != nil && abi.CodeOf(err) != abi.CodeChanged {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		s := r.open(r.history)
		for i := range rounds {
			one := stage.Selection{Paths: []string{r.path(fmt.Sprintf("f%d", i%files))}}
			if i%4 == 0 {
				_, _ = s.Discard(t.Context(), one) // there may be nothing
			}
			_, _ = s.Apply(t.Context(), one) // or what was applied meanwhile is in its way
		}
	})
	all.Wait()
	for i := range files {
		path := r.path(fmt.Sprintf("f%d", i))
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if words := strings.Fields(string(text)); len(text) > 0 && strings.Count(string(text), words[0]+" ") != 500 {
			t.Errorf("%s is a mix", path)
		}
		_, ok, err := r.Lookup(path)
		if err != nil {
			t.Error(err)
		}
		if !ok {
			continue
		}
		_, err = r.Apply(t.Context(), stage.Selection{Paths: []string{path}})
		if _, refused := errors.AsType[*stage.ConflictError](err); err != nil && !refused {
			t.Errorf("what is staged in the end: %v", err)
		}
	}
}
