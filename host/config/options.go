package config

import (
	"errors"
	"fmt"
	"os"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/plugins"
)

// ForUser returns the options for a host on a user's own machine: the built-in tools, the
// loaded settings, the user's plugins and those of a trusted project. It reads files only
// below the given directories. With an error the options hold what could be understood.
func ForUser(dirs Dirs, project Project, loaded *settings.Loaded) (host.Options, error) {
	o := host.Options{
		Builtins: true,
		Plugins: host.PluginOptions{
			GrantsFile: dirs.PluginGrants(),
			// Isolation only tightens, so an untrusted project may demand it too.
			Isolate: loaded.Isolation.Value == abi.IsolationProcess,
			Config:  PluginConfigOf(loaded),
		},
		Skills:  skillsOf(dirs, project),
		Storage: host.StorageOptions{CacheDir: dirs.Compiled()},
		Paths: host.PathOptions{
			Home:    dirs.Home,
			Project: project.Root,
		},
		Observe: host.ObserveOptions{DecisionsRequired: loaded.Log.Required.Value || loaded.Policy.RequireLog.Value},
		Permissions: host.PermissionOptions{
			DenyEndsTurn: !loaded.Approvals.DenyEndsTurn.Set || loaded.Approvals.DenyEndsTurn.Value,
			OnceOnly:     loaded.Approvals.AlwaysTo.Value == settings.AlwaysToNone,
			Remember:     rememberIn(project),
			RuleTargets:  ruleTargets(dirs, project, loaded.Approvals.AlwaysTo.Value),
		},
	}
	in, err := SettingsOf(loaded, project.Root)
	o.Permissions.Rules, o.Permissions.OnlyPolicyRules, o.Permissions.ForbiddenModes, o.Permissions.Hooks = in.Rules, in.OnlyPolicyRules, in.ForbiddenModes, in.Hooks
	for _, dir := range []string{dirs.Config, dirs.State, dirs.Spare, dirs.Cache} {
		if dir != "" {
			o.Paths.Host = append(o.Paths.Host, dir)
		}
	}
	if dirs.Plugins() != "" {
		o.Plugins.Sources = append(o.Plugins.Sources, plugins.Dir(plugins.OriginUser, dirs.Plugins()))
	}
	if project.Trusted && project.trust != nil {
		o.Plugins.Sources = append(o.Plugins.Sources, project.source())
	}
	var judgeErr, shellErr error
	o.Permissions.Judge, judgeErr = judgeOf(loaded)
	o.Shell, shellErr = shellOf(dirs, loaded, os.Environ())
	return o, errors.Join(err, judgeErr, shellErr, setTables(&o, dirs, loaded))
}

// ruleTargets are the files that the answer "always" may be written to as a rule.
func ruleTargets(dirs Dirs, project Project, to settings.AlwaysTo) map[host.RuleTarget]string {
	if to == settings.AlwaysToSession {
		return nil
	}
	out := map[host.RuleTarget]string{host.TargetUser: dirs.Settings()}
	if project.Trusted { // otherwise the rule would not count there
		out[host.TargetProjectLocal] = settings.ProjectLocalFile(project.Root)
		out[host.TargetProject] = settings.ProjectFile(project.Root)
	}
	return out
}

// rememberIn returns a function that writes the rules of an answer to its target.
func rememberIn(project Project) func(host.RememberOption) error {
	kinds := map[host.RuleTarget]permissions.SourceKind{
		host.TargetProjectLocal: permissions.SourceProjectLocal,
		host.TargetProject:      permissions.SourceProject,
		host.TargetUser:         permissions.SourceUser,
	}
	return func(o host.RememberOption) error {
		kind, ok := kinds[o.Target]
		if !ok {
			return fmt.Errorf("%q is not written to a file", o.Target)
		}
		target := settings.Target{Kind: kind, Path: o.File}
		for _, entry := range o.Outside {
			if _, err := settings.AddOutside(target, entry); err != nil {
				return err
			}
		}
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
