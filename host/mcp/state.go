package mcp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A requestState says which call a client brings input for. It is an opaque text to the
// client: a ticket and its HMAC-SHA-256, under a key that the server made when it began. The
// code also covers the session and what the call is about, so a state is worth nothing for
// another call, another session or another principal.

// ticket is what a requestState says.
type ticket struct {
	Call  string `json:"c"`
	Round int    `json:"r"`
	Until int64  `json:"u"` // in Unix seconds
}

var (
	errForged  = errors.New("it is not one that this server gave for this call: send what the result contained, with the name and the arguments of that call")
	errTooLate = errors.New("it has expired, and the call was given up: call the tool anew")
	errUsed    = errors.New("it was used already: send the one of the newest result")
)

// seal makes the requestState of a call. The caller holds the call's mutex.
func (s *Server) seal(c *call, until time.Time) string {
	text, err := json.Marshal(ticket{Call: c.id, Round: c.round, Until: until.Unix()})
	if err != nil {
		panic(err) // it has no values that JSON has not
	}
	return base64.RawURLEncoding.EncodeToString(append(s.sign(c, text), text...))
}

// sign is the code of a ticket.
func (s *Server) sign(c *call, text []byte) []byte {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write([]byte(c.host))
	mac.Write([]byte{0})
	mac.Write(c.binding[:])
	mac.Write(text)
	return mac.Sum(nil)
}

// unseal finds the call of a requestState.
func (s *Server) unseal(of *clientSession, req *mcp.CallToolRequest) (*call, error) {
	text, err := base64.RawURLEncoding.DecodeString(req.Params.RequestState)
	if err != nil || len(text) < sha256.Size {
		return nil, errForged
	}
	code, text := text[:sha256.Size], text[sha256.Size:]
	session := of.current()
	if session == nil || !hmac.Equal(code, s.sign(&call{host: session.ID(), binding: bindingOf(req)}, text)) {
		return nil, errForged
	}
	var t ticket
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, errForged
	}
	c := of.find(t.Call)
	if c == nil || time.Now().Unix() > t.Until {
		return nil, errTooLate
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Round != c.round || c.at != nil {
		return nil, errUsed
	}
	c.at = c.last // so that it is used by now
	return c, nil
}

// bindingOf is what a call is about.
func bindingOf(req *mcp.CallToolRequest) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(req.Params.Name))
	h.Write([]byte{0})
	h.Write(canonical(req.Params.Arguments))
	return [sha256.Size]byte(h.Sum(nil))
}

// canonical writes arguments in one form, whatever the order of their keys.
func canonical(arguments json.RawMessage) []byte {
	var v any
	if json.Unmarshal(arguments, &v) != nil {
		return arguments
	}
	text, err := json.Marshal(v)
	if err != nil {
		return arguments
	}
	return text
}
