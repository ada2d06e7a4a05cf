package search

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

func all(permissions.Access) bool { return true }

// tree makes files in a temporary directory, the later ones newer: a map's
// order is none, so it takes pairs of a name and a text.
func tree(tb testing.TB, pairs ...string) string {
	tb.Helper()
	root, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(root, pairs[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if strings.HasSuffix(pairs[i], "/") {
			continue
		}
		if err := os.WriteFile(path, []byte(pairs[i+1]), 0o600); err != nil {
			tb.Fatal(err)
		}
		when := time.Unix(1_700_000_000+int64(i), 0)
		if err := os.Chtimes(path, when, when); err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

func plan(tb testing.TB, cwd, name string, args any) (capability.Plan, error) {
	tb.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		tb.Fatal(err)
	}
	return New(Options{Engine: engine}).Plan(tb.Context(), capability.Scope{Cwd: cwd}, abi.Request{Name: name, Args: raw})
}

func call(tb testing.TB, cwd, name string, args any, judge capability.Judge) (ok any, body string, err error) {
	tb.Helper()
	p, err := plan(tb, cwd, name, args)
	if err != nil {
		return nil, "", err
	}
	return done(tb, p, judge)
}

// callOf searches for contents with a capability of one's own.
func callOf(tb testing.TB, c *Capability, cwd string, args abi.ContentsArgs) (ok any, body string, err error) {
	tb.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := c.Plan(tb.Context(), capability.Scope{Cwd: cwd}, abi.Request{Name: abi.CapSearchContents, Args: raw})
	if err != nil {
		return nil, "", err
	}
	return done(tb, p, all)
}

// done does a plan, and closes it.
func done(tb testing.TB, p capability.Plan, judge capability.Judge) (ok any, body string, err error) {
	tb.Helper()
	defer p.Close()
	a, err := p.Do(tb.Context(), judge)
	if err != nil {
		return nil, "", err
	}
	defer a.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil || int64(len(text)) != a.Size {
		tb.Errorf("body of %d bytes, %d were said: %v", len(text), a.Size, err)
	}
	return a.OK, string(text), nil
}

func names(tb testing.TB, cwd string, args abi.NamesArgs, judge capability.Judge) (string, abi.NamesOK, error) {
	tb.Helper()
	ok, body, err := call(tb, cwd, abi.CapSearchNames, args, judge)
	if err != nil {
		return "", abi.NamesOK{}, err
	}
	var list []abi.Found
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		tb.Fatal(err)
	}
	out := make([]string, 0, len(list))
	for _, f := range list {
		out = append(out, f.Path)
	}
	head, _ := ok.(abi.NamesOK)
	return strings.Join(out, " "), head, nil
}

func TestNames(t *testing.T) {
	t.Parallel()
	root := tree(t, "a.go", "", "src/b.go", "", "src/deep/c.go", "", "src/deep/d.txt", "", ".hidden/e.go", "",
		".git/f.go", "", "src/.hg/g.go", "", "empty/", "", "odd [x]/h.go", "")
	for name, c := range map[string]struct {
		args abi.NamesArgs
		want string
		code abi.Code
	}{
		"everywhere":            {abi.NamesArgs{Pattern: "**/*.go"}, "odd [x]/h.go .hidden/e.go src/deep/c.go src/b.go a.go", ""},
		"here only":             {abi.NamesArgs{Pattern: "*.go"}, "a.go", ""},
		"dot slash":             {abi.NamesArgs{Pattern: "./*.go"}, "a.go", ""},
		"prefix":                {abi.NamesArgs{Pattern: "src/**/*.go"}, "src/deep/c.go src/b.go", ""},
		"absolute":              {abi.NamesArgs{Pattern: "$/src/*.go"}, "src/b.go", ""},
		"path":                  {abi.NamesArgs{Path: "src", Pattern: "**"}, "src/deep/d.txt src/deep/c.go src/b.go", ""},
		"up":                    {abi.NamesArgs{Path: "src", Pattern: "../*.go"}, "a.go", ""},
		"braces":                {abi.NamesArgs{Pattern: "src/deep/*.{go,txt}"}, "src/deep/d.txt src/deep/c.go", ""},
		"no wildcard":           {abi.NamesArgs{Pattern: "src/b.go"}, "src/b.go", ""},
		"class for a bracket":   {abi.NamesArgs{Pattern: "odd [[]x]/*"}, "odd [x]/h.go", ""},
		"limit":                 {abi.NamesArgs{Pattern: "**/*.go", Limit: 2}, "odd [x]/h.go .hidden/e.go", ""},
		"directory not there":   {abi.NamesArgs{Pattern: "nowhere/**/*.go"}, "", ""},
		"nothing":               {abi.NamesArgs{Pattern: "*.zig"}, "", ""},
		"named folder of git's": {abi.NamesArgs{Pattern: ".git/*.go"}, ".git/f.go", ""},
		"empty pattern":         {abi.NamesArgs{}, "", abi.CodeInvalidInput},
		"broken":                {abi.NamesArgs{Pattern: "a["}, "", abi.CodeInvalidInput},
		"up behind a wildcard":  {abi.NamesArgs{Pattern: "*/../x"}, "", abi.CodeInvalidInput},
		"path not there":        {abi.NamesArgs{Path: "nowhere", Pattern: "*"}, "", abi.CodeNotFound},
		"path is a file":        {abi.NamesArgs{Path: "a.go", Pattern: "*"}, "", abi.CodeNotDirectory},
		"negative limit":        {abi.NamesArgs{Pattern: "*", Limit: -1}, "", abi.CodeInvalidInput},
		"device":                {abi.NamesArgs{Pattern: "/dev/*"}, "", abi.CodeNotRegular},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.args.Pattern = strings.ReplaceAll(c.args.Pattern, "$", root)
			got, ok, err := names(t, root, c.args, all)
			if c.code != "" {
				if abi.CodeOf(err) != c.code {
					t.Errorf("%v, want %s", err, c.code)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %q, want %q, %v", got, c.want, err)
			}
			if ok.Truncated != (c.args.Limit > 0) || ok.Total < ok.Count {
				t.Errorf("%+v", ok)
			}
		})
	}
	got, _, err := names(t, filepath.Join(root, "src"), abi.NamesArgs{Path: "..", Pattern: "*.go"}, all)
	if want := filepath.Join(root, "a.go"); err != nil || got != want {
		t.Errorf("outside cwd: %q, want %q, %v", got, want, err)
	}
}

