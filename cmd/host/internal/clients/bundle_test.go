package clients

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

func TestBundle(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args     []string
		want     []string
		chooses  bool
		version  string
		wantVers string
	}{
		"a person chooses":      {[]string{"mcp"}, []string{"mcp", "--cwd=${user_config.directory}"}, true, "v1.2.3-0.2026", "1.2.3"},
		"a directory is given":  {[]string{"mcp", "--cwd", "/d"}, []string{"mcp", "--cwd", "/d"}, false, "(devel)", "0.0.0"},
		"in the form with sign": {[]string{"mcp", "--cwd=/d"}, []string{"mcp", "--cwd=/d"}, false, "v2.0.0", "2.0.0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Server{Name: "toolquay", Command: "/bin/toolquay", Args: tt.args}
			made := Manifest(s, "windows", tt.version)
			one, err := Bundle(made, s)
			if err != nil {
				t.Fatal(err)
			}
			two, err := Bundle(made, s)
			if err != nil || !bytes.Equal(one, two) {
				t.Errorf("two bundles differ: %v", err)
			}
			read, err := ReadBundle(one)
			if err != nil {
				t.Fatal(err)
			}
			var m manifest
			if err := json.Unmarshal(read, &m); err != nil {
				t.Fatal(err)
			}
			_, chooses := m.UserConfig["directory"]
			if !slices.Equal(m.Server.Config.Args, tt.want) || m.Server.Config.Command != s.Command || chooses != tt.chooses || m.Version != tt.wantVers {
				t.Errorf("the manifest is %s", read)
			}
			if platforms := m.Compatible["platforms"]; !slices.Equal(platforms.([]any), []any{"win32"}) {
				t.Errorf("the platforms are %v", platforms)
			}
		})
	}
	if _, err := ReadBundle([]byte("no zip")); err == nil {
		t.Error("text passes for a bundle")
	}
}
