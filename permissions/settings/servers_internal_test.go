package settings

import "testing"

// FuzzParseShared: whatever stands in a .mcp.json, there is a file, and what counts of it
// passes the checks of a server.
func FuzzParseShared(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"command": "p", "args": ["${A:-b}"], "env": {"A": "b"}}, "b": {"type": "sse", "url": "https://a", "headers": {"A": "b"}}}}`)
	f.Add("\xef\xbb\xbf{\"mcpServers\": {\"\\u0041\": {\"url\": 1}}}")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := parseShared(".mcp.json", []byte(text))
		if file == nil || err != nil && len(file.Servers) > 0 {
			t.Fatalf("%+v, %v", file, err)
		}
		for name, s := range file.Servers {
			s.check(true, func(sub, format string, _ ...any) { t.Errorf("%q: %s: %s", name, sub, format) })
			if s.Name != name || !s.defines() || len(s.Command) > 0 && s.URL != "" {
				t.Errorf("%+v", s)
			}
		}
	})
}
