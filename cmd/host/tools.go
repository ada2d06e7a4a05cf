package main

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/plugins"
)

// offer is what the flags say of what is offered.
type offer struct {
	preset, deferral, audience string
	only                       []string
	streams, staged            bool
	strict, examples           bool
	choice                     string
	schema                     outputSchema
}

func (f *offer) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.preset, "preset", "", "offer the tools of a preset: full or minimal (Bash, Read, Edit; nothing goes on in the background) (default: as the settings say, or full)")
	flags.StringSliceVar(&f.only, "only", nil, "offer these tools only, with commas between them (repeatable)")
	flags.StringVar(&f.deferral, "defer", "", "list tools that can wait by name alone: auto (where there are many), always or never (default: as the settings say, or auto)")
	flags.BoolVar(&f.streams, "stream", true, "what run --stream and an embedder's session offer; with --stream=false what run and call do, where no command goes on in the background")
	flags.BoolVar(&f.staged, "stage", false, "what a session offers whose writes are staged")
	flags.BoolVar(&f.strict, "strict", false, "have the API hold the model to the schemas of tools that say strict, as many as it takes")
	flags.BoolVar(&f.examples, "examples", false, "give examples of inputs, in the description where the API has no place for them")
	flags.StringVar(&f.choice, "tool-choice", "", "auto, any, none or tool:NAME; prints an object with tools and tool_choice (gemini: toolConfig), as it stands in a request")
	f.schema.register(cmd)
	flags.StringVar(&f.audience, "audience", "", "whom the tools are for: main, subagent or background (default main)")
}

// apply checks the flags and returns what they change.
func (f *offer) apply() (func(*setup), error) {
	if f.preset != "" && len(f.only) > 0 {
		return nil, usageError("--preset and --only are two ways to say the same; use one")
	}
	only := f.only
	if f.preset != "" {
		list, err := host.Preset(f.preset)
		if err != nil {
			return nil, usageError("--preset: %w", err)
		}
		only = list
	}
	deferral, err := host.ParseDeferral(f.deferral)
	if err != nil {
		return nil, usageError("--defer: %w", err)
	}
	audience, err := host.ParseAudience(f.audience)
	if err != nil {
		return nil, usageError("--audience: %w", err)
	}
	return func(s *setup) {
		if f.preset != "" || len(f.only) > 0 {
			s.options.Model.Toolset.Only = only
		}
		if f.deferral != "" {
			s.options.Model.Toolset.Defer = deferral
		}
		s.session.Audience = audience
		s.session.Stage = s.session.Stage || f.staged
		s.options.Model.Toolset.Strict, s.options.Model.Toolset.Examples = f.strict, f.examples
		s.session.Prompts = f.streams
		if !f.streams {
			s.alone() // as run and call do
		}
	}, nil
}

// toolFormats are the ways to write the list besides the model APIs'.
var toolFormats = []string{"table", "json"}

// formatNames are all ways, in words.
func formatNames() string {
	return strings.Join(toolFormats, ", ") + ", " + formatsOf(host.Formats())
}

