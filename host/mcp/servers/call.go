package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
)

// call is one call of a server's tool, while it runs.
type call struct {
	*host.Call
	ctx   context.Context //nolint:containedctx // a question of the server's ends with it
	limit *timeLimit
	asked atomic.Int32 // questions
}

// call passes a call on to the server.
func (s *server) call(ctx context.Context, hc *host.Call, d *definition) (abi.ToolResult, error) {
	r, err := twice(func() (*mcp.CallToolResult, error) { return s.callOnce(ctx, hc, d) })
	if err != nil {
		return abi.ToolResult{}, err
	}
	return resultOf(r), nil
}

// twice does something again, if the server knows no such session: so it began nothing.
func twice[T any](do func() (T, error)) (T, error) {
	r, err := do()
	if errors.Is(err, mcp.ErrSessionMissing) {
		r, err = do()
	}
	return r, err
}

// callOnce passes a call on over the connection that there is.
func (s *server) callOnce(ctx context.Context, hc *host.Call, d *definition) (*mcp.CallToolResult, error) {
	c, err := s.connection(ctx)
	if err != nil {
		return nil, err
	}
	defer c.release()
	s.mu.Lock()
	now := s.tools[d.offered]
	s.mu.Unlock()
	if now == nil || now.sum != d.sum {
		return nil, abi.Errorf(abi.CodeChanged, "the MCP server %s changed or removed the tool %s after it was listed; it was not called", s.config.Name, d.offered)
	}
	s.set.pins.approve(&s.config, d) // who let the call begin was told of a change
	ctx, of := s.begin(ctx, hc, s.config.callTimeout(), "call_timeout")
	defer of.limit.stop()
	return c.callTool(ctx, of, d)
}

// begin makes a call that has some time, by a setting, and the context that ends with it.
func (s *server) begin(ctx context.Context, hc *host.Call, most time.Duration, setting string) (context.Context, *call) {
	ctx, limit := newTimeLimit(ctx, most, abi.Errorf(abi.CodeTimeout, "the MCP server %s did not answer within %s (%s)", s.config.Name, most, setting))
	return ctx, &call{Call: hc, ctx: ctx, limit: limit}
}

// callTool makes a call on a connection.
func (c *connection) callTool(ctx context.Context, of *call, d *definition) (*mcp.CallToolResult, error) {
	return request(ctx, c, of, func(ctx context.Context, token string) (r *mcp.CallToolResult, err error) {
		err = c.rounds(of, func(given mcp.InputResponseMap, state string) (mcp.InputRequestMap, string, error) {
			params := &mcp.CallToolParams{Name: d.own, Arguments: of.Input, InputResponses: given, RequestState: state}
			params.SetProgressToken(token)
			if r, err = c.session.CallTool(ctx, params); err != nil {
				return nil, "", err
			}
			return r.InputRequests, r.RequestState, nil
		})
		return r, err
	})
}

// request makes a request of a call, with a token for its progress; once more if the server first
// wants a person to open URLs.
func request[T any](ctx context.Context, c *connection, of *call, do func(ctx context.Context, token string) (T, error)) (T, error) {
	token := c.enter(of)
	defer c.leave(token)
	once := func() (T, error) { return do(ctx, token) }
	r, err := before(ctx, once)
	if urls := urlsOf(err); urls != nil {
		if err = c.visit(of, urls); err == nil {
			r, err = before(ctx, once)
		}
	}
	return r, c.failed(ctx, err)
}

