package testenv_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestGoGuest: a guest is a WebAssembly module, and the second who asks gets the same,
// whatever the first made of it.
func TestGoGuest(t *testing.T) {
	const dir, pkg = "../../sdk/go", "testdata/probe"
	first := testenv.GoGuest(t, dir, pkg)
	if !bytes.HasPrefix(first, []byte("\x00asm")) {
		t.Fatalf("it begins with %q", first[:4])
	}
	whole := bytes.Clone(first)
	clear(first)
	if !bytes.Equal(testenv.GoGuest(t, dir, pkg), whole) {
		t.Error("the second one differs")
	}
}

func TestSome(t *testing.T) {
	cases := make([]int, 25)
	for i := range cases {
		cases[i] = i
	}
	t.Setenv("CI", "")
	if some := slices.Compact(testenv.Some(cases)); len(some) != 2 || !slices.IsSorted(some) || some[1] >= len(cases) {
		t.Errorf("without CI: %v", some)
	}
	t.Setenv("CI", "true")
	if all := testenv.Some(cases); !slices.Equal(all, cases) && !testenv.Race {
		t.Errorf("under CI: %v", all)
	}
	if none := testenv.Some[int](nil); len(none) != 0 {
		t.Errorf("of none: %v", none)
	}
}

func TestSample(t *testing.T) {
	tests := map[string]struct{ n, few int }{"many": {1000, 100}, "few": {3, 1}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CI", "")
			if got := testenv.Sample(test.n); got != test.few {
				t.Errorf("without CI: %d of %d", got, test.n)
			}
			t.Setenv("CI", "true")
			if got := testenv.Sample(test.n); got != test.n && !testenv.Race {
				t.Errorf("under CI: %d of %d", got, test.n)
			}
		})
	}
}
