package config

import (
	"fmt"
	"os"
	"path/filepath"
)

// projectDir is the directory of a project that Toolquay reads.
const projectDir = ".toolquay"

// Project is the project that a session works in. The zero value is no project.
type Project struct {
	// Root is the project's directory, absolute and without symbolic links.
	Root string
	// Trusted says that the user trusts the project: what they were shown of it counts.
	// Otherwise only its deny and ask rules count, and its demand for isolation.
	Trusted bool
	// trust records what they were shown.
	trust *Trust
}

// FindProject finds the project of a directory: the nearest directory from it upwards
// that holds a .git, or else the directory itself.
func FindProject(cwd string, trust *Trust) (Project, error) {
	start, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return Project{}, fmt.Errorf("finding the project: %w", err)
	}
	p := Project{Root: start, trust: trust}
	for dir := start; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			p.Root = dir
			break
		}
	}
	p.Trusted = trust.Trusts(p.Root)
	return p, nil
}

// Plugins is the project's plugin directory, which need not exist. It is empty without a
// project.
func (p Project) Plugins() string {
	if p.Root == "" {
		return ""
	}
	return filepath.Join(p.Root, projectDir, "plugins")
}
