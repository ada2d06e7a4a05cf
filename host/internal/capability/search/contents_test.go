package search

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestContents(t *testing.T) {
	t.Parallel()
	root := tree(t,
		"a.go", "one\ntwo needle\nthree\nfour\nfive needle\nsix\n",
		"b.txt", "Needle\r\nneedle two\r\n",
		"bin", "needle\x00",
		"bad", "x\xffneedle\n",
		"bom", "\xef\xbb\xbfneedle first\n",
		"empty", "",
		"long", strings.Repeat("ä", 20)+"needle\n",
		"sub/c.go", "needle", ".hid", "needle\n", ".git/x", "needle\n",
	)
	content := func(a abi.ContentsArgs) abi.ContentsArgs { a.Mode = abi.ModeContent; return a }
	for name, c := range map[string]struct {
		args abi.ContentsArgs
		want string
	}{
		"files, newest first": {abi.ContentsArgs{Pattern: "needle"}, ".hid\nsub/c.go\nlong\nbom\nbad\nb.txt\na.go\n"},
		"count":               {abi.ContentsArgs{Pattern: "needle", Mode: abi.ModeCount, Globs: []string{"*.{go,txt}"}}, "a.go:2\nb.txt:1\nsub/c.go:1\n"},
		"content":             {content(abi.ContentsArgs{Pattern: "needle", Type: "go"}), "a.go:two needle\na.go:five needle\nsub/c.go:needle\n"},
		"numbers":             {content(abi.ContentsArgs{Pattern: "needle", Type: "go", LineNumbers: true}), "a.go:2:two needle\na.go:5:five needle\nsub/c.go:1:needle\n"},
		"context": {content(abi.ContentsArgs{Pattern: "two|six", Globs: []string{"a.go"}, LineNumbers: true, Before: 1, After: 1}),
			"a.go-1-one\na.go:2:two needle\na.go-3-three\n--\na.go-5-five needle\na.go:6:six\n"},
		"context that meets": {content(abi.ContentsArgs{Pattern: "needle", Globs: []string{"a.go"}, Before: 1, After: 1}),
			"a.go-one\na.go:two needle\na.go-three\na.go-four\na.go:five needle\na.go-six\n"},
		"context of files": {content(abi.ContentsArgs{Pattern: "needle", Type: "go", After: 1}),
			"a.go:two needle\na.go-three\n--\na.go:five needle\na.go-six\n--\nsub/c.go:needle\n"},
		"no case":               {content(abi.ContentsArgs{Pattern: "NEEDLE", CaseInsensitive: true, Path: "b.txt"}), "b.txt:Needle\nb.txt:needle two\n"},
		"no case, intersected":  {content(abi.ContentsArgs{Pattern: "t[wxQ&&WxQ]o", CaseInsensitive: true, Path: "a.go"}), "a.go:two needle\n"},
		"limit":                 {content(abi.ContentsArgs{Pattern: "needle", Type: "go", Limit: 1}), "a.go:two needle\n"},
		"offset":                {content(abi.ContentsArgs{Pattern: "needle", Type: "go", Offset: 1}), "a.go:five needle\nsub/c.go:needle\n"},
		"offset and limit":      {content(abi.ContentsArgs{Pattern: "needle", Type: "go", Offset: 1, Limit: 1}), "a.go:five needle\n"},
		"limit of files":        {abi.ContentsArgs{Pattern: "needle", Limit: 2, Offset: 1}, "sub/c.go\nlong\n"},
		"invalid UTF-8":         {content(abi.ContentsArgs{Pattern: "needle", Path: "bad"}), "bad:x\uFFFDneedle\n"},
		"BOM":                   {content(abi.ContentsArgs{Pattern: "^needle", Path: "bom"}), "bom:needle first\n"},
		"columns":               {content(abi.ContentsArgs{Pattern: "needle", Path: "long", MaxColumns: 5}), "long:ää [... 42 more bytes]\n"},
		"ends of lines":         {content(abi.ContentsArgs{Pattern: `^\w+$`, Path: "a.go"}), "a.go:one\na.go:three\na.go:four\na.go:six\n"},
		"a line is the text":    {content(abi.ContentsArgs{Pattern: `\Athree\z`, Path: "a.go"}), "a.go:three\n"},
		"classes stay in lines": {content(abi.ContentsArgs{Pattern: `two[^x]*three|one\stwo`, Path: "a.go"}), ""},
		"multi-line": {content(abi.ContentsArgs{Pattern: `two.*four`, Path: "a.go", Multiline: true, LineNumbers: true}),
			"a.go:2:two needle\na.go:3:three\na.go:4:four\n"},
		"multi-line, twice on a line": {content(abi.ContentsArgs{Pattern: `one\ntwo|needle\nthree`, Path: "a.go", Multiline: true}), "a.go:one\na.go:two needle\na.go:three\n"},
		"multi-line looks back":       {content(abi.ContentsArgs{Pattern: `two|^ need`, Path: "a.go", Multiline: true}), "a.go:two needle\n"},
		"excluded by a glob":          {abi.ContentsArgs{Pattern: "needle", Globs: []string{"!*.go", "!b*", "!l*", "!.*"}}, ""},
		"glob of a path":              {abi.ContentsArgs{Pattern: "needle", Globs: []string{"sub/*.go"}}, "sub/c.go\n"},
		"in a directory":              {abi.ContentsArgs{Pattern: "needle", Path: "sub"}, "sub/c.go\n"},
		"nothing":                     {abi.ContentsArgs{Pattern: "nowhere"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ok, body, err := call(t, root, abi.CapSearchContents, c.args, all)
			if err != nil {
				t.Fatal(err)
			}
			if body != c.want {
				t.Errorf("got\n%swant\n%s", body, c.want)
			}
			got, _ := ok.(abi.ContentsOK)
			if got.Entries != strings.Count(c.want, "\n") || got.Truncated != (c.args.Limit > 0) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestContentsErrors(t *testing.T) {
	t.Parallel()
	root := tree(t, "bin", "x\x00", "f", "")
	for name, c := range map[string]struct {
		args abi.ContentsArgs
		code abi.Code
		says string
	}{
		"open group":     {abi.ContentsArgs{Pattern: "a(b"}, abi.CodeInvalidInput, "unclosed group"},
		"position":       {abi.ContentsArgs{Pattern: "ab|*"}, abi.CodeInvalidInput, "    ab|*\n       ^"},
		"look-around":    {abi.ContentsArgs{Pattern: "a(?=b)"}, abi.CodeInvalidInput, "look-around"},
		"back-reference": {abi.ContentsArgs{Pattern: `(a)\1`}, abi.CodeInvalidInput, "backreferences"},
		"newline":        {abi.ContentsArgs{Pattern: `a\nb`}, abi.CodeInvalidInput, "set multiline"},
		"too long":       {abi.ContentsArgs{Pattern: strings.Repeat("a", maxPattern+1)}, abi.CodeInvalidInput, "limit"},
		"too large":      {abi.ContentsArgs{Pattern: `\w{1000}`}, abi.CodeInvalidInput, "repeat less"},
		"repeats":        {abi.ContentsArgs{Pattern: "(((a{100}){100}){100}){100}"}, abi.CodeInvalidInput, "repeat"},
		"NUL":            {abi.ContentsArgs{Pattern: "a\x00"}, abi.CodeInvalidInput, "NUL"},
		"mode":           {abi.ContentsArgs{Pattern: "a", Mode: "lines"}, abi.CodeInvalidInput, "no mode"},
		"type":           {abi.ContentsArgs{Pattern: "a", Type: "rs"}, abi.CodeInvalidInput, "rust"},
		"unknown type":   {abi.ContentsArgs{Pattern: "a", Type: "qqq"}, abi.CodeInvalidInput, "glob"},
		"glob":           {abi.ContentsArgs{Pattern: "a", Globs: []string{"a{"}}, abi.CodeInvalidInput, "not closed"},
		"negative":       {abi.ContentsArgs{Pattern: "a", Before: -1}, abi.CodeInvalidInput, "negative"},
		"huge limit":     {abi.ContentsArgs{Pattern: "a", Limit: 1 << 40, Offset: 1 << 40}, abi.CodeInvalidInput, "bound"},
		"missing":        {abi.ContentsArgs{Pattern: "a", Path: "x"}, abi.CodeNotFound, "x"},
		"binary":         {abi.ContentsArgs{Pattern: "a", Path: "bin"}, abi.CodeNotText, "binary"},
		"device":         {abi.ContentsArgs{Pattern: "a", Path: "/dev/zero"}, abi.CodeNotRegular, "/dev"},
	} {
		_, _, err := call(t, root, abi.CapSearchContents, c.args, all)
		if abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s with %q", name, err, c.code, c.says)
		}
	}
}

// Windows move while context is due; numbers and groups must not notice.
func TestContextAcrossWindows(t *testing.T) {
	t.Parallel()
	var text, want strings.Builder
	for i := range 59_997 {
		line := strings.Repeat("x", 30)
		if i%7 == 3 {
			line = "needle"
		}
		text.WriteString(line + "\n")
		sep := map[int]string{1: "-", 2: "-", 3: ":", 4: "-"}[i%7]
		if i%7 == 1 && i > 7 {
			want.WriteString("--\n")
		}
		if sep != "" {
			want.WriteString("f" + sep + strconv.Itoa(i+1) + sep + line + "\n")
		}
	}
	root := tree(t, "f", text.String())
	_, body, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{
		Pattern: "needle", Mode: abi.ModeContent, LineNumbers: true, Before: 2, After: 1, Limit: 900_000,
	}, all)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Split(body, "\n"), strings.Split(want.String(), "\n"); len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	} else {
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("line %d is %q, want %q", i, got[i], want[i])
			}
		}
	}
}

