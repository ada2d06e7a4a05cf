package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
)

func toolsCommand(a *app) *cobra.Command {
	var format string
	var all bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools that a model would be offered",
		Long: `Tools lists what a model would be offered here and now, or writes it the way a
model API wants it. With --all the table also has the tools that are not
offered, and why.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "table" && !slices.Contains(host.Formats(), host.Format(format)) {
				return usageError("--format %q: there are table, anthropic, openai and mcp", format)
			}
			o, err := a.open(cmd.Context(), nil)
			if err != nil {
				return err
			}
			defer o.close()
			if format == "table" {
				return a.toolTable(o, all)
			}
			definitions, err := o.session.Definitions(host.Format(format))
			if err != nil {
				return hostError(err)
			}
			return a.printJSON(definitions)
		},
	}
	cmd.Flags().StringVarP(&format, "format", "f", "table", "table, anthropic, openai or mcp")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list tools that are not offered too, with the reason")
	return cmd
}

func (a *app) toolTable(o *opened, all bool) error {
	offered, err := offeredNames(o.session)
	if err != nil {
		return hostError(err)
	}
	rows := [][]string{{"NAME", "PLUGIN", "TRAITS", "SUMMARY"}}
	if all {
		rows[0] = append(rows[0], "NOT OFFERED BECAUSE")
	}
	for _, t := range o.host.Plugins().Tools() {
		row := []string{t.Name, t.Plugin.Name, traits(t.Tool), t.Summary}
		switch {
		case offered[t.Name] && all:
			rows = append(rows, append(row, ""))
		case offered[t.Name]:
			rows = append(rows, row)
		case all:
			rows = append(rows, append(row, whyNot(t)))
		}
	}
	if all {
		rows = append(rows, brokenTools(o.host.Plugins())...)
	}
	a.out.Table(rows)
	return nil
}

// offeredNames are the tools whose definitions a model would get.
func offeredNames(s *host.Session) (map[string]bool, error) {
	definitions, err := s.Definitions(host.FormatMCP)
	if err != nil {
		return nil, err
	}
	var list []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(definitions, &list); err != nil {
		return nil, fmt.Errorf("reading the definitions: %w", err)
	}
	names := make(map[string]bool, len(list))
	for _, d := range list {
		names[d.Name] = true
	}
	return names, nil
}

func whyNot(t *plugins.Tool) string {
	if err := t.Available(); err != nil {
		return firstLine(err.Error())
	}
	if t.Enabled == abi.TraitFalse {
		return "its manifest switches it off"
	}
	return "a deny rule binds all of its calls"
}

// brokenTools are the tools of plugins that cannot be used.
func brokenTools(set *plugins.Set) [][]string {
	var rows [][]string
	for _, p := range set.Plugins() {
		m := p.Manifest()
		if p.Problem() == nil || m == nil {
			continue
		}
		for i := range m.Tools {
			t := &m.Tools[i]
			rows = append(rows, []string{t.Name, p.Name, traits(t), t.Summary, firstLine(p.Problem().Error())})
		}
	}
	return rows
}

// traits names a tool's traits; a question mark stands after those that depend
// on the call.
func traits(t *abi.Tool) string {
	var names []string
	for _, trait := range []struct {
		name  string
		value abi.Trait
	}{{"read-only", t.ReadOnly}, {"parallel", t.ConcurrencySafe}, {"destructive", t.Destructive}} {
		switch trait.value {
		case abi.TraitTrue:
			names = append(names, trait.name)
		case abi.TraitInput, abi.TraitDerived:
			names = append(names, trait.name+"?")
		}
	}
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}

func firstLine(s string) string {
	first, _, more := strings.Cut(s, "\n")
	if more {
		first += " …"
	}
	return first
}
