package plugins_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIndexThatCannotBeUsed(t *testing.T) {
	rested.make(t) // so that they rest while tests run that are not parallel
	t.Parallel()
	tests := map[string]struct {
		spoil func(t *testing.T, index string)
		log   string
	}{
		"one bit":   {func(t *testing.T, index string) { t.Helper(); flip(t, index) }, "it is damaged"},
		"truncated": {func(t *testing.T, index string) { t.Helper(); truncate(t, index, 40) }, "damaged"},
		"empty":     {func(t *testing.T, index string) { t.Helper(); truncate(t, index, 0) }, "another format"},
		"a folder": {func(t *testing.T, index string) {
			t.Helper()
			remove(t, index)
			write(t, filepath.Join(index, "x"), nil)
		}, "not a regular file"},
		"open to all": {func(t *testing.T, index string) {
			t.Helper()
			if err := os.Chmod(index, 0o666); err != nil {
				t.Fatal(err)
			}
		}, "others may write to it"},
		"a directory open to all": {func(t *testing.T, index string) {
			t.Helper()
			if err := os.Chmod(filepath.Dir(index), 0o777); err != nil {
				t.Fatal(err)
			}
		}, "without an index"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, o := indexed(t)
			tt.spoil(t, indexFile(t, o))
			var log bytes.Buffer
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			source, r := watched(dir)
			wantCall(t, tool(t, open(t, o, source), "Folder"), "ok")
			if r.opened["in-file.wasm"] == 0 {
				t.Error("it was used")
			}
			if !strings.Contains(log.String(), tt.log) {
				t.Errorf("the log does not say %q: %s", tt.log, log.String())
			}
		})
	}
}

func flip(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 4
	write(t, path, content)
}

func truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}
