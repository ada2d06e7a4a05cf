package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/plugins"
)

func pluginConfigCommand(a *app) *cobra.Command {
	var asJSON bool
	var unset string
	cmd := &cobra.Command{
		Use:   "config NAME [KEY [VALUE]]",
		Short: "Show or set what a plugin is configured with",
		Long: `Config shows the values that a plugin's manifest declares in [[config]], and what
they are set to; with a KEY that value alone. With a VALUE it writes it to the table
[plugins.NAME] of your settings, where all else stays as it is. A value that a policy
sets wins. Projects have no say in it.

Hosts that run take changed values up with their next turn.`,
		Args: cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case unset != "" && len(args) > 1:
				return usageError("--unset %s takes a value out; no other can be named beside it", unset)
			case unset != "":
				return unsetConfig(cmd.Context(), a, args[0], unset)
			case len(args) == 3:
				return setConfig(cmd.Context(), a, args[0], args[1], args[2])
			case len(args) == 2:
				return printConfig(cmd.Context(), a, args[0], args[1], asJSON)
			}
			return listConfig(cmd.Context(), a, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&unset, "unset", "", "take the value of this key out of your settings")
	return cmd
}

// configured is a value of a plugin's configuration.
type configured struct {
	Name        string          `json:"name"`
	Type        abi.ConfigType  `json:"type,omitempty"`
	Required    bool            `json:"required"`
	Description string          `json:"description,omitempty"`
	Value       json.RawMessage `json:"value,omitempty"`
	// Source is "default", or where the value is set; empty where there is none.
	Source string `json:"source,omitempty"`
}

// openConfig is the configuration of a plugin, in the order of its manifest.
func openConfig(ctx context.Context, a *app, plugin string) (*opened, *plugins.Plugin, []configured, error) {
	o, p, err := openPlugin(ctx, a, plugin)
	if err != nil {
		return nil, nil, nil, err
	}
	m := p.Manifest()
	if m == nil {
		defer o.close()
		return nil, nil, nil, &exitError{exitUsage, fmt.Errorf("plugin %s cannot be used: %w", plugin, p.Problem())}
	}
	out := make([]configured, len(m.Config))
	for i, key := range m.Config {
		c := configured{Name: key.Name, Type: key.Type, Required: key.Required, Description: key.Description}
		if set := o.loaded.PluginConfig[plugin][key.Name]; set.Set {
			c.Value, c.Source = set.Value, set.Source.String()
		} else if key.Default != "" {
			c.Value, _ = key.Type.Parse(key.Default) // the manifest was checked
			c.Source = "default"
		}
		out[i] = c
	}
	return o, p, out, nil
}

func listConfig(ctx context.Context, a *app, plugin string, asJSON bool) error {
	o, _, list, err := openConfig(ctx, a, plugin)
	if err != nil {
		return err
	}
	defer o.close()
	if asJSON {
		return a.printJSON(struct {
			Plugin string       `json:"plugin"`
			Config []configured `json:"config"`
		}{plugin, list})
	}
	if len(list) == 0 {
		a.out.Printf("%s declares no configuration.\n", plugin)
		return nil
	}
	rows := [][]string{{"KEY", "TYPE", "REQUIRED", "VALUE", "SOURCE", "DESCRIPTION"}}
	for i := range list {
		c := &list[i]
		rows = append(rows, []string{c.Name, cmp.Or(string(c.Type), "-"), yesNo(c.Required), cmp.Or(visible.Short(string(c.Value), maxShown), "-"), cmp.Or(c.Source, "-"), c.Description})
	}
	a.out.Table(rows)
	return nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// printConfig prints one value: a string as it is.
func printConfig(ctx context.Context, a *app, plugin, key string, asJSON bool) error {
	o, p, list, err := openConfig(ctx, a, plugin)
	if err != nil {
		return err
	}
	defer o.close()
	c, err := keyAmong(list, plugin, key)
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.printJSON(c)
	case c.Value == nil:
		return &exitError{exitFailed, fmt.Errorf("%s of %s is not set; set it with: %s", key, plugin, setCommand(p, key))}
	}
	var text string
	if json.Unmarshal(c.Value, &text) != nil {
		text = string(c.Value)
	}
	a.out.Printf("%s\n", visible.Text(text))
	return nil
}

// setCommand is the command that sets a value of a plugin's configuration.
func setCommand(p *plugins.Plugin, key string) string {
	return p.Command("plugins config " + p.Name + " " + key + " VALUE")
}

// keyAmong finds a key of a plugin's.
func keyAmong(list []configured, plugin, key string) (*configured, error) {
	if i := slices.IndexFunc(list, func(c configured) bool { return c.Name == key }); i >= 0 {
		return &list[i], nil
	}
	if len(list) == 0 {
		return nil, usageError("%s declares no configuration, so there is no %q", plugin, key)
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return nil, usageError("%s has no configuration value %q%s; there are %s", plugin, key, stricttoml.DidYouMean(key, names), strings.Join(names, ", "))
}

func setConfig(ctx context.Context, a *app, plugin, key, text string) error {
	o, p, list, err := openConfig(ctx, a, plugin)
	if err != nil {
		return err
	}
	defer o.close()
	c, err := keyAmong(list, plugin, key)
	if err != nil {
		return err
	}
	value, err := c.Type.Parse(text)
	if err != nil {
		return usageError("%s of %s: %w", key, plugin, err)
	}
	if set := o.loaded.PluginConfig[plugin][key]; set.Set && set.Source.Kind == permissions.SourcePolicy {
		return usageError("%s of %s is set by a policy, which wins (%s); nothing was written", key, plugin, set.Source)
	}
	if err := writeConfig(&o.setup, plugin, key, value); err != nil {
		return err
	}
	a.out.Printf("%s of %s is %s now (%s).\n", key, plugin, visible.Short(string(value), maxShown), o.dirs.Settings())
	c.Value = value
	for i := range list {
		if list[i].Required && list[i].Value == nil {
			a.out.Printf("Still required: %s\n", setCommand(p, list[i].Name))
		}
	}
	return nil
}

// writeConfig writes a value, or takes it out, to the user's settings.
func writeConfig(s *setup, plugin, key string, value json.RawMessage) error {
	file := s.dirs.Settings()
	if file == "" {
		return hostError(errors.New("there is no place for settings: neither HOME nor XDG_CONFIG_HOME is set"))
	}
	changed, err := settings.SetPluginConfig(settings.Target{Kind: permissions.SourceUser, Path: file}, plugin, key, value)
	switch {
	case err != nil:
		return hostError(err)
	case !changed && value == nil:
		return usageError("%s of %s is not set in %s", key, plugin, file)
	}
	return nil
}

// unsetConfig takes a value out of the user's settings, also one of a plugin that is
// gone.
func unsetConfig(ctx context.Context, a *app, plugin, key string) error {
	s, err := a.setup()
	if err != nil {
		return err
	}
	if !s.loaded.PluginConfig[plugin][key].Set { // else it can go, whatever the plugin declares
		o, _, list, err := openConfig(ctx, a, plugin)
		if err != nil {
			return err
		}
		defer o.close()
		if _, err := keyAmong(list, plugin, key); err != nil {
			return err
		}
	}
	if err := writeConfig(&s, plugin, key, nil); err != nil {
		return err
	}
	a.out.Printf("%s of %s is taken out of %s.\n", key, plugin, s.dirs.Settings())
	return nil
}
