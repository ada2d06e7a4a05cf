package protected

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestGatherAround: whatever lies where, all names are held by something in a directory
// of tops, there are at most so many of those, and no directory is shut in vain.
func TestGatherAround(t *testing.T) {
	t.Parallel()
	tops := []string{"/w", "/w/in", "/v"}
	for range testenv.Sample(500) {
		var names []string
		for range rand.IntN(400) {
			parts := []string{tops[rand.IntN(len(tops))]}
			for range 1 + rand.IntN(5) {
				parts = append(parts, strconv.Itoa(rand.IntN(1+rand.IntN(30))))
			}
			names = append(names, strings.Join(parts, "/")+"/.npmrc")
		}
		slices.Sort(names)
		names = slices.Compact(names)
		most := len(tops) + rand.IntN(100)
		all, shut := GatherAround(names, tops, most)
		if len(all) > max(most, entriesWith(names, tops)) {
			t.Fatalf("%d are more than %d of %q", len(all), most, names)
		}
		if slices.ContainsFunc(all, func(held string) bool { return slices.Contains(tops, held) }) {
			t.Fatalf("a top is shut: %q", all)
		}
		for _, path := range names {
			if !slices.ContainsFunc(all, func(held string) bool { return paths.Below(path, held) }) {
				t.Fatalf("%s is not held by %q", path, all)
			}
		}
		for _, dir := range shut {
			held := slices.ContainsFunc(names, func(path string) bool { return paths.Below(path, dir) })
			if !held || !slices.ContainsFunc(tops, func(top string) bool { return paths.Below(dir, top) }) || !slices.Contains(all, dir) {
				t.Fatalf("%s is shut", dir)
			}
		}
		if len(names) <= most && (len(shut) > 0 || !slices.Equal(all, names)) {
			t.Fatalf("%q became %q", names, all)
		}
	}
}

// TestGatherAroundEverything: tops are closed where no sandbox could hold their entries.
func TestGatherAroundEverything(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range maxShut {
		names = append(names, fmt.Sprintf("/w/p%d/.npmrc", i))
	}
	if all, shut := GatherAround(names, []string{"/w"}, 128); len(all) != maxShut || len(shut) != maxShut {
		t.Errorf("%d are %d, %d of them shut", maxShut, len(all), len(shut))
	}
	if all, shut := GatherAround(append(names, "/w/more/.npmrc"), []string{"/w"}, 128); len(all) != 1 || !slices.Equal(shut, []string{"/w"}) {
		t.Errorf("one more are %d, %q shut", len(all), shut)
	}
}

// entriesWith counts the entries of tops that names lie in.
func entriesWith(names, tops []string) int {
	seen := make(map[string]bool)
	for _, path := range names {
		for !slices.Contains(tops, filepath.Dir(path)) {
			path = filepath.Dir(path)
		}
		seen[path] = true
	}
	return len(seen)
}

// TestGatherAroundWhatBranches: it is the directory with most of them that is shut, and
// not those that lie deepest.
func TestGatherAroundWhatBranches(t *testing.T) {
	t.Parallel()
	names := []string{"/w/a/b/c/d/e/.npmrc", "/w/src/.vscode"}
	for i := range 300 {
		names = append(names, fmt.Sprintf("/w/x/node_modules/p%d/.npmrc", i))
	}
	all, shut := GatherAround(names, []string{"/w"}, 128)
	if got := strings.Join(all, " "); got != "/w/a/b/c/d/e/.npmrc /w/src/.vscode /w/x/node_modules" || !slices.Equal(shut, []string{"/w/x/node_modules"}) {
		t.Errorf("got %s, %q", got, shut)
	}
}

func TestGather(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		most     int
		in, want string
	}{
		{3, "/w/a /w/b /w/c", "/w/a /w/b /w/c"},
		{2, "/w/a /w/b/c /w/b/d /w/b/e", "/w/a /w/b"},
		{2, "/w/n/a/x /w/n/b/x /w/n/c/x /w/s", "/w/n /w/s"},
		{1, "/a /b", "/"},
		{9, "/w/a /w/a/b", "/w/a"},
	} {
		if got := strings.Join(Gather(strings.Fields(test.in), test.most), " "); got != test.want {
			t.Errorf("%d of %s: %s, want %s", test.most, test.in, got, test.want)
		}
	}
}