func toolsCommand(a *app) *cobra.Command {
	var format string
	var all bool
	var flags offer
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools that a model would be offered",
		Long: `Tools lists what a model would be offered here and now, or writes it the way a
model API wants it: the list that run offers with the same flags. With
--all the list also has the tools that are not offered, and why. With --session it is
what that session's model would be told next. Tools that ask a person are listed with
--approval pipe or later.

Where many tools are offered, those that can wait are deferred: the model is told
their names, and looks for them with ToolSearch before it calls them.

Gemini CLI finds and calls these tools by commands, in its settings:

  "tools": {
    "discoveryCommand": "toolquay tools -f gemini --stream=false --defer never",
    "callCommand": "/home/me/bin/toolquay-call"
  }

It takes the second for the path of one program. So that is a script:

  #!/bin/sh
  exec toolquay call --stdin "$@"

What the rules leave open is denied there, as nobody can be asked.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api := slices.Contains(host.Formats(), host.Format(format))
			if !slices.Contains(toolFormats, format) && !api {
				return usageError("--format %q: write %s", format, formatNames())
			}
			choice, err := host.ParseToolChoice(flags.choice)
			if err != nil {
				return usageError("--tool-choice: %w", err)
			}
			if flags.choice != "" && (!api || host.Format(format) == host.FormatMCP) {
				return usageError("--tool-choice: the format %s has none", format)
			}
			change, err := flags.apply()
			if err != nil {
				return err
			}
			schema, err := flags.schema.read(cmd.Context(), a)
			if err != nil {
				return err
			}
			o, err := a.open(cmd.Context(), func(s *setup) {
				s.servers = true
				if f := a.flags.approval; f == approvePipe || f == approveLater {
					s.session.Asker = approvals.AnyFunc(func(context.Context, host.Question) (host.Reply, error) { return host.Reply{}, host.ErrNobody })
				}
				change(s)
				s.session.OutputSchema = schema
			})
			if err != nil {
				return err
			}
			defer o.close()
			_ = o.servers.Wait(cmd.Context()) // those that fail are missing, and the log says why
			o.warnMissing(flags.only)
			if api {
				return printDefinitions(a, o.session, host.Format(format), choice)
			}
			tools, err := o.session.Tools(host.FormatAnthropic)
			if err != nil {
				return hostError(err)
			}
			if format == "json" {
				return printToolList(a, tools, all)
			}
			printToolTable(a, o, tools, all)
			return nil
		},
	}
	cmd.Flags().StringVarP(&format, "format", "f", "table", formatNames())
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list tools that are not offered too, with the reason")
	flags.register(cmd)
	return cmd
}

// printDefinitions prints what an API is told of the tools.
func printDefinitions(a *app, s *host.Session, format host.Format, choice host.ToolChoice) error {
	write := s.Definitions
	if choice != (host.ToolChoice{}) {
		write = func(format host.Format) (json.RawMessage, error) { return s.Request(format, choice) }
	}
	definitions, err := write(format)
	if abi.CodeOf(err) == abi.CodeUnknownTool {
		return usageError("--tool-choice: %w", err)
	}
	if err != nil {
		return hostError(err)
	}
	return a.printJSON(definitions)
}

// warnMissing tells of names that no tool has.
func (o *opened) warnMissing(only []string) {
	for _, name := range only {
		if _, ok := o.host.Plugins().Tool(name); !ok {
			o.options.Observe.Logger.Warn("no tool has this name", "only", name)
		}
	}
}

func printToolTable(a *app, o *opened, tools []host.ToolState, all bool) {
	rows := [][]string{{"NAME", "PLUGIN", "TRAITS", "SUMMARY"}}
	if all {
		rows[0] = append(rows[0], "NOT OFFERED BECAUSE")
	}
	for _, t := range tools {
		row := []string{t.Name, t.Plugin, traits(t.Tool), t.Summary}
		if t.Deferred {
			row[2] = strings.TrimPrefix(row[2]+", deferred", "-, ")
		}
		switch {
		case t.NotOffered == nil && all:
			rows = append(rows, append(row, ""))
		case t.NotOffered == nil:
			rows = append(rows, row)
		case all:
			rows = append(rows, append(row, firstLine(t.NotOffered.Error())))
		}
	}
	if all {
		rows = append(rows, brokenTools(o.host.Plugins())...)
	}
	a.out.Table(rows)
	if offered, deferred := countTools(tools); deferred > 0 {
		a.out.Printf("%d of %d tools are deferred: the model knows their names, and looks for them with ToolSearch.\n", deferred, offered)
	}
}

func countTools(tools []host.ToolState) (offered, deferred int) {
	for _, t := range tools {
		if t.NotOffered == nil {
			offered++
		}
		if t.Deferred {
			deferred++
		}
	}
	return offered, deferred
}

// listedTool is one tool of the JSON list.
type listedTool struct {
	Name            string `json:"name"`
	Plugin          string `json:"plugin,omitempty"`
	Summary         string `json:"summary,omitempty"`
	ReadOnly        string `json:"read_only"`
	ConcurrencySafe string `json:"concurrency_safe"`
	Destructive     string `json:"destructive"`
	Deferred        bool   `json:"deferred"`
	Loaded          bool   `json:"loaded,omitempty"`
	// Characters is the size of the definition for the Anthropic Messages API.
	Characters int    `json:"characters,omitempty"`
	NotOffered string `json:"not_offered,omitempty"`
}

// printToolList prints the tools as one JSON array.
func printToolList(a *app, tools []host.ToolState, all bool) error {
	list := []listedTool{}
	for _, t := range tools {
		item := listedTool{
			Name: t.Name, Plugin: t.Plugin, Summary: t.Summary, ReadOnly: orFalse(t.ReadOnly),
			ConcurrencySafe: orFalse(t.ConcurrencySafe), Destructive: orFalse(t.Destructive),
			Deferred: t.Deferred, Loaded: t.Loaded, Characters: t.Chars,
		}
		if t.NotOffered != nil {
			item.NotOffered = t.NotOffered.Error()
		}
		if all || t.NotOffered == nil {
			list = append(list, item)
		}
	}
	return a.printJSON(list)
}

func orFalse(t abi.Trait) string { return string(cmp.Or(t, abi.TraitFalse)) }

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
