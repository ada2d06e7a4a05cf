package servers

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/toolquay/toolquay/permissions"
)

// The defaults of limits that a [Config] leaves out.
const (
	// DefaultStartTimeout is for starting a server and listing its tools: npx and uvx may have
	// to fetch it first.
	DefaultStartTimeout = 30 * time.Second
	// DefaultCallTimeout is for one call.
	DefaultCallTimeout = 10 * time.Minute
)

// maxName is the longest name of a server, in bytes: names of tools have 64 at most.
const maxName = 32

// Config says how a server is started or reached, and what it may do.
type Config struct {
	// Name has letters, digits, hyphens and single underscores, none at its ends.
	Name string
	// Command starts a server that speaks on standard input and output: a program and its
	// arguments. Env are further variables that it gets, and Dir is where it starts; empty is
	// the set's directory.
	Command []string
	Env     map[string]string
	Dir     string
	// URL is where a server is that speaks streamable HTTP, and Headers go with each request
	// to it. Auth says how to log in there; nil is what the server itself tells.
	URL     string
	Headers map[string]string
	Auth    *Auth
	// SSE has the URL spoken to by the transport of the revision 2024-11-05, with server-sent
	// events. Nobody can log in there.
	SSE bool
	// Network are the hosts that a program may reach: names, or *.NAME for all below one. For a
	// URL they are the hosts that may be on a private network. Read and Write are the files and
	// directories, absolute, that a program may read, or write and read.
	Network, Read, Write []string
	// TrustAnnotations believes what the server says of its tools: calls of those that say
	// that they only read run in parallel.
	TrustAnnotations bool
	// AlwaysLoad has its tools never deferred.
	AlwaysLoad bool
	// StartTimeout, CallTimeout and IdleTimeout bound the start, a call, and how long a
	// program is kept that nobody calls; 0 are the defaults, and never.
	StartTimeout, CallTimeout, IdleTimeout time.Duration
	// Problem is why it cannot be used, such as a variable that is not set; nil is nothing.
	Problem error
	// Source is where it is configured.
	Source permissions.Source
}

// check returns what is wrong with a configuration.
func (c *Config) check() error {
	switch {
	case !ValidName(c.Name):
		return fmt.Errorf("invalid server name %q: use letters, digits, hyphens and single underscores, at most %d", c.Name, maxName)
	case c.Problem != nil:
		return c.Problem
	case (len(c.Command) == 0) == (c.URL == ""):
		return errors.New("it has a command or a url, and not both")
	case c.URL == "":
		return nil
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		return errors.New("its url cannot be parsed") // it may hold a secret
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return errors.New("its url is not of the form https://host/path")
	case u.User != nil || u.Fragment != "":
		return errors.New("its url has a user or a fragment: send credentials by headers or auth")
	}
	return nil
}

// ValidName reports whether a server can have a name: then mcp__NAME__TOOL is of no other
// server.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || strings.Contains(name, "__") || strings.Trim(name, "_") != name {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

func (c *Config) startTimeout() time.Duration { return cmp.Or(c.StartTimeout, DefaultStartTimeout) }
func (c *Config) callTimeout() time.Duration  { return cmp.Or(c.CallTimeout, DefaultCallTimeout) }

// sum tells configurations apart.
func (c *Config) sum() string {
	plain := *c
	plain.Problem, plain.Source = nil, permissions.Source{} // a line may move
	text, _ := json.Marshal(plain)                          // plain data: it cannot fail
	if c.Problem != nil {
		text = append(text, c.Problem.Error()...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// identity is what the server is, whatever it may do: pins are for that.
func (c *Config) identity() string {
	return (&Config{Name: c.Name, Command: c.Command, URL: c.URL}).sum()
}
