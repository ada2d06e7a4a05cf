package repo

import (
	"bytes"
	"go/build"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// machinePaths are folders of the machine that the test runs on: where it would
// be written down unawares.
func machinePaths(tb testing.TB) []string {
	tb.Helper()
	checkout, err := filepath.Abs(root)
	if err != nil {
		tb.Fatal(err)
	}
	var paths []string
	for _, dir := range []string{checkout, build.Default.GOPATH} {
		// A folder right below the root could be anybody's.
		if strings.Count(dir, string(filepath.Separator)) > 1 {
			paths = append(paths, dir)
		}
	}
	return paths
}

// buildPaths are what compilers leave in a module that was not built with its
// paths remapped.
var buildPaths = []string{"/root/", "/home/", "/Users/", "/usr/src/"}

func TestNoMachinePaths(t *testing.T) {
	t.Parallel()
	machine := machinePaths(t)
	for _, name := range files(t, func(string) bool { return true }) {
		data := read(t, name)
		unwanted := machine
		switch {
		case path.Ext(name) == ".wasm":
			unwanted = append(slices.Clip(machine), buildPaths...)
		case !isText(data):
			continue
		}
		for _, p := range unwanted {
			if at := bytes.Index(data, []byte(p)); at >= 0 {
				t.Errorf("%s names the machine's path %q at byte %d (line %d)", name, p, at, line(data, at))
			}
		}
	}
}

// markdownLink matches the target of [text](target), and of [text]: target at
// a line's start.
var markdownLink = regexp.MustCompile(`\]\(([^()\s]+)(?:\s+"[^"]*")?\)|(?m:^\[[^\]^]+\]:\s+(\S+))`)

// fence matches a fenced block of code, whose brackets are no links.
var fence = regexp.MustCompile("(?ms)^ *```.*?^ *```")

func TestMarkdownLinks(t *testing.T) {
	t.Parallel()
	documents := files(t, func(name string) bool {
		return path.Ext(name) == ".md" && !strings.Contains("/"+name, "/testdata/")
	})
	if !slices.Contains(documents, "README.md") {
		t.Error("README.md is missing")
	}
	tree := os.DirFS(root)
	for _, name := range documents {
		for _, target := range localLinks(read(t, name)) {
			file := path.Join(path.Dir(name), target)
			if _, err := fs.Stat(tree, file); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, target)
			}
		}
	}
}

// localLinks returns the files that a Markdown text links to, without the
// fragments of their addresses.
func localLinks(text []byte) []string {
	var targets []string
	for _, match := range markdownLink.FindAllSubmatch(fence.ReplaceAll(text, nil), -1) {
		target, err := url.Parse(string(match[1]) + string(match[2]))
		if err == nil && !target.IsAbs() && target.Host == "" && target.Path != "" {
			targets = append(targets, target.Path)
		}
	}
	return targets
}

func TestLocalLinks(t *testing.T) {
	t.Parallel()
	const text = "[a](A.md) and [b](docs/B.md#part \"title\"), not [c](#c) or [d](https://example.com/d).\n" +
		"```\n[e](E.md)\n```\n" +
		"[f]: F.md\n[g](a%20b.md)\n"
	want := []string{"A.md", "docs/B.md", "F.md", "a b.md"}
	if got := localLinks([]byte(text)); !slices.Equal(got, want) {
		t.Errorf("links found: %q, want %q", got, want)
	}
}

// scriptSkip matches a testscript line that skips its script. Conditions on the
// operating system are permitted, as in testenv.
var scriptSkip = regexp.MustCompile(`(?m)^\s*(?:\[(!?[^\]]+)\]\s*)*skip\b`)

var systemCondition = regexp.MustCompile(`^!?(?:GOOS:)?(?:windows|darwin|linux|unix)$`)

func TestScriptsDoNotSkip(t *testing.T) {
	t.Parallel()
	scripts := files(t, func(name string) bool {
		return slices.Contains([]string{".txtar", ".txt"}, path.Ext(name)) && strings.Contains(name, "/testdata/")
	})
	for _, name := range scripts {
		data := read(t, name)
		commands, _, _ := bytes.Cut(data, []byte("\n-- "))
		for _, at := range scriptSkip.FindAllSubmatchIndex(commands, -1) {
			if at[2] >= 0 && systemCondition.Match(commands[at[2]:at[3]]) {
				continue
			}
			t.Errorf("%s:%d skips: declare what it needs in the test that runs it, with testenv",
				name, line(commands, at[0]))
		}
	}
}

// documentHost matches a host that a page uses as an example: in a rule, or in a list.
var documentHost = regexp.MustCompile(`WebFetch\(domain:([\w*.-]+)\)|hosts = \["([^"]+)"`)

// ownHosts are names that are no examples: a pattern, and this machine's for commands.
var ownHosts = []string{"*.x", "host.toolquay.internal"}

// TestExampleHosts holds that examples name hosts that belong to nobody.
func TestExampleHosts(t *testing.T) {
	t.Parallel()
	found := 0
	for _, name := range files(t, func(name string) bool {
		return (path.Ext(name) == ".md" || path.Base(name) == "doc.go") && !strings.Contains("/"+name, "/testdata/")
	}) {
		for _, match := range documentHost.FindAllSubmatch(read(t, name), -1) {
			host := string(match[1]) + string(match[2])
			found++
			if strings.Contains(host, ".") && !strings.HasSuffix(host, "example.com") && !slices.Contains(ownHosts, host) {
				t.Errorf("%s names the host %s; use one of example.com", name, host)
			}
		}
	}
	if found == 0 {
		t.Error("no page names a host any more")
	}
}
