package servers

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sseTransport is the transport of the revision 2024-11-05: one stream of server-sent events
// from the server, and a request for each message to it.
type sseTransport struct {
	mcp.SSEClientTransport

	life context.Context //nolint:containedctx // the stream outlives the call that opens it
}

// Connect begins the stream, before ctx ends. It lasts as long as the connection.
func (t *sseTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c := &sseConn{}
	life, end := context.WithCancel(t.life)
	c.end = end
	stop := context.AfterFunc(ctx, end)
	var err error
	c.Connection, err = t.SSEClientTransport.Connect(life) //nolint:contextcheck // it would end with the start
	if !stop() && err == nil {
		_ = c.Connection.Close() // nothing was sent
		err = context.Cause(ctx)
	}
	if err != nil {
		end()
		return nil, err
	}
	return c, nil
}

// sseConn is a connection whose stream ends with it.
type sseConn struct {
	mcp.Connection

	end context.CancelFunc
}

// Close ends the connection.
func (c *sseConn) Close() error {
	defer c.end()
	return c.Connection.Close()
}