// before makes a request, and lets go of it when ctx ends: a server may hold up even the SDK's
// telling it so. Where the SDK panics over an answer, that is an error.
func before[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type came struct {
		answer T
		err    error
	}
	done := make(chan came, 1)
	go func() {
		var c came
		defer func() {
			if p := recover(); p != nil {
				c.err = fmt.Errorf("the answer cannot be read: %v", p)
			}
			done <- c
		}()
		c.answer, c.err = do()
	}()
	select {
	case c := <-done:
		return c.answer, c.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// failed is the error of a request as the call gets it. What is no answer of the server leaves
// the connection unusable.
func (c *connection) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	name := c.server.config.Name
	if ctx.Err() != nil {
		if abi.CodeOf(context.Cause(ctx)) == abi.CodeTimeout {
			go c.checkAlive() //nolint:contextcheck // the call is over
		}
		return context.Cause(ctx)
	}
	if known, ok := errors.AsType[*abi.Error](err); ok {
		return known
	}
	if answer, ok := errors.AsType[*jsonrpc.Error](err); ok && answer.Code != codeRejected {
		text := fmt.Sprintf("the MCP server %s answered with an error: %s (%d)", name, clean(answer.Message, maxProblem), answer.Code)
		return &abi.Error{Code: abi.CodeIO, Message: text, Err: answer}
	}
	if need, ok := errors.AsType[*LoginNeededError](err); ok && need.StepUp {
		c.server.offerStepUp()
		return abi.Errorf(abi.CodeDenied, "%w, or call %s", need, c.server.authenticateName())
	}
	err = forgotten(c.explain(err))
	c.fail(err)
	return abi.Errorf(abi.CodeIO, "the MCP server %s failed: %w", name, shown{err})
}

// codeRejected is how the SDK says that a message was not even sent.
const codeRejected = -32005

// forgotten makes an error [mcp.ErrSessionMissing] that is one by its text: the SDK loses it on
// the way.
func forgotten(err error) error {
	if !errors.Is(err, mcp.ErrSessionMissing) && strings.Contains(err.Error(), mcp.ErrSessionMissing.Error()) {
		return fmt.Errorf("%w: %w", mcp.ErrSessionMissing, err)
	}
	return err
}

// shown is an error of a server's, fit to be shown.
type shown struct{ error }

// Error is its text, cut and escaped.
func (s shown) Error() string { return visible.Short(s.error.Error(), maxProblem) }

// Unwrap returns it as it is.
func (s shown) Unwrap() error { return s.error }

// pingTime is how long a server that left a call unanswered may leave a ping unanswered.
const pingTime = 10 * time.Second

// checkAlive gives a connection up whose server does not even answer that it is there.
func (c *connection) checkAlive() {
	ctx, cancel := context.WithTimeout(c.server.ctx, pingTime)
	defer cancel()
	_, err := before(ctx, func() (any, error) { return nil, c.session.Ping(ctx, nil) })
	if ctx.Err() != nil && c.server.ctx.Err() == nil {
		c.fail(fmt.Errorf("it does not answer: %w", err))
	}
}

// enter notes a call that runs, and gives it a token for its progress.
func (c *connection) enter(of *call) string {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c.next++
	token := strconv.FormatInt(c.next, 10)
	c.calls[token] = of
	return token
}

func (c *connection) leave(token string) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(c.calls, token)
}

// progress passes on how far a call has come.
func (c *connection) progress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	s := c.server
	s.mu.Lock()
	of := c.calls[fmt.Sprint(r.Params.ProgressToken)]
	s.mu.Unlock()
	if of != nil {
		of.Report(abi.ProgressHead{Progress: &abi.Progress{Message: clean(r.Params.Message, maxProblem), Done: r.Params.Progress, Total: r.Params.Total}})
	}
}

// resultOf is a server's result as the host takes it.
func resultOf(r *mcp.CallToolResult) abi.ToolResult {
	out := abi.ToolResult{IsError: r.IsError}
	for _, content := range r.Content {
		if len(out.Content) == abi.MaxBlocks-1 {
			out.Content = append(out.Content, abi.TextBlock(fmt.Sprintf("[%d further blocks were left out]", len(r.Content)-len(out.Content))))
			break
		}
		out.Content = append(out.Content, blockOf(content))
	}
	if r.StructuredContent != nil {
		out.Structured, _ = json.Marshal(r.StructuredContent) // it came as JSON
		if len(out.Content) == 0 {
			out.Content = []abi.Block{abi.TextBlock(string(out.Structured))}
		}
	}
	if len(r.Meta) > 0 {
		out.Meta, _ = json.Marshal(r.Meta)
	}
	return out
}

// blockOf is one block of content.
func blockOf(content mcp.Content) abi.Block {
	switch c := content.(type) {
	case *mcp.TextContent:
		return abi.TextBlock(c.Text)
	case *mcp.ImageContent:
		if isImage(c.MIMEType) {
			return abi.Block{Type: abi.BlockImage, MediaType: c.MIMEType, Data: c.Data}
		}
		return abi.TextBlock(leftOut("image", c.MIMEType, len(c.Data)))
	case *mcp.AudioContent:
		return abi.TextBlock(leftOut("sound", c.MIMEType, len(c.Data)))
	case *mcp.ResourceLink:
		return abi.TextBlock(linkText(c))
	case *mcp.EmbeddedResource:
		return resourceBlock(c.Resource)
	}
	return abi.TextBlock(fmt.Sprintf("[content of a kind that is not known here: %T]", content))
}

// linkText describes a resource that is not part of the result.
func linkText(l *mcp.ResourceLink) string {
	text := fmt.Sprintf("[resource %s: %s", l.Name, l.URI)
	if l.MIMEType != "" {
		text += ", " + l.MIMEType
	}
	if l.Description != "" {
		text += "; " + l.Description
	}
	return text + "]"
}

// resourceBlock is a resource that is a part of the result.
func resourceBlock(r *mcp.ResourceContents) abi.Block {
	switch {
	case r == nil:
		return abi.TextBlock("[an empty resource]")
	case r.Blob == nil:
		return abi.TextBlock(r.Text)
	case isImage(r.MIMEType):
		return abi.Block{Type: abi.BlockImage, MediaType: r.MIMEType, Data: r.Blob}
	}
	return abi.TextBlock(leftOut("resource "+r.URI, r.MIMEType, len(r.Blob)))
}

// isImage reports whether models take images of a type.
func isImage(mediaType string) bool {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// leftOut tells of content that models cannot take.
func leftOut(kind, mediaType string, size int) string {
	return fmt.Sprintf("[%s of the type %s and %d bytes, which cannot be shown]", kind, mediaType, size)
}
