package servers

import "github.com/modelcontextprotocol/go-sdk/auth"

// authorizer is who logs in to the server.
func (s *server) authorizer() (auth.OAuthHandler, error) { return nil, nil }

// asksLogin offers a way to log in, if that is why a connection ended.
func (s *server) asksLogin(error) bool { return false }
