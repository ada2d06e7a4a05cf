package mcpclients

import (
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// installAll installs what all clients need, side by side: most of the time is the network's.
func installAll(t *testing.T) {
	t.Helper()
	t.Run("install", func(t *testing.T) {
		for name, install := range map[string]func(*testing.T) string{"modern": modern, "classic": classic, "node": node} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				install(t)
			})
		}
	})
}

// modern and classic are interpreters of Python with the packages of their files.
var modern, classic = python("modern"), python("classic")

func python(name string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		return testenv.Python(t, "mcp-clients-"+name, filepath.Join("testdata", "python", name+".txt"))
	}
}

// node has the packages of testdata/node, a Node among them, and returns that.
func node(t *testing.T) string {
	t.Helper()
	const dir = "testdata/node"
	testenv.Install(t, dir+"/package-lock.json", dir+"/node_modules/.installed", [][]string{
		{testenv.NeedTool(t, "npm"), "ci", "--no-audit", "--no-fund", "--prefix", dir},
	})
	return absolute(t, dir+"/node_modules/.bin/node")
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
