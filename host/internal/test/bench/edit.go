package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// editRows set an edit of a large file against what no editor of whole files can do
// without: to read it, write another beside it, have that on the disk and swap them.
func editRows() []row {
	return []row{{
		name: "Edit of a line in the middle of 1 MiB, a call", ours: edited, baseline: "read, write, fsync, rename", theirs: swapped,
		compare: ratio, limit: "-",
	}}
}

// The two lines that replace each other, of one length.
const before, after = "the line before\n", "the line after.\n"

// large makes the file that is edited.
func large(b *testing.B) (path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "large.txt")
	text := bytes.Clone(content)
	copy(text[len(text)/2:], before)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// edited changes the line to and fro. It was read once; what an edit leaves is known.
func edited(b *testing.B, l *lab) {
	ctx := context.Background()
	path := large(b)
	h, err := host.Open(ctx, host.Options{
		Storage:  host.StorageOptions{CacheDir: filepath.Join(l.dir, "cache"), Sessions: filepath.Join(b.TempDir(), "sessions")},
		Builtins: true, Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{fiftyRules()}},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close(ctx)
	s, err := h.NewSession(host.SessionOptions{Cwd: filepath.Dir(path), Mode: permissions.ModeAcceptEdits})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(ctx)
	call := func(tool string, input map[string]any) {
		raw, err := json.Marshal(input)
		if err != nil {
			b.Fatal(err)
		}
		if r := s.Results(ctx, []abi.ToolUse{{ID: "1", Name: tool, Input: raw}}); r[0].IsError {
			b.Fatal(r[0].Text())
		}
	}
	call("Read", map[string]any{"file_path": path, "offset": mib1/32 - 10, "limit": 100})
	from, to := before, after
	for b.Loop() {
		call("Edit", map[string]any{"file_path": path, "old_string": from, "new_string": to})
		from, to = to, from
	}
}

// swapped does the same without asking anybody or keeping anything.
func swapped(b *testing.B, _ *lab) {
	path := large(b)
	from, to := []byte(before), []byte(after)
	for b.Loop() {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := swap(path, bytes.Replace(text, from, to, 1)); err != nil {
			b.Fatal(err)
		}
		from, to = to, from
	}
}

func swap(path string, text []byte) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // again, after a failure
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
