package protected

import "testing"

func TestPlacesParse(t *testing.T) {
	t.Parallel()
	for i, specs := range parsed() {
		if place := places[i]; len(specs) != len(place.Patterns) || place.Why == "" {
			t.Errorf("%q: %d of the patterns parse", place.Patterns, len(specs))
		}
	}
	if common()[""] != nil {
		t.Error("a place has no literal component to be found by")
	}
}

// Compiling one policy must not change what another guards.
func TestIndexesAreNotShared(t *testing.T) {
	t.Parallel()
	New([]string{"/odd/home"}, []string{"/odd/sessions"}, [][]string{{"/odd/.git"}})
	other := New([]string{"/home/u"}, nil, nil)
	if other.Find("/odd/home/.ssh/id", false) != nil {
		t.Error("another session's home is guarded")
	}
	if common().Find("/odd/home/.ssh/id", false) != nil {
		t.Error("a session's home is guarded for all")
	}
}
