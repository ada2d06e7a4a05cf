package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolquay/toolquay/cmd/host/internal/clients"
)

// slowStart is from when on a start is too slow for a client: Codex waits 10 s
// (https://github.com/openai/codex, DEFAULT_STARTUP_TIMEOUT), others longer.
const slowStart = 10 * time.Second

func mcpDoctorCommand(a *app) *cobra.Command {
	var f clientFlags
	var served servedFlags
	var asJSON bool
	var name, other string
	cmd := &cobra.Command{
		Use:   "doctor [--server NAME | -- COMMAND...]",
		Short: "Show whether agents can use Toolquay as an MCP server, or what another server lacks",
		Long: `Doctor starts toolquay mcp with the flags given, or what the file of a client starts
(--client), or any MCP server (after --). It does the handshake as clients do, in both
revisions, and lists the tools. Then it says which tools each client would leave out or
shorten, and why. It ends with 1 where something is wrong.

With --server it looks at another's server instead, one of [mcp.NAME] in the settings: it
starts it under its allowances and says which one is missing.

    toolquay mcp doctor --mode plan
    toolquay mcp doctor --client codex
    toolquay mcp doctor --server git
    toolquay mcp doctor -- npx -y @modelcontextprotocol/server-everything`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 && len(args) > 0 {
				return usageError("%q: a command comes after --", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if other != "" {
				if len(args) > 0 || name != "" {
					return usageError("--server goes neither with --client nor with a command")
				}
				return examineServer(cmd.Context(), a, other, asJSON)
			}
			e := mcpExamination{asked: clients.All(), server: f.name}
			if name != "" {
				client, err := findClient(f.name, []string{name})
				if err != nil {
					return err
				}
				e.asked = []clients.Client{*client}
			}
			if err := e.choose(a, cmd, &f, args, name); err != nil {
				return err
			}
			e.d = diagnosis{OK: true, Build: readBuild()}
			e.run(cmd.Context())
			return a.printFindings(&e.d, asJSON)
		},
	}
	served.register(cmd) // they are given to the toolquay mcp that is started
	f.register(cmd)
	cmd.Flags().StringVar(&name, "client", "", "what this client's file starts, judged as this client does")
	cmd.Flags().StringVar(&other, "server", "", "look at this server of the settings")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// mcpExamination is a look at a server with the eyes of clients.
type mcpExamination struct {
	d      diagnosis
	probe  clients.Probe
	asked  []clients.Client
	server string
	tools  []string // of the revision that was seen first
}

// choose finds out what is to be started.
func (e *mcpExamination) choose(a *app, cmd *cobra.Command, f *clientFlags, args []string, name string) error {
	session, err := a.flags.sessionOptions()
	if err != nil {
		return err
	}
	e.probe.Dir = session.Cwd
	client := &e.asked[0]
	switch {
	case len(args) > 0:
		e.probe.Command = args
	case name != "" && !client.Bundled():
		places, err := a.places(f.project)
		if err != nil {
			return err
		}
		if e.probe.Command, e.probe.Environment, err = client.Configured(places, f.name); err != nil {
			return usageError("%w", err)
		}
	default:
		self, err := thisProgram()
		if err != nil {
			return hostError(err)
		}
		e.probe.Command = slices.Concat([]string{self, "mcp"}, givenFlags(cmd.Parent(), cmd.Flags()))
	}
	return nil
}

// givenFlags are the flags that were given and that a command has, to be given to it again.
func givenFlags(cmd *cobra.Command, set *pflag.FlagSet) (out []string) {
	set.Visit(func(f *pflag.Flag) {
		if cmd.Flag(f.Name) == nil {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			out = append(out, "--"+f.Name+"="+v)
		}
	})
	return out
}

func (e *mcpExamination) run(ctx context.Context) {
	e.d.add("command", fine, strings.Join(e.probe.Command, " "))
	var last clients.Report
	for _, revision := range clients.Revisions {
		r, err := e.probe.Run(ctx, revision)
		e.handshake(revision, &r, err)
		if len(r.Tools) > 0 {
			last = r
		}
	}
	if last.Tools == nil {
		return // said already
	}
	for i := range e.asked {
		e.judge(&e.asked[i], &last)
	}
}

// handshake tells how a server answered in one revision.
func (e *mcpExamination) handshake(revision string, r *clients.Report, err error) {
	switch {
	case err != nil:
		e.d.add(revision, wrong, err.Error())
	case r.Revision != revision:
		e.d.add(revision, note, fmt.Sprintf("it is not spoken; %s is instead", r.Revision))
	default:
		e.d.add(revision, fine, fmt.Sprintf("%s answers after %d ms and has %d tools", r.Server, r.First.Milliseconds(), len(r.Tools)))
	}
	if r.First > slowStart {
		e.d.add(revision, note, fmt.Sprintf("the start is slow; clients may wait no longer than %s", slowStart))
	}
	if r.Noise.Count > 0 {
		e.d.add(revision, wrong, fmt.Sprintf("its standard output has %d lines that are no JSON, which some clients do not survive: %s", r.Noise.Count, r.Noise.First))
	}
	if r.Errors.Count > 0 {
		e.d.add(revision, note, fmt.Sprintf("its standard error has %d lines: %s", r.Errors.Count, r.Errors.First))
	}
	if r.Ended != nil {
		how := wrong
		if err != nil {
			how = note // what came of the error before
		}
		e.d.add(revision, how, r.Ended.Error())
	}
	if err != nil {
		return
	}
	names := make([]string, len(r.Tools))
	for i, tool := range r.Tools {
		names[i] = tool.Name
	}
	switch {
	case len(names) == 0:
		e.d.add(revision, wrong, "it has no tools")
	case e.tools != nil && !slices.Equal(names, e.tools):
		e.d.add(revision, wrong, "its tools are others, or in another order, than in the other revision: "+strings.Join(names, ", "))
	}
	e.tools = names
}

// judge tells what a client makes of the tools.
func (e *mcpExamination) judge(client *clients.Client, r *clients.Report) {
	verdicts := client.Judge(e.server, r.Tools)
	for _, v := range verdicts {
		if v.Dropped {
			e.d.add(client.Name, wrong, fmt.Sprintf("%s leaves %s out: %s", client.Title, v.Tool, v.Why))
			continue
		}
		e.d.add(client.Name, note, fmt.Sprintf("%s takes %s with a change: %s", client.Title, v.Tool, v.Why))
	}
	if most := client.Limits.Description; most > 0 && len(r.Instructions) > most {
		e.d.add(client.Name, note, fmt.Sprintf("%s cuts the instructions of %d bytes at %d", client.Title, len(r.Instructions), most))
	}
	if len(verdicts) == 0 {
		e.d.add(client.Name, fine, fmt.Sprintf("%s takes all %d tools as they are", client.Title, len(r.Tools)))
	}
}
