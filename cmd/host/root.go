package main

import "github.com/spf13/cobra"

func rootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "toolquay",
		Short: "Run the tool calls of language models through WebAssembly plugins",
		Long: `Toolquay runs the tool calls that a language model asks for. Every tool is a
WebAssembly plugin; whatever one does to the world passes permission rules.

    toolquay run turn.json                      the calls of a model's message
    toolquay call Read '{"file_path": "go.mod"}'  one call
    toolquay tools --format anthropic           what to tell the model
    toolquay mcp                                the tools for another agent, over MCP
    toolquay serve                              and for many of them, over HTTP
    toolquay doctor                             what is found where, and wrong`,
		Args:          cobra.NoArgs,
		RunE:          help,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetOut(a.out)
	root.SetErr(a.err)
	a.flags.register(root)
	root.AddCommand(
		runCommand(a), callCommand(a), toolsCommand(a), pluginsCommand(a), skillsCommand(a), trustCommand(a),
		permissionsCommand(a), approvalsCommand(a), tasksCommand(a), cronCommand(a), historyCommand(a), stageCommand(a), cleanCommand(a), mcpCommand(a), serveCommand(a), doctorCommand(a), versionCommand(a), workerCommand(), exitCodesHelp(),
	)
	return root
}
