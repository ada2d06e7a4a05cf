package direct_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/plugins/direct"
)

// answers loads and calls the smallest fixture through a cache directory, in a
// runner of its own, as a new process would, and returns what was logged.
func answers(t *testing.T, dir string) string {
	t.Helper()
	var log bytes.Buffer
	r := direct.New(direct.Options{CacheDir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	defer r.Close(context.Background())
	in, err := r.Load(t.Context(), moduleOf(fixture(t, "ok")))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close(context.Background())
	result, err := in.Call(t.Context(), invocation("{}"))
	if err != nil || result.Text() != "ok" {
		t.Fatalf("got %q, %v", result.Text(), err)
	}
	return log.String()
}

// entries returns the files of compiled code below a cache directory.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*", "code", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCacheDamage(t *testing.T) {
	damages := map[string]struct {
		do    func(t *testing.T, file string)
		noted bool
	}{
		"truncated": {func(t *testing.T, file string) { t.Helper(); truncate(t, file, 100) }, true},
		"emptied":   {func(t *testing.T, file string) { t.Helper(); truncate(t, file, 0) }, true},
		"one bit of a table": {func(t *testing.T, file string) {
			t.Helper()
			flip(t, file, 24) // an offset, which wazero's own checksum does not cover
		}, true},
		"one bit of the code": {func(t *testing.T, file string) { t.Helper(); flip(t, file, -40) }, true},
		"deleted": {func(t *testing.T, file string) {
			t.Helper()
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}, true},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			answers(t, dir)
			files := entries(t, dir)
			if len(files) != 1 {
				t.Fatalf("the cache holds %q", files)
			}
			whole, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			damage.do(t, files[0])
			log := answers(t, dir)
			if noted := strings.Contains(log, "damaged entry"); noted != damage.noted {
				t.Errorf("logged %q", log)
			}
			rebuilt, err := os.ReadFile(files[0])
			if err != nil || len(rebuilt) != len(whole) {
				t.Errorf("the rebuilt entry has %d bytes, %v; the first had %d", len(rebuilt), err, len(whole))
			}
			if log := answers(t, dir); log != "" {
				t.Errorf("the third run logged %q", log)
			}
		})
	}
}

// TestCacheHealsWithoutIndex loses the index, and damages an entry it would
// have vouched for.
func TestCacheHealsWithoutIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	answers(t, dir)
	index, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*", "module.json"))
	if err != nil || len(index) != 1 {
		t.Fatalf("the index is %q, %v", index, err)
	}
	if err := os.Remove(index[0]); err != nil {
		t.Fatal(err)
	}
	truncate(t, entries(t, dir)[0], 100)
	answers(t, dir)
	if log := answers(t, dir); log != "" {
		t.Errorf("logged %q", log)
	}
}

func TestUnusableCacheIsDoneWithout(t *testing.T) {
	tests := map[string]func(t *testing.T) string{
		"open to others": func(t *testing.T) string {
			t.Helper()
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"a file": func(t *testing.T) string {
			t.Helper()
			file := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		},
		"a link": func(t *testing.T) string {
			t.Helper()
			dir := t.TempDir()
			link := filepath.Join(dir, "link")
			if err := os.Symlink(t.TempDir(), link); err != nil {
				t.Fatal(err)
			}
			return link
		},
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			if log := answers(t, make(t)); !strings.Contains(log, "compiling without a cache") {
				t.Errorf("logged %q", log)
			}
		})
	}
}

func truncate(t *testing.T, file string, size int64) {
	t.Helper()
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
}

// flip inverts a bit of the byte at an offset, from the end where it is
// negative.
func flip(t *testing.T, file string, at int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 0x10
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCacheMarksUse: a module that is used is marked, so that it is not taken for one that
// nobody needs any more.
func TestCacheMarksUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	answers(t, dir)
	modules, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if err != nil || len(modules) != 1 {
		t.Fatalf("the modules are %q, %v", modules, err)
	}
	then := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(modules[0], then, then); err != nil {
		t.Fatal(err)
	}
	answers(t, dir)
	if info, err := os.Stat(modules[0]); err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("marked %v, %v", info.ModTime(), err)
	}
}
