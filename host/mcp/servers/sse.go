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

// Connect begins the stream, which lasts as long as the server.
func (t *sseTransport) Connect(context.Context) (mcp.Connection, error) {
	return t.SSEClientTransport.Connect(t.life) //nolint:contextcheck // it would end with the start
}
