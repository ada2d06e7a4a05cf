package config

import (
	"github.com/toolquay/toolquay/host/internal/credentials"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/permissions/settings"
)

// CredentialsOf returns where the settings keep what logins to MCP servers give; nil where
// there is no place for it.
func CredentialsOf(dirs Dirs, loaded *settings.Loaded) servers.Credentials {
	switch {
	case dirs.State == "":
		return nil
	case loaded.Credentials.Store.Value == settings.StoreKeyring:
		return credentials.InKeyring(dirs.credentials())
	}
	return credentials.InFiles(dirs.credentials())
}
