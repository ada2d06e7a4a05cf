package lazyregexp_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

var word = lazyregexp.New(`([a-z]+)=`)

func TestRegexp(t *testing.T) {
	if !word.MatchString("a=1") || word.MatchString("a:1") {
		t.Error("it does not match as its pattern says")
	}
	if got := word.FindString("x a=1 b=2"); got != "a=" {
		t.Errorf("the first match is %q", got)
	}
	if got := word.FindStringSubmatch("x a=1"); !slices.Equal(got, []string{"a=", "a"}) {
		t.Errorf("the groups are %q", got)
	}
	if got := word.FindAllStringIndex("x a=1 b=2", -1); !slices.EqualFunc(got, [][]int{{2, 4}, {6, 8}}, slices.Equal) {
		t.Errorf("the matches are at %v", got)
	}
	if got := word.FindAllStringSubmatch("a=1 b=2", 1); len(got) != 1 || !slices.Equal(got[0], []string{"a=", "a"}) {
		t.Errorf("one match is %q", got)
	}
	if got := word.ReplaceAllString("a=1 b=2", "$1:"); got != "a:1 b:2" {
		t.Errorf("replaced, it is %q", got)
	}
}

func TestBadPattern(t *testing.T) {
	bad := lazyregexp.New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a pattern that cannot be compiled was used")
		}
	}()
	bad.MatchString("")
}

// TestTogether is for the race detector: calls meet at the first use.
func TestTogether(t *testing.T) {
	shared := lazyregexp.New(`^a+$`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !shared.MatchString("aaa") {
				t.Error("it does not match")
			}
		})
	}
	all.Wait()
}
