package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// projectFolder is the folder in a project that Toolquay reads.
const projectFolder = ".toolquay"

// Project is what a project brings for Toolquay. The zero value is none.
type Project struct {
	// Root is the project's folder, absolute and without links.
	Root string
	// Trusted says that the user trusts it. Without that only its deny and ask
	// rules count, and that it demands isolation.
	Trusted bool
}

// Settings is the project's settings file, whether or not it is there.
func (p Project) Settings() string { return p.file("settings.toml") }

// Plugins is the project's plugin directory, whether or not it is there.
func (p Project) Plugins() string { return p.file("plugins") }

// file is a place in the project's folder, empty where there is no project.
func (p Project) file(name string) string {
	if p.Root == "" {
		return ""
	}
	return filepath.Join(p.Root, projectFolder, name)
}

// FindProject finds the project that a directory belongs to: the nearest folder
// from it upwards that holds a .git, or else the directory itself.
func FindProject(cwd string, trust *Trust) (Project, error) {
	start, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return Project{}, fmt.Errorf("finding the project: %w", err)
	}
	p := Project{Root: start}
	for dir := start; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			p.Root = dir
			break
		}
	}
	p.Trusted = trust.Trusts(p.Root)
	return p, nil
}

// ForUser returns the options that a command on a user's own machine starts
// from: built-in tools, the user's settings and plugins and, as far as it is
// trusted, the project's. The messages are for the user. It reads only below
// the directories given.
func ForUser(dirs Dirs, project Project) (Options, []permissions.Warning, error) {
	o := Options{
		Builtins:    true,
		ConsentFile: dirs.Consents(),
		CacheDir:    dirs.Compiled(),
		Home:        dirs.Home,
	}
	for _, dir := range []string{dirs.Config, dirs.State, dirs.Cache} {
		if dir != "" {
			o.HostFolders = append(o.HostFolders, dir)
		}
	}
	if dirs.Plugins() != "" {
		o.Plugins = append(o.Plugins, plugins.Dir(plugins.OriginUser, dirs.Plugins()))
	}
	if project.Trusted {
		o.Plugins = append(o.Plugins, plugins.Dir(plugins.OriginProject, project.Plugins()))
	}
	var warnings []permissions.Warning
	var errs []error
	for _, s := range []struct {
		file string
		kind permissions.SourceKind
	}{{dirs.Settings(), permissions.SourceUser}, {project.Settings(), permissions.SourceProject}} {
		if s.file == "" {
			continue
		}
		settings, err := permissions.LoadSettings(s.file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		// It can only tighten, so that a project need not be trusted for it.
		o.Isolate = o.Isolate || settings != nil && settings.Isolation == abi.IsolationProcess
		rules, left := settings.RuleSet(s.kind, project.Trusted)
		if s.kind == permissions.SourceProject {
			rules.Folder = realDir(project.Root)
		}
		o.Rules = append(o.Rules, rules)
		warnings = append(warnings, left...)
	}
	return o, warnings, errors.Join(errs...)
}
