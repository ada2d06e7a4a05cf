package host

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/shell"
	"github.com/toolquay/toolquay/plugins"
)

// places are what the policies of a session are about, whatever the settings. They
// are found out once: what a call does to the file system, such as putting a link
// where a working directory was, must not move them.
func (h *Host) places(cwd string, o *SessionOptions) (permissions.Setup, error) {
	setup := permissions.Setup{
		Layout: permissions.Layout{
			Cwd:         realDir(cwd),
			Home:        realDir(h.options.Home),
			ProjectRoot: realDir(h.options.ProjectRoot),
			PlanFile:    realDir(o.PlanFile),
			Sessions:    realDir(h.options.Sessions),
		},
		FoldCase: permissions.FoldsCase(),
		Resolve:  paths.Real,
		// What settings name is found out once too, when it is first named.
		ResolveDirectory: settledPaths(paths.Real),
	}
	setup.Analyse = func(text string) permissions.Command {
		return shell.Analyse(text, shell.Place{Cwd: setup.Cwd.Path, Home: setup.Home.Path})
	}
	for _, dir := range h.folders() {
		setup.HostFolders = append(setup.HostFolders, realDir(dir))
	}
	for _, dir := range o.AdditionalDirs {
		abs, err := directory(dir)
		if err != nil {
			return setup, fmt.Errorf("an additional directory: %w", err)
		}
		setup.Additional = append(setup.Additional, realDir(abs))
	}
	return setup, nil
}

// policy compiles the rules of settings for a session.
func (h *Host) policy(setup permissions.Setup, set *plugins.Set, st *Settings) (*permissions.Policy, error) {
	setup.Rules, setup.OnlyPolicyRules, setup.Forbidden = st.Rules, st.OnlyPolicyRules, st.ForbiddenModes
	setup.Aliases = h.aliases(set)
	setup.Tools = permissions.ToolsOf(st.Rules, func(name string) (*abi.Tool, bool) {
		t, ok := h.lookup(set, name)
		if !ok {
			return nil, false
		}
		return t.contract(), true
	})
	setup.Now = time.Now()
	policy, warnings, err := permissions.Compile(setup)
	h.warn(warnings)
	return policy, err
}

func (h *Host) warn(warnings []permissions.Warning) {
	for _, w := range warnings {
		h.options.Logger.Warn("a permission rule may not mean what was meant", "rule", w.String())
	}
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
	if h.options.Sessions != "" {
		folders = append(slices.Clip(folders), h.options.Sessions)
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
	return permissions.Dir{Path: filepath.Clean(path), Real: paths.Real(path)}
}

// settledPaths remembers where each path lay when it was first asked for.
func settledPaths(resolve func(string) string) func(string) string {
	var mu sync.Mutex
	known := make(map[string]string)
	return func(path string) string {
		mu.Lock()
		defer mu.Unlock()
		lies, ok := known[path]
		if !ok {
			lies = resolve(path)
			known[path] = lies
		}
		return lies
	}
}