func TestNamesIgnore(t *testing.T) {
	t.Parallel()
	root := tree(t, ".gitignore", "*.log\nout/\n", "a.log", "", "b.txt", "", "out/c.txt", "", ".ignore", "b.txt\n", ".git/HEAD", "", "d", "")
	got, _, err := names(t, root, abi.NamesArgs{Pattern: "**", Ignore: true}, all)
	if want := "d .ignore .gitignore"; err != nil || got != want {
		t.Errorf("got %q, want %q, %v", got, want, err)
	}
	got, _, err = names(t, root, abi.NamesArgs{Pattern: "**/*.{log,txt}"}, all)
	if want := "out/c.txt b.txt a.log"; err != nil || got != want {
		t.Errorf("got %q, want %q, %v", got, want, err)
	}
}

// Where a directory's judgement is prepared, the judge is asked about those names alone
// that it does not settle.
func TestJudgedWithTheDirectory(t *testing.T) {
	t.Parallel()
	root := tree(t, "a", "needle", ".env", "needle", "key", "needle", "shut/b", "needle", "open/c", "needle", "open/key", "needle")
	for name, args := range map[string]any{
		abi.CapSearchNames:    abi.NamesArgs{Pattern: "**"},
		abi.CapSearchContents: abi.ContentsArgs{Pattern: "needle"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := plan(t, root, name, args)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			walker, _ := p.(capability.Walker)
			walker.Through(func(dir permissions.Access) (bool, func(string) bool) {
				if dir.Kind != permissions.AccessRead || !dir.Tree || dir.Target != dir.Real {
					t.Errorf("%+v", dir)
				}
				if filepath.Base(dir.Real) == "open" {
					return true, nil
				}
				return filepath.Base(dir.Real) != "shut", func(name string) bool { return name == "a" }
			})
			var mu sync.Mutex
			var asked []string
			a, err := p.Do(t.Context(), func(a permissions.Access) bool {
				mu.Lock()
				defer mu.Unlock()
				rel, _ := filepath.Rel(root, a.Real)
				asked = append(asked, rel)
				return filepath.Base(rel) != "key"
			})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			slices.Sort(asked)
			if want := []string{".env", "key", "open/c", "open/key"}; !slices.Equal(asked, want) {
				t.Errorf("asked about %q, want %q", asked, want)
			}
			body, err := io.ReadAll(a.Body)
			if text := string(body); err != nil || !strings.Contains(text, ".env") || strings.Contains(text, "key") || strings.Contains(text, "shut") {
				t.Errorf("%s %v", text, err)
			}
		})
	}
}

// What the judge refuses is neither told nor opened, and counted.
func TestJudge(t *testing.T) {
	t.Parallel()
	root := tree(t, "a", "needle", "secret", "needle", "shut/b", "needle", "shut/deep/c", "needle", "open/d", "needle")
	judge := func(a permissions.Access) bool {
		if a.Kind != permissions.AccessRead || a.Target != a.Real {
			t.Errorf("%+v", a)
		}
		rel, _ := filepath.Rel(root, a.Real)
		if strings.HasPrefix(rel, "shut/") {
			t.Errorf("asked about %s, in a directory that is denied", rel)
		}
		return rel != "secret" && rel != "shut"
	}
	got, ok, err := names(t, root, abi.NamesArgs{Pattern: "**"}, judge)
	if err != nil || got != "open/d a" || ok.Denied != 2 || ok.Total != 2 {
		t.Errorf("%q %+v %v", got, ok, err)
	}
	head, body, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{Pattern: "needle"}, judge)
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := head.(abi.ContentsOK); body != "open/d\na\n" || c.Denied != 2 || c.Searched != 2 {
		t.Errorf("%q %+v", body, c)
	}
}

func TestPlanTellsTheTree(t *testing.T) {
	t.Parallel()
	root := tree(t, "d/f", "")
	if err := os.Symlink("d", filepath.Join(root, "l")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args any
		want permissions.Access
	}{
		{abi.CapSearchNames, abi.NamesArgs{Path: "l", Pattern: "*"}, permissions.Access{Target: "l", Real: "d", Tree: true}},
		{abi.CapSearchNames, abi.NamesArgs{Pattern: "l/**"}, permissions.Access{Target: "l", Real: "d", Tree: true}},
		{abi.CapSearchContents, abi.ContentsArgs{Path: "l/f", Pattern: "x"}, permissions.Access{Target: "l/f", Real: "d/f"}},
		{abi.CapSearchContents, abi.ContentsArgs{Path: "no", Pattern: "x"}, permissions.Access{Target: "no", Real: "no", Tree: true}},
	} {
		p, err := plan(t, root, c.name, c.args)
		if err != nil {
			t.Fatal(err)
		}
		c.want.Kind = permissions.AccessRead
		c.want.Target, c.want.Real = filepath.Join(root, c.want.Target), filepath.Join(root, c.want.Real)
		if got := p.Accesses(); len(got) != 1 || got[0] != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
		_ = p.Close()
	}
}
