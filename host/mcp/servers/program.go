package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	hostmcp "github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/internal/visible"
)

// start starts the program of a server.
func (s *server) start(ctx context.Context, c *connection) (mcp.Transport, error) {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(s.config.Env)) {
		env = append(env, name+"="+s.config.Env[name])
	}
	var err error
	c.program, err = s.set.host.StartProgram(ctx, host.Program{
		Name: "MCP server " + s.config.Name, Command: s.config.Command, Env: env, Dir: s.set.dir(&s.config),
		Read: s.config.Read, Write: s.config.Write, Hosts: s.config.Network,
	})
	if err != nil {
		return nil, fmt.Errorf("it could not be started: %w", err)
	}
	c.stderr = newStderrLog(s.log)
	go c.stderr.read(c.program.Stderr)
	pipe := &hostmcp.Pipe{In: c.program.Stdout, Out: c.program.Stdin, MaxMessage: maxMessage, Strange: c.strange}
	return &probing{pipe, s}, nil
}

// strange is told of what is no message: programs print other things to their output too.
func (c *connection) strange(line []byte, why error) error {
	if errors.Is(why, hostmcp.ErrTooLong) {
		return fmt.Errorf("it sent a message of more than %d MiB", maxMessage>>20)
	}
	if bytes.HasPrefix(line, []byte(`{"jsonrpc"`)) { // a call would wait for it
		return fmt.Errorf("it sent a message that cannot be read: %w", why)
	}
	c.server.log.Debug("an MCP server printed what is no message", "text", visible.Short(string(line), maxLine), "why", visible.Short(why.Error(), maxLine))
	return nil
}
