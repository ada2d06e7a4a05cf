package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/host/mcp/servers"
)

// scenario is what the suite tells of one.
type scenario struct {
	name string
	// What a person would have configured.
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Issuer       string `json:"issuer"`
	// Calls to make.
	ToolCalls []toolCall `json:"toolCalls"`
}

type toolCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// metadataURL is where the client of this scenario suite has its metadata document.
const metadataURL = "https://conformance-test.local/client-metadata.json"

func scenarioOf(name, about string) (*scenario, error) {
	s := &scenario{name: name}
	if about != "" {
		if err := json.Unmarshal([]byte(about), s); err != nil {
			return nil, fmt.Errorf("what the suite tells of %s: %w", name, err)
		}
	}
	if len(s.ToolCalls) == 0 {
		s.ToolCalls = calls[name]
	}
	if strings.HasPrefix(name, "auth/") {
		s.ToolCalls = []toolCall{{Name: "test-tool"}}
	}
	return s, nil
}

// calls are the tools that scenarios have for clients to call.
var calls = map[string][]toolCall{
	"tools_call":                          {{Name: "add_numbers", Arguments: map[string]any{"a": 5, "b": 3}}},
	"elicitation-sep1034-client-defaults": {{Name: "test_client_elicitation_defaults"}},
	"sse-retry":                           {{Name: "test_reconnection"}},
	"sep-2322-client-request-state": {
		{Name: "test_mrtr_echo_state"}, {Name: "test_mrtr_no_state"}, {Name: "test_mrtr_unrelated"}, {Name: "test_mrtr_no_result_type"},
	},
}

// config is the configuration of the server. All that a scenario has is on this machine.
func (s *scenario) config(url string) servers.Config {
	c := servers.Config{Name: server, URL: url, Network: []string{"localhost"}, AlwaysLoad: true}
	if strings.HasPrefix(s.name, "auth/") {
		c.Auth = &servers.Auth{ClientMetadataURL: metadataURL}
	}
	if s.ClientID != "" {
		c.Auth = &servers.Auth{ClientID: s.ClientID, ClientSecret: s.ClientSecret, Issuer: s.Issuer}
	}
	if strings.HasPrefix(s.name, "auth/client-credentials") {
		c.Auth.Grant = servers.GrantClient
	}
	return c
}

// run makes the calls of a scenario.
func (s *scenario) run(ctx context.Context, c *client) error {
	switch s.name {
	case "http-invalid-tool-headers":
		return useAll(ctx, c)
	case "http-standard-headers":
		return errors.Join(useAll(ctx, c), read(ctx, c))
	}
	var all error
	for _, call := range s.ToolCalls {
		all = errors.Join(all, c.use(ctx, call.Name, call.Arguments))
	}
	return all
}

// useAll calls each tool there is.
func useAll(ctx context.Context, c *client) error {
	names, err := c.tools()
	for _, name := range names {
		err = errors.Join(err, c.use(ctx, name, map[string]any{"region": "us-west1"}))
	}
	return err
}

// read reads a resource that is listed.
func read(ctx context.Context, c *client) error {
	list, err := c.answer(ctx, "ListMcpResources", map[string]any{"server": server})
	if err != nil {
		return err
	}
	const uri = "https://example.com/resource?id=123"
	if !strings.Contains(list, uri) {
		return fmt.Errorf("no %s is listed: %s", uri, list)
	}
	return c.call(ctx, "ReadMcpResource", map[string]any{"server": server, "uri": uri})
}