// A line that no window holds is searched as far as it fits, and counts once.
func TestHugeLine(t *testing.T) {
	t.Parallel()
	root := tree(t, "f", "first\n"+strings.Repeat("a", 2*maxWindow)+"\nneedle\n")
	_, body, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{
		Pattern: "needle", Mode: abi.ModeContent, LineNumbers: true, MaxColumns: 10,
	}, all)
	if err != nil || body != "f:3:needle\n" {
		t.Errorf("%.100q, %v", body, err)
	}
}

// Links lead nowhere while a tree is walked, not even one swapped in.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	root := tree(t, "in/f", "inside\n", "in/sub/g", "inside\n", "out/f", "outside\n", "out/g", "outside\n")
	for link, target := range map[string]string{
		"in/link": "../out", "in/file": "../out/f", "in/loop": ".", "in/up": "..", "in/dangling": "nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go flip(t, filepath.Join(root, "in"), stop, stopped)
	for end := time.Now().Add(time.Duration(testenv.Sample(1000)) * time.Millisecond); time.Now().Before(end); {
		_, body, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{Pattern: "side", Path: "in", Mode: abi.ModeContent}, all)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(body, "outside") {
			t.Fatalf("escaped: %s", body)
		}
		got, _, err := names(t, root, abi.NamesArgs{Path: "in", Pattern: "**"}, all)
		if err != nil || strings.Contains(got, "link") || strings.Contains(got, "loop") {
			t.Fatalf("%q, %v", got, err)
		}
	}
	close(stop)
	<-stopped
}

