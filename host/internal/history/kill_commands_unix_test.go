//go:build unix

package history_test

import (
	"context"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/history"
)

// commandMoments are what a host does before it is killed while a command changes a file.
var commandMoments = map[string]func(s *history.Store, dir, path string){
	"told": func(s *history.Store, _, path string) { watchOf(s, path).Touch(path, false) },
	"changed": func(s *history.Store, _, path string) {
		watchOf(s, path).Touch(path, false)
		fail(os.WriteFile(path, []byte("second"), 0o600))
	},
	"moved": func(s *history.Store, _, path string) {
		w := watchOf(s, path)
		w.Rename(filepath.Dir(path), filepath.Dir(path)+"2", false)
		fail(os.Rename(filepath.Dir(path), filepath.Dir(path)+"2"))
		moved := filepath.Join(filepath.Dir(path)+"2", filepath.Base(path))
		w.Touch(moved, false)
		fail(os.WriteFile(moved, []byte("second"), 0o600))
	},
	"recorded": func(s *history.Store, dir, path string) { // and the ledger still exists
		w := watchOf(s, path)
		w.Touch(path, false)
		fail(os.WriteFile(path, []byte("second"), 0o600))
		ledgers, err := filepath.Glob(filepath.Join(dir, "watch-*"))
		fail(err)
		text, err := os.ReadFile(ledgers[0])
		fail(err)
		w.End(context.Background())
		fail(os.WriteFile(ledgers[0], text, 0o600))
	},
	"within a line": func(s *history.Store, dir, path string) {
		w := watchOf(s, path)
		w.Touch(path, false)
		fail(os.WriteFile(path, []byte("second"), 0o600))
		w.Touch(path+"2", false)
		ledgers, err := filepath.Glob(filepath.Join(dir, "watch-*"))
		fail(err)
		info, err := os.Stat(ledgers[0])
		fail(err)
		fail(os.Truncate(ledgers[0], info.Size()-10))
	},
}

func watchOf(s *history.Store, path string) capability.CommandWatch {
	return s.Watch(capability.Call{ID: "victim", Tool: "Bash"}, []string{filepath.Dir(filepath.Dir(path))})
}
