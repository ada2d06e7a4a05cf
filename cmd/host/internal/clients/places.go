package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Places are what the paths of clients' files depend on.
type Places struct {
	// OS is a GOOS.
	OS   string
	Home string
	// Project is the root of a project; it is empty for the user's own files.
	Project string
	// Getenv looks up a variable of the environment.
	Getenv func(string) string
}

// Path returns the file that a client reads its servers from.
func (c *Client) Path(p Places) (string, error) {
	switch {
	case c.Bundled():
		return "", fmt.Errorf("%s has no file for servers of its own", c.Title)
	case p.Project != "" && c.project == nil:
		return "", fmt.Errorf("%s has no servers of a project; leave --project out", c.Title)
	case p.Project != "":
		return c.project(p), nil
	case p.Home == "":
		return "", fmt.Errorf("the home directory is not known, where %s has its file; set HOME", c.Title)
	}
	return c.user(p), nil
}

func inProject(elem ...string) func(Places) string {
	return func(p Places) string { return filepath.Join(slices.Insert(slices.Clone(elem), 0, p.Project)...) }
}

// inHome is a file in a directory of the home, which a variable may name instead.
func inHome(variable, dir, file string) func(Places) string {
	return func(p Places) string {
		if variable != "" && p.Getenv(variable) != "" {
			return filepath.Join(p.Getenv(variable), file)
		}
		return filepath.Join(p.Home, dir, file)
	}
}

// claudeJSON is in the home itself, unless CLAUDE_CONFIG_DIR names a directory.
func claudeJSON(p Places) string {
	return inHome("CLAUDE_CONFIG_DIR", "", ".claude.json")(p)
}

// xdg is the directory for configurations, of programs that use it on macOS too.
func xdg(p Places) string {
	if dir := p.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Home, ".config")
}

// appData is where programs on Windows keep what roams.
func appData(p Places) string {
	if dir := p.Getenv("APPDATA"); dir != "" {
		return dir
	}
	return filepath.Join(p.Home, "AppData", "Roaming")
}

func codeUser(p Places) string {
	dir := xdg(p)
	switch p.OS {
	case "darwin":
		dir = filepath.Join(p.Home, "Library", "Application Support")
	case "windows":
		dir = appData(p)
	}
	return filepath.Join(dir, "Code", "User", "mcp.json")
}

func zedSettings(p Places) string {
	switch p.OS {
	case "darwin": // it does not look at XDG_CONFIG_HOME there
		return filepath.Join(p.Home, ".config", "zed", "settings.json")
	case "windows":
		return filepath.Join(appData(p), "Zed", "settings.json")
	}
	return filepath.Join(xdg(p), "zed", "settings.json")
}

func gooseConfig(p Places) string {
	if p.OS == "windows" {
		return filepath.Join(appData(p), "Block", "goose", "config", "config.yaml")
	}
	return filepath.Join(xdg(p), "goose", "config.yaml")
}

func openCodeUser(p Places) string { return openCodeIn(filepath.Join(xdg(p), "opencode")) }

func openCodeProject(p Places) string { return openCodeIn(p.Project) }

// openCodeIn is the one of OpenCode's two files that is there. It reads both.
func openCodeIn(dir string) string {
	withComments := filepath.Join(dir, "opencode.jsonc")
	if _, err := os.Lstat(withComments); err == nil {
		return withComments
	}
	return filepath.Join(dir, "opencode.json")
}
