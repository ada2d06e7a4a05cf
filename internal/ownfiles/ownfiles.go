// Package ownfiles says which files this process itself is making for a person. Others that
// watch a directory, to undo what commands make there, leave these alone.
package ownfiles

import (
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// remembered is for how long a file counts as made by this process: it takes less than that
// until whoever watches knows of it.
const remembered = 10 * time.Second

var (
	mu   sync.Mutex
	made = make(map[string]time.Time)
	// swept is when paths that are too old were last removed. Not each call does it, because many
	// files are made at a time.
	swept time.Time
)

// Making says that a file is about to be made at a path, and perhaps directories above it.
func Making(path string) { MakingReal(resolved(path)) }

// MakingReal is [Making] for a path without symbolic links.
func MakingReal(path string) {
	now := time.Now()
	mu.Lock()
	defer mu.Unlock()
	if now.Sub(swept) > remembered {
		swept = now
		for known, at := range made {
			if now.Sub(at) > remembered {
				delete(made, known)
			}
		}
	}
	made[path] = now
}

// Made reports whether what lies at a path, which leads through no links, was made by this
// process a moment ago, or is a directory above something that was.
func Made(path string) bool {
	mu.Lock()
	defer mu.Unlock()
	for known, at := range made {
		if rest, ok := strings.CutPrefix(known, path); ok && (rest == "" || rest[0] == filepath.Separator) && time.Since(at) <= remembered {
			return true
		}
	}
	return false
}

// resolved follows the links that lead to a path, as far as it exists.
func resolved(path string) string {
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if lies, err := filepath.EvalSymlinks(at); err == nil || at == filepath.Dir(at) {
			if err != nil {
				lies = at
			}
			return filepath.Join(lies, rest)
		}
	}
}
