package host

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/host/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// policy compiles the rules in force for a new session.
func (h *Host) policy(cwd string, o SessionOptions, set *plugins.Set) (*permissions.Policy, error) {
	setup := permissions.Setup{
		Cwd:      realDir(cwd),
		Home:     realDir(h.options.Home),
		Rules:    h.options.Rules,
		Aliases:  h.aliases(set),
		FoldCase: permissions.FoldsCase(),
		Resolve:  realPath,
	}
	for _, dir := range h.folders() {
		setup.HostFolders = append(setup.HostFolders, realDir(dir))
	}
	for _, dir := range o.AdditionalDirs {
		abs, err := directory(dir)
		if err != nil {
			return nil, err
		}
		setup.Additional = append(setup.Additional, realDir(abs))
	}
	policy, warnings, err := permissions.Compile(setup)
	for _, w := range warnings {
		h.options.Logger.Warn("a permission rule may not mean what was meant", "rule", w.String())
	}
	if err != nil || o.Mode == "" {
		return policy, err
	}
	return policy.WithMode(o.Mode)
}

// folders are the host's own places. What is written there decides what runs
// later, compiled plugins above all.
func (h *Host) folders() []string {
	folders := h.options.HostFolders
	if h.options.CacheDir != "" {
		folders = append(slices.Clip(folders), h.options.CacheDir)
	}
	if h.options.ConsentFile != "" {
		folders = append(slices.Clip(folders), filepath.Dir(h.options.ConsentFile))
	}
	return folders
}

// aliases maps the other names of tools to the ones that rules are about.
func (h *Host) aliases(set *plugins.Set) map[string]string {
	aliases := maps.Clone(set.Aliases())
	for _, t := range h.native {
		for _, alias := range t.Contract.Aliases {
			aliases[alias] = t.Contract.Name
		}
	}
	return aliases
}

func realDir(path string) permissions.Dir {
	if path == "" {
		return permissions.Dir{}
	}
	return permissions.Dir{Path: filepath.Clean(path), Real: realPath(path)}
}

// realPath is where a path really lies, as far as it exists; empty where that
// cannot be told.
func realPath(path string) string {
	node, err := workspace.Resolve("/", path)
	if err != nil {
		return ""
	}
	defer node.Close()
	return node.Real
}
