package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/plugins"
)

func pluginCheckCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [PATH|NAME]...",
		Short: "Find what keeps plugins from being used, without running them",
		Long: `Check looks at plugins without running them: their manifests, schemas and examples,
what their modules import and export, bounds on modules and memory, names that are
taken. Of what stands that test the module is compiled, too. A PATH is a plugin's
folder, a .wasm file, or a directory of plugins; a NAME is a plugin that plugins list
shows; a word that is both counts as a PATH. Without either all of those are checked
that are not built in. It ends with 1 where a plugin can never be used as it is. list,
info, doctor and pack make the same check, without compiling, except pack.`,
		RunE: func(cmd *cobra.Command, args []string) error { return checkPlugins(cmd.Context(), a, args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checked is what a check found of one plugin.
type checked struct {
	Name        string               `json:"name"`
	Version     string               `json:"version,omitempty"`
	Origin      plugins.Origin       `json:"origin"`
	Path        string               `json:"path"`
	OK          bool                 `json:"ok"`
	Diagnostics []plugins.Diagnostic `json:"diagnostics"`
}

func checkPlugins(ctx context.Context, a *app, args []string, asJSON bool) error {
	var paths, names []string
	for _, arg := range args {
		if _, err := os.Stat(arg); err == nil || strings.ContainsRune(arg, filepath.Separator) {
			paths = append(paths, arg)
		} else {
			names = append(names, arg)
		}
	}
	list := []checked{}
	for _, path := range paths {
		more, err := checkPath(ctx, a, path)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	if len(paths) == 0 || len(names) > 0 {
		more, err := checkNames(ctx, a, names)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	ok := !slices.ContainsFunc(list, func(c checked) bool { return !c.OK })
	if asJSON {
		report := struct {
			OK      bool      `json:"ok"`
			Plugins []checked `json:"plugins"`
		}{ok, list}
		if err := a.printJSON(report); err != nil {
			return err
		}
	} else {
		for i := range list {
			printChecked(a, &list[i])
		}
	}
	if !ok {
		return quiet(exitFailed)
	}
	return nil
}

// checkPath checks the plugins at a path, each path by itself: what lies elsewhere does
// not shadow it.
func checkPath(ctx context.Context, a *app, path string) ([]checked, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, usageError("looking for plugins: %w", err)
	}
	none := usageError("%s holds no plugin: name a folder with a plugin.toml, or a .wasm file with a manifest packed into it or beside it", path)
	if !info.IsDir() && filepath.Ext(path) != ".wasm" {
		return nil, none
	}
	given := a.flags.plugins
	a.flags.plugins = append([]string{path}, given...)
	defer func() { a.flags.plugins = given }()
	o, err := a.open(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer o.close()
	list := o.host.Plugins().Plugins()
	for _, p := range list {
		if p.Name == path && p.Origin != plugins.OriginFlag {
			a.err.Printf("toolquay: %s was taken for the path; the plugin of that name is in %s\n", path, visible.Line(p.Path))
		}
	}
	path = filepath.Clean(path)
	list = slices.DeleteFunc(list, func(p *plugins.Plugin) bool {
		own := filepath.Clean(p.Path)
		return p.Origin != plugins.OriginFlag || own != path && filepath.Dir(own) != path
	})
	if len(list) == 0 {
		return nil, none
	}
	return checkEach(ctx, list), nil
}

// checkNames checks the plugins of those names; without any all that are not built in.
func checkNames(ctx context.Context, a *app, names []string) ([]checked, error) {
	o, err := a.open(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer o.close()
	all := o.host.Plugins().Plugins()
	if len(names) == 0 {
		all = slices.DeleteFunc(all, func(p *plugins.Plugin) bool { return p.Origin == plugins.OriginBuiltin })
		return checkEach(ctx, all), nil
	}
	var list []*plugins.Plugin
	for _, name := range names {
		before := len(list)
		for _, p := range all {
			if p.Name == name {
				list = append(list, p)
			}
		}
		if len(list) == before {
			return nil, unknownPlugin(o, name)
		}
	}
	return checkEach(ctx, list), nil
}

func checkEach(ctx context.Context, list []*plugins.Plugin) []checked {
	out := make([]checked, len(list))
	each(list, func(i int) { out[i] = check(ctx, list[i]) })
	return out
}

// check checks one plugin, and has it compiled if nothing else is wrong with it.
func check(ctx context.Context, p *plugins.Plugin) checked {
	c := checked{Name: p.Name, Origin: p.Origin, Path: p.Path, Diagnostics: p.Check()}
	if m := p.Manifest(); m != nil {
		c.Version = m.Version
	}
	if !plugins.Failed(c.Diagnostics) {
		if err := p.Load(ctx); err != nil {
			c.Diagnostics = append(c.Diagnostics, plugins.Diagnostic{Severity: plugins.SeverityError, Message: err.Error()})
		}
	}
	c.OK = !plugins.Failed(c.Diagnostics)
	if c.Diagnostics == nil {
		c.Diagnostics = []plugins.Diagnostic{} // an array in JSON
	}
	return c
}

func printChecked(a *app, c *checked) {
	outcome := "ok"
	if !c.OK {
		outcome = "cannot be used as it is"
	}
	a.out.Printf("%s (%s): %s\n", visible.Line(c.Name), visible.Line(c.Path), outcome)
	for _, d := range c.Diagnostics {
		a.out.Printf("%s\n", indent(visible.Text(d.String())))
	}
}

// checkAll checks plugins that are not built in, several at a time.
func checkAll(list []*plugins.Plugin) [][]plugins.Diagnostic {
	found := make([][]plugins.Diagnostic, len(list))
	each(list, func(i int) {
		if list[i].Origin != plugins.OriginBuiltin {
			found[i] = list[i].Check()
		}
	})
	return found
}

// each calls do for every index of a list, several at a time.
func each[T any](list []T, do func(i int)) {
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i := range list {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}

// found are the diagnostics as text, a line each.
func found(list []plugins.Diagnostic) string {
	lines := make([]string, len(list))
	for i, d := range list {
		lines[i] = visible.Text(d.String())
	}
	return strings.Join(lines, "\n")
}

// maxListed bounds the names that an error lists.
const maxListed = 50

// unknownPlugin is the error for a name that no plugin has. It lists those there are.
func unknownPlugin(o *opened, name string) error {
	var names []string
	for _, p := range o.host.Plugins().Plugins() {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	hint := stricttoml.DidYouMean(name, names)
	if n := len(names) - maxListed; n > 0 {
		names = append(names[:maxListed], fmt.Sprintf("%d more", n))
	}
	return usageError("no plugin %q was found%s; there are %s", name, hint, strings.Join(names, ", "))
}
