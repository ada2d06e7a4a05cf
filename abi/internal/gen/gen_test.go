package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpToDate fails where package abi changed and the SDK's copy did not.
func TestUpToDate(t *testing.T) {
	src, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for file, generate := range map[string]func(*source) ([]byte, error){
		"wire/wire_gen.go": wireFile,
		"types_gen.go":     typesFile,
	} {
		want, err := generate(src)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../../../sdk/go", file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("sdk/go/%s is out of date; run: go generate ./abi", file)
		}
	}
}

// TestRefusesWhatItHasNoCodecFor holds that a new kind of field cannot be
// forgotten in silence.
func TestRefusesWhatItHasNoCodecFor(t *testing.T) {
	for name, tt := range map[string]struct{ field, want string }{
		"channel":           {"F chan int `json:\"f\"`", "no codec"},
		"map of ints":       {"F map[string]int `json:\"f\"`", "no codec for a map"},
		"list of ints":      {"F []int `json:\"f\"`", "no codec for a list"},
		"pointer to number": {"F *float64 `json:\"f\"`", "no codec for a pointer"},
		"unknown type":      {"F Missing `json:\"f\"`", "no type Missing"},
		"no tag":            {"F int", "without a tag"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text := "package abi\n\ntype T struct {\n\t" + tt.field + "\n}\n"
			if err := os.WriteFile(filepath.Join(dir, "t.go"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			src, err := load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := src.fields("T"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}
