// Command client is what a program looks like that embeds a host and has it use another party's
// server. The conformance suite starts it once for each scenario, with the URL of a server, and
// tells the scenario in its environment.
//
//	client URL
//
// It makes the calls that the scenario wants to see, as a model would, behind the host's rules
// and through host/mcp/servers. A person who accepts whatever is asked, and whose browser follows
// redirects, is part of it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/permissions"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: client URL")
	}
	dir, err := os.MkdirTemp("", "conformance-client-")
	if err != nil {
		log.Fatal(err)
	}
	err = run(os.Args[1], dir)
	_ = os.RemoveAll(dir)
	if err != nil {
		log.Fatal(err)
	}
}

// patience is more than any scenario takes.
const patience = 25 * time.Second

func run(url, dir string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := scenarioOf(os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	if err != nil {
		return err
	}
	h, err := host.Open(ctx, host.Options{})
	if err != nil {
		return err
	}
	defer h.Close(ctx)
	set := servers.Open(h, servers.Options{Servers: []servers.Config{s.config(url)}, Credentials: &kept{}})
	defer set.Close(ctx)
	session, err := h.NewSession(host.SessionOptions{Cwd: dir, Mode: permissions.ModeBypass, Asker: person{}})
	if err != nil {
		return err
	}
	c := client{set, session}
	if err := c.ready(ctx); err != nil {
		return err
	}
	return s.run(ctx, &c)
}

// server is what the configuration calls the scenario's server.
const server = "suite"

// client uses the server, whose tools are in a session.
type client struct {
	set     *servers.Set
	session *host.Session
}

// authenticate is the tool that the host has in place of the server's, or beside them, where the
// server wants a login.
const authenticate = "authenticate"

// logins is how often the person logs in before they give up.
const logins = 2

// ready waits until the server can be used, and has the person log in where it wants that.
func (c *client) ready(ctx context.Context) (err error) {
	for range logins {
		if err := c.set.Wait(ctx); err != nil {
			return err
		}
		switch s := c.set.Status()[0]; s.State {
		case servers.Connected:
			return nil
		case servers.NeedsAuth:
			err = c.call(ctx, name(authenticate), nil)
		default:
			return fmt.Errorf("the server is %s: %w", s.State, s.Problem)
		}
	}
	return err // nil after the last login
}

// tools are the names of the server's tools, as the server has them.
func (c *client) tools() ([]string, error) {
	states, err := c.session.Tools(host.FormatMCP)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range states {
		if name, ok := strings.CutPrefix(s.Name, name("")); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// use calls a tool of the server. If that takes another login, the person logs in, and it is
// called again.
func (c *client) use(ctx context.Context, tool string, arguments map[string]any) error {
	err := c.call(ctx, name(tool), arguments)
	if err == nil {
		return nil
	}
	names, listing := c.tools()
	if listing != nil || !slices.Contains(names, authenticate) {
		return errors.Join(err, listing)
	}
	if err := c.call(ctx, name(authenticate), nil); err != nil {
		return err
	}
	return c.call(ctx, name(tool), arguments)
}

// name is how the host calls a tool of the server.
func name(tool string) string { return "mcp__" + server + "__" + tool }

// call makes one call.
func (c *client) call(ctx context.Context, tool string, arguments map[string]any) error {
	_, err := c.answer(ctx, tool, arguments)
	return err
}

// answer makes one call and returns the text of its result.
func (c *client) answer(ctx context.Context, tool string, arguments map[string]any) (string, error) {
	if arguments == nil {
		arguments = map[string]any{}
	}
	input, err := json.Marshal(arguments)
	if err != nil {
		return "", err
	}
	r := c.session.Results(ctx, []abi.ToolUse{{ID: tool, Name: tool, Input: input}})[0]
	if r.IsError {
		return "", fmt.Errorf("%s: %s", tool, r.Text())
	}
	return r.Text(), nil
}
