package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fence = regexp.MustCompile("(?s)^(.*?)\n```[a-z]+\n(.*?)```\n")

// TestDocs compares the snippet of each client in docs/mcp.md with what install writes, parses
// it, and looks for the client's files beside it.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	s := Server{Name: "toolquay", Command: "/usr/local/bin/toolquay", Args: []string{"mcp"}}
	for _, client := range All() {
		_, section, found := strings.Cut(string(page), "\n### "+client.Title+"\n")
		parts := fence.FindStringSubmatch(section)
		if !found || parts == nil {
			t.Errorf("%s has no snippet", client.Title)
			continue
		}
		text, snippet := parts[1], parts[2]
		if client.Bundled() {
			if want := string(Manifest(s, "linux", "")); snippet != want || !json.Valid([]byte(snippet)) {
				t.Errorf("%s: the page has\n%s\nwant\n%s", client.Title, snippet, want)
			}
			continue
		}
		want, err := client.Snippet(s)
		if err != nil || snippet != want {
			t.Errorf("%s: %v: the page has\n%s\nwant\n%s", client.Title, err, snippet, want)
		}
		doc, err := client.language.decode([]byte(snippet))
		if err != nil {
			t.Errorf("%s: the snippet does not parse: %v", client.Title, err)
			continue
		}
		if entry, err := lookup(doc, client.path(s.Name)); err != nil || strings.Join(commandOf(entry), " ") != s.Command+" mcp" {
			t.Errorf("%s: the snippet starts %q, %v", client.Title, commandOf(entry), err)
		}
		none := func(string) string { return "" }
		paths := []string{client.user(Places{OS: "linux", Home: "~", Getenv: none})}
		if client.project != nil {
			paths = append(paths, client.project(Places{Getenv: none}))
		}
		for _, path := range paths {
			if !strings.Contains(text, "`"+filepath.ToSlash(path)+"`") {
				t.Errorf("%s: the page does not name %s", client.Title, path)
			}
		}
	}
}
