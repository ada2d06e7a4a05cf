package main

import (
	"strings"
	"testing"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/toolquaytest"
)

func TestOutline(t *testing.T) {
	for name, tt := range map[string]struct {
		file     string
		maxLevel int
		want     string
	}{
		"levels":        {"# A\ntext\n## B\n### C ##\n", 0, "     1\tA\n     3\t  B\n     4\t    C"},
		"max level":     {"# A\n## B\n### C\n", 2, "     1\tA\n     2\t  B"},
		"underlined":    {"Title\n=====\n\nPart\n---\n", 0, "     1\tTitle\n     4\t  Part"},
		"rule":          {"text\n\n---\n", 0, "No headings."},
		"fenced code":   {"````sh\n# no\n```\n# no\n````\n# yes\n", 0, "     6\tyes"},
		"tilde fence":   {"~~~ `x`\n# no\n~~~\n# yes", 0, "     4\tyes"},
		"indented":      {"\n    # no\n   # yes\n", 0, "     3\tyes"},
		"no space":      {"#no\n#\tyes\n", 0, "     2\tyes"},
		"seven":         {"####### no\n", 0, "No headings."},
		"crlf and bom":  {"\uFEFF# A\r\n\r\nB\r\n=\r\n", 0, "     1\tA\n     3\tB"},
		"list":          {"- item\n---\n", 0, "No headings."},
		"hash in title": {"# C#\n", 0, "     1\tC#"},
		"empty":         {"", 0, "No headings."},
	} {
		t.Run(name, func(t *testing.T) {
			host := toolquaytest.Files(map[string]string{"a.md": tt.file})
			r := host.Call(t, "Outline", Input{FilePath: "a.md", MaxLevel: tt.maxLevel})
			if r.IsError || r.Text() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", r.Text(), tt.want)
			}
		})
	}
}

func TestOutlineTellsHowFarItIs(t *testing.T) {
	const size = 2<<20 + 7
	host := toolquaytest.Files(map[string]string{"long.md": strings.Repeat("lines\n\n", size/7)})
	told := host.Call(t, "Outline", Input{FilePath: "long.md"}).Progress
	if len(told) != 2 || told[0].Done >= told[1].Done || told[1].Total != size/7*7 {
		t.Errorf("reported %+v", told)
	}
}

func TestOutlineFailures(t *testing.T) {
	host := toolquaytest.Files(map[string]string{"long.md": strings.Repeat("x", maxLine+1)})
	for file, code := range map[string]toolquay.Code{
		"missing.md": toolquay.CodeNotFound,
		"long.md":    toolquay.CodeTooLarge,
	} {
		r := host.Call(t, "Outline", Input{FilePath: file})
		if r.Err == nil || r.Err.Code != code || !strings.Contains(r.Text(), file) {
			t.Errorf("%s: got %v (%s), want the code %s", file, r.Err, r.Text(), code)
		}
	}
}

func TestContents(t *testing.T) {
	const before, after = "# A\n<!-- contents -->\nold\n<!-- /contents -->\n## B\n### C\n", "# A\n<!-- contents -->\n  - B\n    - C\n<!-- /contents -->\n## B\n### C\n"
	host := toolquaytest.Files(map[string]string{"a.md": before, "plain.md": "# A\n"})
	in := map[string]string{"file_path": "a.md"}
	if r := host.Call(t, "Contents", in); r.IsError || !strings.Contains(r.Text(), "-old\n+  - B\n") {
		t.Errorf("got %s", r.Text())
	}
	if got, _ := host.File("a.md"); string(got) != after {
		t.Errorf("it holds %s", got)
	}
	if r := host.Call(t, "Contents", in); r.IsError || r.Text() != "The list is up to date." {
		t.Errorf("written again: %s", r.Text())
	}
	if r := host.Call(t, "Contents", map[string]string{"file_path": "plain.md"}); r.Err == nil || r.Err.Code != toolquay.CodeNoMatch {
		t.Errorf("without the lines: %s", r.Text())
	}
}
