//go:build unix

package settings

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// owned is a file as it could be.
type owned struct {
	fs.FileInfo
	mode fs.FileMode
	sys  any
}

func (o owned) Mode() fs.FileMode { return o.mode }
func (o owned) Sys() any          { return o.sys }

func TestOwnedByRoot(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file owned
		says string
	}{
		"root's":          {owned{mode: 0o644, sys: &syscall.Stat_t{}}, ""},
		"its directory":   {owned{mode: fs.ModeDir | 0o755, sys: &syscall.Stat_t{}}, ""},
		"a group's":       {owned{mode: 0o664, sys: &syscall.Stat_t{}}, "its mode is -rw-rw-r--"},
		"everybody's":     {owned{mode: fs.ModeDir | fs.ModeSticky | 0o777, sys: &syscall.Stat_t{}}, "its mode is"},
		"a user's":        {owned{mode: 0o600, sys: &syscall.Stat_t{Uid: 1000}}, "it belongs to user 1000"},
		"nobody knows":    {owned{mode: 0o600}, "cannot be told"},
		"of a root group": {owned{mode: 0o602, sys: &syscall.Stat_t{}}, "its mode is"},
	}
	for name, tt := range tests {
		err := ownedByRoot(tt.file)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
