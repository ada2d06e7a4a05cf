package config

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// UserSettings names the settings files that count on a user's own machine: those of the
// policy, of the user and, as far as it is trusted, of the project.
func UserSettings(dirs Dirs, project Project) settings.Options {
	o := settings.Options{
		SystemDir: SystemDir(),
		UserFile:  dirs.Settings(),
		Home:      dirs.Home,
		Project:   realDir(project.Root),
		Shown:     project.trust.follow(project.Root),
		// Permission lists that agents of this field share.
		ProjectClaude: true,
		// The MCP servers that they share.
		ProjectServers: true,
	}
	if o.Shown != nil {
		o.Watched = []string{project.trust.file.Path}
	}
	return o
}

// realDir is a directory with its real path, which is empty if it cannot be determined.
func realDir(path string) permissions.Dir {
	if path == "" {
		return permissions.Dir{}
	}
	dir := permissions.Dir{Path: filepath.Clean(path)}
	if node, err := workspace.Resolve("/", path); err == nil {
		defer node.Close()
		dir.Real = node.Real
	}
	return dir
}

// SettingsOf returns the part of loaded settings that may change while a host runs, for
// [host.Host.Apply]. Hooks get part of this process's environment and start in the
// project's root, if there is one.
func SettingsOf(loaded *settings.Loaded, root string) (host.Settings, error) {
	var setup permissions.Setup
	loaded.Fill(&setup)
	out := host.Settings{Rules: setup.Rules, OnlyPolicyRules: setup.OnlyPolicyRules, ForbiddenModes: setup.Forbidden}
	var list []hooks.Hook
	for _, event := range settings.Events() {
		for _, h := range loaded.Hooks[event] {
			list = append(list, hooks.Hook{
				Event: hooks.Event(h.Event), Matcher: h.Matcher, Command: h.Command, Timeout: h.Timeout,
				Env: h.Env, Source: h.Source,
			})
		}
	}
	if len(list) == 0 {
		return out, nil
	}
	var err error
	out.Hooks, err = hooks.Compile(list, hooks.Options{Environ: os.Environ(), Project: root})
	return out, err
}

// PluginConfigOf returns the configuration of plugins in loaded settings, for
// [host.Options.Plugins.Config] and [host.Host.Configure].
func PluginConfigOf(loaded *settings.Loaded) map[string]map[string]json.RawMessage {
	out := make(map[string]map[string]json.RawMessage, len(loaded.PluginConfig))
	for plugin, values := range loaded.PluginConfig {
		out[plugin] = make(map[string]json.RawMessage, len(values))
		for name, value := range values {
			out[plugin][name] = value.Value
		}
	}
	return out
}
