package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
)

const (
	// maxPrompts is how many prompts of a server are offered.
	maxPrompts = 200
	// promptsTime is how long a server may take to list them, while its tools are offered already.
	promptsTime = 5 * time.Second
)

// listPrompts lists the prompts of a server, which models load as skills. A server that fails to list
// them in time is offered without.
func (s *server) listPrompts(ctx context.Context, c *connection) {
	if caps := c.session.InitializeResult().Capabilities; caps == nil || caps.Prompts == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, promptsTime)
	defer cancel()
	told, err := c.allPrompts(ctx)
	if err != nil {
		s.log.Warn("the prompts of an MCP server cannot be listed", "problem", visible.Short(err.Error(), maxProblem))
	}
	slices.SortStableFunc(told, func(a, b *mcp.Prompt) int { return strings.Compare(a.Name, b.Name) })
	var list []host.Skill
	taken := make(map[string]bool)
	for _, p := range told {
		offered := fitted(s.config.Name, p.Name, taken)
		if taken[offered] {
			continue // it has two of that name
		}
		taken[offered] = true
		list = append(list, host.Skill{
			Name: offered, Server: s.config.Name, Prompt: p.Name, Description: said(p.Description), Hint: hintOf(p),
			Fetch: func(ctx context.Context, args string) (string, error) { return s.prompt(ctx, p, args) },
		})
	}
	s.mu.Lock()
	s.prompts = list
	s.mu.Unlock()
	s.offer()
}

// allPrompts follows the pages of the list.
func (c *connection) allPrompts(ctx context.Context) (all []*mcp.Prompt, err error) {
	params, size := &mcp.ListPromptsParams{}, 0
	for range maxPages {
		page, err := before(ctx, func() (*mcp.ListPromptsResult, error) { return c.session.ListPrompts(ctx, params) })
		if err != nil {
			return all, err
		}
		text, _ := json.Marshal(page.Prompts) // what came as JSON can be written as such
		if size += len(text); size > maxMessage {
			return all, fmt.Errorf("they have more than %d MiB", maxMessage>>20)
		}
		for _, p := range page.Prompts {
			if p != nil && p.Name != "" && len(all) < maxPrompts {
				all = append(all, p)
			}
		}
		if page.NextCursor == "" || len(all) == maxPrompts {
			break
		}
		params = &mcp.ListPromptsParams{Cursor: page.NextCursor}
	}
	return all, nil
}

// hintOf says which arguments a prompt takes, by position; those in brackets may be left out.
func hintOf(p *mcp.Prompt) string {
	var names []string
	for _, a := range p.Arguments {
		switch {
		case a == nil:
		case a.Required:
			names = append(names, said(a.Name))
		default:
			names = append(names, "["+said(a.Name)+"]")
		}
	}
	return strings.Join(names, " ")
}

// promptArguments gives words to the arguments of a prompt by their position; the last argument has all
// that are left.
func promptArguments(p *mcp.Prompt, args string) (map[string]string, error) {
	words, given := host.SkillWords(args), make(map[string]string)
	for i, a := range p.Arguments {
		switch {
		case a == nil:
		case i < len(words) && i == len(p.Arguments)-1:
			given[a.Name] = strings.Join(words[i:], " ")
		case i < len(words):
			given[a.Name] = words[i]
		case a.Required:
			return nil, abi.Errorf(abi.CodeInvalidInput, "the prompt needs the argument %s: give %s in args, each that has blanks in quotes", said(a.Name), hintOf(p))
		}
	}
	if len(p.Arguments) == 0 && len(words) > 0 {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the prompt takes no arguments; leave args out")
	}
	return given, nil
}

// prompt asks the server for a prompt, as text.
func (s *server) prompt(ctx context.Context, p *mcp.Prompt, args string) (string, error) {
	given, err := promptArguments(p, args)
	if err != nil {
		return "", err
	}
	r, err := twice(func() (*mcp.GetPromptResult, error) { return s.promptOnce(ctx, p.Name, given) })
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, m := range r.Messages {
		if m == nil || m.Content == nil {
			continue
		}
		if i > 0 {
			b.WriteString("\n")
		}
		if len(r.Messages) > 1 {
			b.WriteString(said(string(m.Role)) + ":\n")
		}
		b.WriteString(promptText(m.Content) + "\n")
	}
	return b.String(), nil
}

func (s *server) promptOnce(ctx context.Context, name string, given map[string]string) (*mcp.GetPromptResult, error) {
	c, err := s.connection(ctx)
	if err != nil {
		return nil, err
	}
	defer c.release()
	most := s.config.callTimeout()
	ctx, cancel := context.WithTimeoutCause(ctx, most, abi.Errorf(abi.CodeTimeout, "the MCP server %s did not answer within %s (call_timeout)", s.config.Name, most))
	defer cancel()
	r, err := before(ctx, func() (*mcp.GetPromptResult, error) {
		return c.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: given})
	})
	if err == nil && len(r.InputRequests) > 0 {
		return nil, abi.Errorf(abi.CodeUnsupported, "the MCP server %s would ask the person before it gives the prompt, which is not done for prompts", s.config.Name)
	}
	return r, c.failed(ctx, err)
}

// promptText is a part of a prompt as text; what is none is told.
func promptText(content mcp.Content) string {
	if embedded, ok := content.(*mcp.EmbeddedResource); ok && embedded.Resource != nil && embedded.Resource.Text != "" {
		return visible.Text(embedded.Resource.Text)
	}
	block := blockOf(content)
	if block.Type != abi.BlockText {
		return fmt.Sprintf("[%s, which a prompt cannot show here]", block.Type)
	}
	return visible.Text(block.Text)
}
