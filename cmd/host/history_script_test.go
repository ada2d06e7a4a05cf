package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

// wrote SESSION CALL FILE CONTENT does in a session what a tool's write does: the
// history keeps what the file was, and then it holds the content of another file.
// With ! the host ends between the two.
func wrote(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: [!] wrote session call file content-file")
	}
	ctx := context.Background()
	h, err := host.Open(ctx, host.Options{Storage: host.StorageOptions{Sessions: filepath.Join(ts.Getenv("XDG_STATE_HOME"), "toolquay", "sessions")}})
	ts.Check(err)
	defer h.Close(ctx)
	s, err := h.NewSession(host.SessionOptions{ID: args[0], Cwd: ts.Getenv("WORK")})
	ts.Check(err)
	path, err := filepath.EvalSymlinks(ts.MkAbs("."))
	ts.Check(err)
	path = filepath.Join(path, args[2])
	content := []byte(ts.ReadFile(args[3]))
	w := capability.Write{
		Call: capability.Call{ID: args[1], Tool: "Write"}, Path: path,
		AfterHash: sha256.Sum256(content), AfterSize: int64(len(content)),
	}
	was, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		ts.Check(err)
		info, err := os.Stat(path)
		ts.Check(err)
		w.Before, w.BeforeSize, w.Mode = bytes.NewReader(was), int64(len(was)), uint32(info.Mode().Perm())
	}
	_, err = s.History().Keep(ctx, w)
	ts.Check(err)
	if !neg {
		ts.Check(os.WriteFile(path, content, 0o644))
	}
}
