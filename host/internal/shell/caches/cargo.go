package caches

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// cargoFilled is in a layer what was filled last; when it changed says with what.
const cargoFilled = ".filled"

// fillCargo has cargo find the crates that the user has downloaded, and its configuration
// without the credentials.
func fillCargo(f *filling) {
	for _, name := range []string{"config.toml", "config"} {
		f.link(filepath.Join(f.lower, name), name)
	}
	downloads := filepath.Join(f.lower, "registry", "cache")
	found, _ := filepath.Glob(filepath.Join(globEscaped(downloads), "*")) // the pattern is well-formed
	for _, registry := range found {
		f.crates(registry, path.Join("registry", "cache", filepath.Base(registry)))
	}
}

// crates links the crates of a registry, and copies what the index says of them, unless
// that was done since one was added.
func (f *filling) crates(registry, name string) {
	info, err := os.Stat(registry)
	if err != nil || !info.IsDir() {
		return
	}
	marker := path.Join(f.name, name, cargoFilled)
	if filled, err := f.root.Lstat(marker); err == nil && filled.ModTime().Equal(info.ModTime()) {
		return
	}
	crates, err := os.ReadDir(registry)
	if err != nil {
		return
	}
	for _, crate := range crates {
		f.link(filepath.Join(registry, crate.Name()), path.Join(name, crate.Name()))
	}
	index := filepath.Join("registry", "index", filepath.Base(registry))
	f.index(filepath.Join(f.lower, index), filepath.ToSlash(index))
	if err := f.root.WriteFile(marker, nil, 0o600); err == nil {
		_ = f.root.Chtimes(marker, info.ModTime(), info.ModTime()) // at worst it is filled again
	}
}

// maxIndex bounds the files of an index that are copied, and maxEntry each in bytes. An index
// in git is not copied.
const (
	maxIndex = 20_000
	maxEntry = 4 << 20
)

// index copies what is missing of a registry's index.
func (f *filling) index(from, name string) {
	if _, err := os.Stat(filepath.Join(from, ".git")); err == nil {
		return
	}
	copied := 0
	_ = fs.WalkDir(os.DirFS(from), ".", func(at string, entry fs.DirEntry, err error) error {
		if err != nil || copied > maxIndex {
			return fs.SkipAll
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		copied++
		f.copyNew(filepath.Join(from, filepath.FromSlash(at)), path.Join(f.name, name, at))
		return nil
	})
}

// copyNew copies a file that the layer does not have.
func (f *filling) copyNew(from, name string) {
	info, err := os.Stat(from)
	if err != nil || info.Size() > maxEntry {
		return
	}
	if _, err := f.root.Lstat(name); err == nil {
		return
	}
	content, err := os.ReadFile(from)
	if err != nil || f.root.MkdirAll(path.Dir(name), 0o700) != nil {
		return
	}
	_ = f.root.WriteFile(name, content, 0o600) // cargo asks for what is missing
}
