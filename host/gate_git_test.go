package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// TestWritingToGit: tools that write files ask wherever git would run what they wrote,
// by whatever name it lies there.
func TestWritingToGit(t *testing.T) {
	t.Parallel()
	content := map[string]string{
		"tree/.git": "gitdir: ../data/own/worktrees/tree\n", "data/own/worktrees/tree/HEAD": "ref: refs/heads/b\n",
		"data/own/worktrees/tree/commondir": "../..\n", "half/objects/x": "", "half/refs/x": "", "other/HEAD": "ref: refs/heads/b\n", "other/objects/x": "",
		"third/HEAD": "ref: refs/heads/b\n", "hooked/.git/HEAD": "ref: refs/heads/b\n", "hooked/.git/config": "[core]\n\thooksPath = programs\n[include]\n\tpath = ../more\n",
		".git/HEAD": "ref: refs/heads/b\n", ".git/config": "[core]\n\thooksPath = own/programs\n", "src/objects/x": "", "src/refs/x": "",
	}
	for _, own := range []string{"data/own", "bare"} {
		content[own+"/HEAD"], content[own+"/config"], content[own+"/objects/x"], content[own+"/refs/x"] = "ref: refs/heads/b\n", "", "", ""
	}
	for name, asks := range map[string]bool{
		"data/own/hooks/pre-commit": true, "data/own/worktrees/tree/config.worktree": true, "data/own/info/x": true,
		"bare/hooks/post-receive": true, "bare/config.worktree": true, "tree/a/.git": true,
		"half/HEAD": true, "other/refs/heads/b": true, "third/commondir": true,
		"hooked/programs/pre-commit": true, "hooked/more": true, "own/programs/pre-commit": true,
		"half/heading": false, "other/objects/y": false, "third/a": false, "hooked/programs.txt": false, "programs/x": false,
		"src/head.go": false, "own/x": false, "data/x": false, "a/b/HEAD": false, "a/commondir": false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, content)
			h := newShelled(t)
			s := session(t, h.Host, host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits})
			r, _ := one(t, s, "Write", fmt.Sprintf(`{"file_path":%q,"content":"x"}`, filepath.Join(dir, name)))
			_, err := os.Lstat(filepath.Join(dir, name))
			if asks != r.IsError || asks != os.IsNotExist(err) {
				t.Errorf("%v, %q", err, r.Text())
			}
		})
	}
}
