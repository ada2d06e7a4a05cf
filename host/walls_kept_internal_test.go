package host

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestGatheredAround: whatever lies where, all paths are held by something in a directory
// of tops, there are at most so many of those, and no directory is shut in vain.
func TestGatheredAround(t *testing.T) {
	t.Parallel()
	tops := []string{"/w", "/w/in", "/v"}
	for range testenv.Sample(500) {
		var paths []string
		for range rand.IntN(400) {
			parts := []string{tops[rand.IntN(len(tops))]}
			for range 1 + rand.IntN(5) {
				parts = append(parts, strconv.Itoa(rand.IntN(1+rand.IntN(30))))
			}
			paths = append(paths, strings.Join(parts, "/")+"/.npmrc")
		}
		slices.Sort(paths)
		paths = slices.Compact(paths)
		most := len(tops) + rand.IntN(100)
		all, shut := gatheredAround(paths, tops, most)
		if len(all) > max(most, entriesWith(paths, tops)) {
			t.Fatalf("%d are more than %d of %q", len(all), most, paths)
		}
		if slices.ContainsFunc(all, func(held string) bool { return slices.Contains(tops, held) }) {
			t.Fatalf("a top is shut: %q", all)
		}
		for _, path := range paths {
			if !slices.ContainsFunc(all, func(held string) bool { return below(path, held) }) {
				t.Fatalf("%s is not held by %q", path, all)
			}
		}
		for _, dir := range shut {
			held := slices.ContainsFunc(paths, func(path string) bool { return below(path, dir) })
			if !held || !slices.ContainsFunc(tops, func(top string) bool { return below(dir, top) }) || !slices.Contains(all, dir) {
				t.Fatalf("%s is shut", dir)
			}
		}
		if len(paths) <= most && (len(shut) > 0 || !slices.Equal(all, paths)) {
			t.Fatalf("%q became %q", paths, all)
		}
	}
}

// TestGatheredAroundEverything: tops are closed where no sandbox could hold their entries.
func TestGatheredAroundEverything(t *testing.T) {
	t.Parallel()
	var paths []string
	for i := range maxShut {
		paths = append(paths, fmt.Sprintf("/w/p%d/.npmrc", i))
	}
	if all, shut := gatheredAround(paths, []string{"/w"}, 128); len(all) != maxShut || len(shut) != maxShut {
		t.Errorf("%d are %d, %d of them shut", maxShut, len(all), len(shut))
	}
	if all, shut := gatheredAround(append(paths, "/w/more/.npmrc"), []string{"/w"}, 128); len(all) != 1 || !slices.Equal(shut, []string{"/w"}) {
		t.Errorf("one more are %d, %q shut", len(all), shut)
	}
}

// entriesWith counts the entries of tops that paths lie in.
func entriesWith(paths, tops []string) int {
	seen := make(map[string]bool)
	for _, path := range paths {
		for !slices.Contains(tops, filepath.Dir(path)) {
			path = filepath.Dir(path)
		}
		seen[path] = true
	}
	return len(seen)
}

// TestGatheredAroundWhatBranches: it is the directory with most of them that is shut, and
// not those that lie deepest.
func TestGatheredAroundWhatBranches(t *testing.T) {
	t.Parallel()
	paths := []string{"/w/a/b/c/d/e/.npmrc", "/w/src/.vscode"}
	for i := range 300 {
		paths = append(paths, fmt.Sprintf("/w/x/node_modules/p%d/.npmrc", i))
	}
	all, shut := gatheredAround(paths, []string{"/w"}, 128)
	if got := strings.Join(all, " "); got != "/w/a/b/c/d/e/.npmrc /w/src/.vscode /w/x/node_modules" || !slices.Equal(shut, []string{"/w/x/node_modules"}) {
		t.Errorf("got %s, %q", got, shut)
	}
}

// TestMadeNoteNamesAllKinds: many new names of one kind keep no other out of sight.
func TestMadeNoteNamesAllKinds(t *testing.T) {
	t.Parallel()
	var made []string
	for i := range 99 {
		made = append(made, fmt.Sprintf("/w/a%d/.idea", i))
	}
	got := madeNote(append(made, "/w/z/.envrc", "/w/zz/.git"), nil, "/w")
	if !strings.Contains(got, " z/.envrc, zz/.git, ") || !strings.Contains(got, " and 51 more.") {
		t.Errorf("got %q", got)
	}
}
