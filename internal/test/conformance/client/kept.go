package main

import (
	"context"
	"sync"

	"github.com/toolquay/toolquay/host/mcp/servers"
)

// kept keeps logins as long as the program runs.
type kept struct {
	mu     sync.Mutex
	logins map[string][]byte
}

var _ servers.Credentials = (*kept)(nil)

// Load returns what is kept under a name.
func (k *kept) Load(_ context.Context, name string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.logins[name], nil
}

// Update replaces what is kept under a name.
func (k *kept) Update(_ context.Context, name string, update func([]byte) ([]byte, error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, err := update(k.logins[name])
	if err != nil {
		return err
	}
	if k.logins == nil {
		k.logins = make(map[string][]byte)
	}
	k.logins[name] = text
	return nil
}
