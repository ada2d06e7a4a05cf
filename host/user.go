package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/hooks"
	"github.com/toolquay/toolquay/host/judge"
	"github.com/toolquay/toolquay/host/judge/remote"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/plugins"
)

// projectFolder is the folder in a project that Toolquay reads.
const projectFolder = ".toolquay"

// Project is what a project brings for Toolquay. The zero value is none.
type Project struct {
	// Root is the project's folder, absolute and without links.
	Root string
	// Trusted says that the user trusts it. Without that only its deny and ask
	// rules count, and that it demands isolation; with it, what they were shown too.
	Trusted bool
	// trust is the record of what they were shown.
	trust *Trust
}

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

// UserSettings says which settings a command on a user's own machine goes by: the
// policy's, the user's and, as far as it is trusted, the project's.
func UserSettings(dirs Dirs, project Project) settings.Options {
	o := settings.Options{
		SystemDir: settings.SystemDir(),
		UserFile:  dirs.Settings(),
		Home:      dirs.Home,
		Project:   realDir(project.Root),
		Shown:     project.trust.follow(project.Root),
		// Permission lists that agents of this field share.
		ProjectClaude: true,
	}
	if o.Shown != nil {
		o.Watched = []string{project.trust.file.Path}
	}
	return o
}

// ForUser returns the options that a command on a user's own machine starts
// from: built-in tools, the settings that were loaded, the user's plugins and, if
// it is trusted, the project's. It reads only below the directories given.
func ForUser(dirs Dirs, project Project, loaded *settings.Loaded) (Options, error) {
	o := Options{
		Builtins:    true,
		ConsentFile: dirs.Consents(),
		CacheDir:    dirs.Compiled(),
		Home:        dirs.Home,
		ProjectRoot: project.Root,
		// It can only tighten, so that a project need not be trusted for it.
		Isolate:      loaded.Isolation.Value == abi.IsolationProcess,
		LogRequired:  loaded.Log.Required.Value || loaded.Policy.RequireLog.Value,
		PluginConfig: PluginConfigOf(loaded),
		DenyEndsTurn: !loaded.Approvals.DenyEndsTurn.Set || loaded.Approvals.DenyEndsTurn.Value,
		OnceOnly:     loaded.Approvals.AlwaysTo.Value == settings.AlwaysToNone,
		Remember:     rememberIn(project),
		Places:       places(dirs, project, loaded.Approvals.AlwaysTo.Value),
	}
	in, err := SettingsOf(loaded, project.Root)
	o.Rules, o.OnlyPolicyRules, o.ForbiddenModes, o.Hooks = in.Rules, in.OnlyPolicyRules, in.ForbiddenModes, in.Hooks
	for _, dir := range []string{dirs.Config, dirs.State, dirs.Spare, dirs.Cache} {
		if dir != "" {
			o.HostFolders = append(o.HostFolders, dir)
		}
	}
	if dirs.Plugins() != "" {
		o.Plugins = append(o.Plugins, plugins.Dir(plugins.OriginUser, dirs.Plugins()))
	}
	if project.Trusted && project.trust != nil {
		o.Plugins = append(o.Plugins, project.source())
	}
	var judgeErr, shellErr error
	o.Judge, judgeErr = judgeOf(loaded.Judge)
	o.Shell, shellErr = shellOf(dirs, loaded, os.Environ())
	return o, errors.Join(err, judgeErr, shellErr, o.tables(dirs, loaded))
}

// source is where the project's plugins are. Those that the user was not shown offer
// nothing.
func (p Project) source() plugins.Source {
	s := plugins.Dir(plugins.OriginProject, p.Plugins())
	s.Admit = p.admits
	s.Watched = []string{p.trust.file.Path}
	return s
}

// SettingsOf is what loaded settings say of what may change while a host runs. Hooks
// get their part of this process's environment and start in the project's root, if
// there is one.
func SettingsOf(loaded *settings.Loaded, root string) (Settings, error) {
	var setup permissions.Setup
	loaded.Fill(&setup)
	out := Settings{Rules: setup.Rules, OnlyPolicyRules: setup.OnlyPolicyRules, ForbiddenModes: setup.Forbidden}
	var list []hooks.Hook
	for _, event := range []settings.Event{settings.PreToolUse, settings.PostToolUse, settings.PostToolUseFailure} {
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

// PluginConfigOf is what loaded settings say of plugins' configuration, for
// [Options.PluginConfig] and [Host.Configure].
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

// judgeOf is the model that settings name, or none.
func judgeOf(j *settings.Judge) (judge.Options, error) {
	if j == nil {
		return judge.Options{}, nil
	}
	config := remote.Config{Model: j.Model, Timeout: j.Timeout}
	if j.APIKeyEnv != "" {
		config.Key = func(context.Context) (string, error) {
			key := os.Getenv(j.APIKeyEnv)
			if key == "" {
				return "", fmt.Errorf("the variable %s is empty (%s)", j.APIKeyEnv, j.Source)
			}
			return key, nil
		}
	}
	connect, usual := remote.Anthropic, "https://api.anthropic.com"
	if j.Provider == settings.ProviderOpenAI {
		connect, usual = remote.OpenAI, "https://api.openai.com/v1"
	}
	config.BaseURL = usual
	if j.BaseURL != nil {
		config.BaseURL = j.BaseURL.String()
	}
	model, err := connect(config)
	if err != nil {
		return judge.Options{}, fmt.Errorf("the judge (%s): %w", j.Source, err)
	}
	return judge.Options{Model: model, Timeout: j.Timeout, MaxTokens: j.MaxTokens}, nil
}

// places are the files that "always" may be written to.
func places(dirs Dirs, project Project, to settings.AlwaysTo) map[Scope]string {
	if to == settings.AlwaysToSession {
		return nil
	}
	out := map[Scope]string{ScopeUser: dirs.Settings()}
	if project.Trusted { // else the rule would not count there
		out[ScopeProjectLocal] = settings.ProjectLocalFile(project.Root)
		out[ScopeProject] = settings.ProjectFile(project.Root)
	}
	return out
}

// rememberIn writes the rules of an offer to its file.
func rememberIn(project Project) func(Offer) error {
	kinds := map[Scope]permissions.SourceKind{
		ScopeProjectLocal: permissions.SourceProjectLocal,
		ScopeProject:      permissions.SourceProject,
		ScopeUser:         permissions.SourceUser,
	}
	return func(o Offer) error {
		kind, ok := kinds[o.Scope]
		if !ok {
			return fmt.Errorf("%q is not written to a file", o.Scope)
		}
		target := settings.Target{Kind: kind, Path: o.File}
		if kind != permissions.SourceUser {
			target.Root = project.Root
		}
		for _, rule := range o.Rules {
			if kind != permissions.SourceUser { // the person was shown it, as a rule of this project
				if err := project.trust.Add(project.Root, settings.BroughtRule(settings.Rule{Text: rule})); err != nil {
					return err
				}
			}
			if _, err := settings.AddRule(target, permissions.Allow, settings.Rule{Text: rule}); err != nil {
				return err
			}
		}
		return nil
	}
}
