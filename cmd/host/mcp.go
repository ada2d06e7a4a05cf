package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host/mcp"
)

func mcpCommand(a *app) *cobra.Command {
	var f servedFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to another agent, over MCP on standard input and output",
		Long: `Mcp serves the tools to a client of the Model Context Protocol that starts it, such
as a coding agent or an editor. It speaks the revisions 2025-11-25 and 2026-07-28 on
standard input and output, and ends when the client closes its end.

Every call passes the rules, hooks and the sandbox as it does elsewhere. What the
rules leave open is asked through the client, by elicitation; if the client cannot
ask, the call is denied, and the denial names the rule that would allow it. Answers
count once, unless --remember says otherwise.

A client that offers roots works in them, where they lie inside --cwd or a --root.
Its first request may wish for a mode, by "toolquay/mode" in its _meta, up to
--max-mode. Plugins that are added, changed or broken while it runs are taken up, or
passed over, without a restart.

Toolquay mcp install adds it to an agent, and toolquay mcp doctor looks at it as
agents do.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveStdio(cmd.Context(), a, &f) },
	}
	f.register(cmd)
	cmd.AddCommand(mcpInstallCommand(a), mcpUninstallCommand(a), mcpDoctorCommand(a), mcpLoginCommand(a), mcpLogoutCommand(a), mcpListCommand(a))
	return cmd
}

func serveStdio(ctx context.Context, a *app, f *servedFlags) error {
	o, err := a.flags.sessionOptions()
	if err != nil {
		return err
	}
	of, err := f.scope(o.Cwd)
	if err != nil {
		return err
	}
	p := newProjects(ctx, a, f)
	defer p.close() //nolint:contextcheck // ctx may be over by then
	base, err := p.host(o.Cwd)
	if err != nil {
		return err
	}
	err = p.server(of, base, base.options.Observe.Logger).Serve(ctx, &mcp.Pipe{In: a.in, Out: os.Stdout})
	if code := signalCode(ctx); code != exitOK {
		return quiet(code)
	}
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return hostError(err)
	}
	return nil
}
