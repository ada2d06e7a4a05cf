package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/cmd/host/internal/clients"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/internal/atomicfile"
)

// clientFlags are those of the commands that look at a client's file.
type clientFlags struct {
	name    string
	project bool
}

func (f *clientFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "name", "toolquay", "the name of the server in the client")
	cmd.Flags().BoolVar(&f.project, "project", false, "the file of the project instead of the user's own")
}

// installFlags are those of install alone.
type installFlags struct {
	clientFlags
	print, yes bool
	output     string
}

func mcpInstallCommand(a *app) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install CLIENT [-- FLAG...]",
		Short: "Have an agent start Toolquay as an MCP server",
		Long: `Install adds this toolquay to the MCP servers of a client, shows what changes in the
client's file, and asks. The flags after -- are given to toolquay mcp whenever the
client starts it; write directories in them as absolute paths.

    toolquay mcp install claude-code
    toolquay mcp install cursor --project -- --mode plan
    toolquay mcp install codex --print

The rest of the file stays as it is, comments too. An entry that is there already gets
the new command line and keeps what else it says.

Clients: ` + strings.Join(clients.Names(), ", ") + `.
For claude-desktop a bundle is written (--output), which you open there.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := findClient(f.name, args[:1])
			if err != nil {
				return err
			}
			if dash := cmd.ArgsLenAtDash(); dash > 1 || dash < 0 && len(args) > 1 {
				return usageError("%q: one client at a time; flags for toolquay mcp come after --", args[1])
			}
			server, err := thisServer(f.name, args[1:])
			if err != nil {
				return err
			}
			if err := checkServerFlags(cmd.Parent(), args[1:]); err != nil {
				return err
			}
			if client.Bundled() {
				return f.bundle(cmd.Context(), a, client, server)
			}
			return f.install(cmd.Context(), a, client, server)
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&f.print, "print", false, "print what the client's file needs, and change nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "where to write the bundle for claude-desktop (default toolquay.mcpb)")
	return cmd
}

func mcpUninstallCommand(a *app) *cobra.Command {
	var f clientFlags
	var yes bool
	cmd := &cobra.Command{
		Use:   "uninstall CLIENT",
		Short: "Take Toolquay out of an agent's MCP servers",
		Long: `Uninstall takes out the entry that install wrote, shows what changes, and asks. An
entry that runs something else is left alone.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := findClient(f.name, args)
			if err != nil {
				return err
			}
			if client.Bundled() {
				return usageError("no file was changed for %s: remove the extension in its settings", client.Title)
			}
			places, err := a.places(f.project)
			if err != nil {
				return err
			}
			change, err := client.Uninstall(places, f.name)
			if err != nil {
				return hostError(err)
			}
			if change.None() {
				a.out.Printf("%s has no server %s.\n", change.Path, f.name)
				return nil
			}
			return a.write(cmd.Context(), change, yes, "")
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func findClient(name string, args []string) (*clients.Client, error) {
	client, err := clients.Find(args[0])
	if err == nil {
		err = clients.CheckName(name)
	}
	if err != nil {
		return nil, usageError("%w", err)
	}
	return &client, nil
}

// places are where the files of clients are for this user.
func (a *app) places(project bool) (clients.Places, error) {
	home, _ := os.UserHomeDir() // where it is needed, its absence is told
	p := clients.Places{OS: runtime.GOOS, Home: home, Getenv: os.Getenv}
	if !project {
		return p, nil
	}
	session, err := a.flags.sessionOptions()
	if err != nil {
		return p, err
	}
	found, err := config.FindProject(session.Cwd, nil)
	if err != nil {
		return p, hostError(err)
	}
	p.Project = found.Root
	return p, nil
}

// thisServer is this program as clients are to start it.
func thisServer(name string, flags []string) (clients.Server, error) {
	self, err := thisProgram()
	if err != nil {
		return clients.Server{}, hostError(err)
	}
	if strings.Contains(self, string(filepath.Separator)+"go-build") {
		return clients.Server{}, usageError("this toolquay was made by go run and is gone when it ends; build or install one, and run that")
	}
	return clients.Server{Name: name, Command: self, Args: slices.Concat([]string{"mcp"}, flags)}, nil
}

// thisProgram is the path of this program: as it was called where that leads here, so that a
// link which updates keep pointing at the newest version is what clients call too.
func thisProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err == nil {
		called, err = filepath.Abs(called)
	}
	if err != nil {
		return self, nil //nolint:nilerr // then it is called by where it lies
	}
	here, err1 := os.Stat(self)
	there, err2 := os.Stat(called)
	if errors.Join(err1, err2) == nil && os.SameFile(here, there) {
		return called, nil
	}
	return self, nil
}

// checkServerFlags parses the flags that clients will give to toolquay mcp.
func checkServerFlags(mcp *cobra.Command, flags []string) error {
	if err := mcp.ParseFlags(flags); err != nil {
		return usageError("after --: %w", err)
	}
	if rest := mcp.Flags().Args(); len(rest) > 0 {
		return usageError("after --: %q is no flag of toolquay mcp", rest[0])
	}
	return nil
}

func (f *installFlags) install(ctx context.Context, a *app, client *clients.Client, server clients.Server) error {
	if f.output != "" {
		return usageError("--output is for claude-desktop")
	}
	if f.print {
		snippet, err := client.Snippet(server)
		if err != nil {
			return hostError(err)
		}
		a.out.Printf("%s", snippet)
		return nil
	}
	places, err := a.places(f.project)
	if err != nil {
		return err
	}
	change, err := client.Install(places, server)
	if err != nil {
		return hostError(err)
	}
	if change.None() {
		a.out.Printf("%s starts it already; nothing was changed.\n", change.Path)
		return nil
	}
	return a.write(ctx, change, f.yes, client.Then)
}

// write shows a change, asks, and writes it.
func (a *app) write(ctx context.Context, change *clients.Change, yes bool, then string) error {
	out := a.out
	if !yes && !out.Terminal && a.person() != nil {
		out = a.err // who answers must have seen it
	}
	out.Printf("%s", change.Diff())
	if err := a.confirm(ctx, yes, "Write "+change.Path+"?"); err != nil {
		return err
	}
	if err := change.Write(); err != nil {
		return hostError(fmt.Errorf("writing what the client reads: %w", err))
	}
	a.out.Printf("%s\n", strings.TrimSpace(change.Path+" is written. "+then))
	return nil
}

// bundle writes a bundle. One that is there is replaced only if it is a bundle too.
func (f *installFlags) bundle(ctx context.Context, a *app, client *clients.Client, server clients.Server) error {
	if f.project {
		return usageError("%s has no servers of a project; leave --project out", client.Title)
	}
	manifest := clients.Manifest(server, runtime.GOOS, readBuild().Version)
	if f.print {
		a.out.Printf("%s", manifest)
		return nil
	}
	body, err := clients.Bundle(manifest, server)
	if err != nil {
		return hostError(err)
	}
	path := cmp.Or(f.output, "toolquay.mcpb")
	switch was, err := os.ReadFile(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return hostError(err)
	case bytes.Equal(was, body):
		a.out.Printf("%s is there already. %s\n", path, client.Then)
		return nil
	default:
		if _, err := clients.ReadBundle(was); err != nil {
			return usageError("%s is there and is left as it is: %w", path, err)
		}
		if err := a.confirm(ctx, f.yes, "Replace "+path+"?"); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(path, body, 0o644); err != nil {
		return hostError(fmt.Errorf("writing the bundle: %w", err))
	}
	a.out.Printf("%s is written. %s\n", path, client.Then)
	return nil
}
