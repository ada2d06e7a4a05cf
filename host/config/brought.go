package config

import (
	"errors"
	"log/slog"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/plugins"
)

// Brings lists what the project brings that needs trust, and what of it the user was not
// shown yet. The pins of a listed thing are those of the bytes that were read for the list.
func (p Project) Brings(dirs Dirs) (all, unseen []settings.Brought, err error) {
	sources := UserSettings(dirs, p)
	sources.SystemDir, sources.UserFile = "", ""
	loaded, err := settings.Load(sources)
	if err != nil {
		return nil, nil, err
	}
	all = loaded.Brings
	set, err := plugins.Open(plugins.Options{
		Sources: []plugins.Source{plugins.Dir(plugins.OriginProject, p.Plugins())},
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, nil, err
	}
	places := p.SkillSources(dirs)
	for _, plugin := range set.Plugins() {
		if b, err := broughtPlugin(plugin); err == nil {
			all = append(all, b)
		}
		if s, has := host.PluginSkills(plugin); has {
			places = append(places, s)
		}
	}
	shown := p.trust.shown(p.Root)
	for _, b := range all {
		if !shown[b.Pin()] {
			unseen = append(unseen, b)
		}
	}
	for _, s := range usableSkills(places) {
		b := broughtSkill(s)
		all = append(all, b)
		if !shown[b.Pin()] && (shown == nil || len(s.Tools) > 0) {
			unseen = append(unseen, b)
		}
	}
	return all, unseen, nil
}

// source is where the project's plugins are found. Plugins that the user was not shown are
// refused.
func (p Project) source() plugins.Source {
	s := plugins.Dir(plugins.OriginProject, p.Plugins())
	s.Admit = p.admit
	s.Watched = []string{p.trust.file.Path}
	return s
}

// admit returns a function that refuses plugins the user was not shown. It reads the trust
// file once for all plugins.
func (p Project) admit() func(*plugins.Plugin) error {
	shown, err := p.trust.follow(p.Root)()
	return func(plugin *plugins.Plugin) error {
		if err != nil {
			return err
		}
		if shown == nil {
			return errors.New("the project is not trusted any more; toolquay trust shows and trusts what it brings")
		}
		b, err := broughtPlugin(plugin)
		if err == nil && !shown[b.Pin()] {
			err = errors.New("it is new since the project was trusted; toolquay trust shows and trusts what is new")
		}
		return err
	}
}

// broughtPlugin describes a plugin of a project. Its pin depends on every byte of the
// module and the manifest. A plugin that cannot be read is an error; it has no effect.
func broughtPlugin(p *plugins.Plugin) (settings.Brought, error) {
	fingerprint, err := p.Fingerprint()
	if err != nil {
		return settings.Brought{}, err
	}
	note := ", which asks for no capability"
	for i, claim := range p.Manifest().Capabilities {
		if i == 0 {
			note = ", which will ask for " + claim.Name
		} else {
			note += ", " + claim.Name
		}
	}
	return settings.Brought{
		Kind: settings.BringsPlugin, Text: p.Name + ", SHA-256 " + fingerprint, Note: note,
		Source: permissions.Source{Kind: permissions.SourceProject, File: p.Path},
	}, nil
}
