package commands

import (
	"fmt"
	"strings"
	"testing"
)

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
