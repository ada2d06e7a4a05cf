package testenv

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// Thorough reports whether tests are to look everywhere: where CI is set. Elsewhere
// they try enough to find what a change broke within minutes, and leave the rest of
// what is random or a matter of enumeration to CI. So they do under the race
// detector, which looks for what goroutines do to each other: that needs no
// thousandth random text, and each costs ten times.
func Thorough() bool { return InCI() && !Race }

// Sample returns how many of n random cases a test tries: all where it is to be
// [Thorough], elsewhere a tenth of them, and one at the least.
func Sample(n int) int {
	if Thorough() {
		return n
	}
	return max(n/10, 1)
}

// Some returns the listed cases that a test tries, in their order: all where it is to be
// [Thorough], elsewhere some by chance, as many as [Sample] says.
func Some[T any](cases []T) []T {
	if Thorough() || len(cases) == 0 {
		return cases
	}
	tried := rand.Perm(len(cases))[:Sample(len(cases))]
	slices.Sort(tried)
	some := make([]T, len(tried))
	for i, at := range tried {
		some[i] = cases[at]
	}
	return some
}

// SkipUnlessThorough leaves a test to CI that takes long and finds little which the
// tests beside it do not find.
func SkipUnlessThorough(tb testing.TB) {
	tb.Helper()
	if !Thorough() {
		tb.Skip("skipped: runs where CI is set, without the race detector")
	}
}

// SkipUnderRace leaves a test to the runs without the race detector. It is for tests whose work is
// done by processes that are built without it.
func SkipUnderRace(tb testing.TB) {
	tb.Helper()
	if Race {
		tb.Skip("skipped: runs without the race detector, which sees nothing of it")
	}
}

// SkipUnlessAsked leaves a test to where an environment variable is set, as the step of CI
// does that runs the test alone. It is for what takes minutes, or measures times.
func SkipUnlessAsked(tb testing.TB, variable string) {
	tb.Helper()
	if os.Getenv(variable) == "" {
		tb.Skipf("skipped: runs where %s is set", variable)
	}
}
