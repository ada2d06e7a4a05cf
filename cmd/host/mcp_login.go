package main

import (
	"bufio"
	"context"
	"errors"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/host/mcp/servers"
)

func mcpLoginCommand(a *app) *cobra.Command {
	var paste bool
	cmd := &cobra.Command{
		Use:   "login NAME",
		Short: "Log in to an MCP server, with a browser",
		Long: `Login prints the URL of a page on which you log in to an MCP server of the settings,
and waits until your browser comes back to this machine. What that gives is kept for
this server alone, and is refreshed without you. It opens no browser by itself.

If your browser runs on another machine, use --paste: after the login it cannot load
the last page; paste that page's address, or the code that it shows.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return logIn(cmd.Context(), a, args[0], paste) },
	}
	cmd.Flags().BoolVar(&paste, "paste", false, "read the address that the browser ended up at from standard input")
	return cmd
}

func mcpLogoutCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "logout NAME",
		Short: "Forget the login to an MCP server",
		Long: `Logout forgets what a login to an MCP server gave, also if the settings name that
server no more. Tokens that were given out stay good for those who have them, until
they expire.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return logOut(cmd.Context(), a, args[0]) },
	}
}

// logIn has the person at the terminal log in to a server.
func logIn(ctx context.Context, a *app, name string, paste bool) error {
	o, err := a.open(ctx, func(s *setup) { s.sessionless = true })
	if err != nil {
		return err
	}
	defer o.close()
	c, err := o.serverOf(a, name)
	if err != nil {
		return err
	}
	kept := config.CredentialsOf(o.dirs, o.loaded)
	if kept == nil {
		return hostError(errors.New("logins cannot be kept without a state directory: set HOME or XDG_STATE_HOME"))
	}
	p := &atTerminal{a, name, paste}
	err = servers.LogIn(ctx, o.host, *c, servers.LoginOptions{Credentials: kept, Proxy: o.proxy(), Logger: o.options.Observe.Logger}, p)
	if code := signalCode(ctx); code != exitOK {
		return quiet(code)
	}
	if err != nil {
		return hostError(err)
	}
	a.out.Printf("Logged in to the MCP server %s.\n", name)
	return nil
}

// serverOf is the server of a name in the settings.
func (o *opened) serverOf(a *app, name string) (*servers.Config, error) {
	list := a.serversOf(&o.setup, o.loaded)
	for i := range list {
		if list[i].Name == name {
			return &list[i], nil
		}
	}
	return nil, usageError("the settings have no MCP server %q that is used; toolquay mcp list shows those that there are", name)
}

func logOut(ctx context.Context, a *app, name string) error {
	if !servers.ValidName(name) {
		return usageError("invalid server name %q: use letters, digits, hyphens and single underscores", name)
	}
	s, err := a.setup()
	if err != nil {
		return err
	}
	kept := config.CredentialsOf(s.dirs, s.loaded)
	var was bool
	if kept != nil {
		if was, err = servers.LogOut(ctx, name, kept); err != nil {
			return hostError(err)
		}
	}
	if !was {
		a.out.Printf("There was no login to the MCP server %s.\n", name)
		return nil
	}
	a.out.Printf("Logged out of the MCP server %s.\n", name)
	return nil
}

// atTerminal is the person at the terminal, who logs in to a server.
type atTerminal struct {
	a     *app
	name  string
	paste bool
}

// Visit prints the URL, whole and escaped.
func (t *atTerminal) Visit(_ context.Context, page string) error {
	u, err := url.Parse(page)
	if err != nil {
		return err
	}
	t.a.out.Printf("The MCP server %s has you log in at %s. Open this page:\n\n%s\n\n", t.name, ui.Line(u.Host), ui.Line(page))
	if !t.paste {
		t.a.out.Printf("Waiting for your browser; Ctrl-C gives up.\n")
	}
	return nil
}

// Paste reads a line from standard input, or waits for the browser.
func (t *atTerminal) Paste(ctx context.Context) (string, error) {
	if !t.paste {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	t.a.out.Printf("Then paste the address that the browser ended up at: ")
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := readLine(t.a.in)
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// readLine reads the first line of a file.
func readLine(f *os.File) (string, error) {
	lines := bufio.NewScanner(f)
	if lines.Scan() {
		return lines.Text(), nil
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	return "", errors.New("standard input ended before an address was pasted")
}