// flip swaps the file f and the directory sub for links to the outside and back.
func flip(t *testing.T, dir string, stop, stopped chan struct{}) {
	t.Helper()
	defer close(stopped)
	for {
		for name, target := range map[string]string{"f": "../out/f", "sub": "../out"} {
			path, kept := filepath.Join(dir, name), filepath.Join(filepath.Dir(dir), "kept-"+name)
			for _, err := range []error{
				os.Rename(path, kept), os.Symlink(target, path), os.Remove(path), os.Rename(kept, path),
			} {
				if err != nil {
					t.Error(err)
					return
				}
			}
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}

func TestIgnoreFiles(t *testing.T) {
	t.Parallel()
	root := tree(t,
		".git/info/exclude", "*.exc\n",
		".gitignore", "*.log\n/top\nbuild/\n!keep.log\n",
		"a.log", "x", "keep.log", "x", "top", "x", "d/top", "x", "build/f", "x", "f.exc", "x",
		"d/.gitignore", "!*.log\n*.tmp\n", "d/b.log", "x", "d/c.tmp", "x",
		"d/.ignore", "!c.tmp\nonly\n", "d/only", "x",
		"nested/.git/HEAD", "", "nested/e.log", "x",
	)
	sorted := func(cwd string, args abi.ContentsArgs) string {
		args.Pattern, args.Mode = "^x", abi.ModeCount
		_, body, err := call(t, cwd, abi.CapSearchContents, args, all)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(strings.TrimSuffix(strings.ReplaceAll(body, ":1\n", "\n"), "\n"), "\n", " ")
	}
	for name, c := range map[string]struct {
		cwd  string
		args abi.ContentsArgs
		want string
	}{
		"from the root":          {".", abi.ContentsArgs{}, "d/b.log d/c.tmp d/top keep.log nested/e.log"},
		"from below":             {"d", abi.ContentsArgs{}, "b.log c.tmp top"},
		"a glob beats them":      {".", abi.ContentsArgs{Globs: []string{"*.log"}}, "a.log d/b.log keep.log nested/e.log"},
		"but not for a folder":   {".", abi.ContentsArgs{Globs: []string{"build/*"}}, ""},
		"a file that is named":   {".", abi.ContentsArgs{Path: "a.log"}, "a.log"},
		"a folder that is named": {".", abi.ContentsArgs{Path: "build"}, "build/f"},
	} {
		if got := sorted(filepath.Join(root, c.cwd), c.args); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTypesAreWhole(t *testing.T) {
	t.Parallel()
	if len(types()) < 60 {
		t.Errorf("%d types", len(types()))
	}
	root := tree(t, "f", "")
	for name := range types() {
		p, err := plan(t, root, abi.CapSearchContents, abi.ContentsArgs{Pattern: "x", Type: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = p.Close()
	}
}
