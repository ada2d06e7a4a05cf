//go:build amd64 || arm64

package sandbox

import (
	"path/filepath"
	"testing"
)

// TestJournalsAreFound: no journal lies where nobody is shown the way to, as it would keep
// its folder from being removed for good.
func TestJournalsAreFound(t *testing.T) {
	p, err := openPlaceholders(t.Context(), filepath.Join(t.TempDir(), "sandbox"))
	if err != nil {
		t.Fatal(err)
	}
	p.meeting = meeting(filepath.Join(t.TempDir(), "gone"))
	if err := p.write(); err == nil {
		t.Error("a way was shown in a folder that is not there")
	}
	if left, err := journalsIn(p.dir); err != nil || len(left) > 0 {
		t.Errorf("there are the journals %q, %v", left, err)
	}
}
