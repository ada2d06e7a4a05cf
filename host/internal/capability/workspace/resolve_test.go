package workspace

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// tree makes files below a real temporary directory: "name" with its text,
// "name/" a directory, "name -> target" a link.
func tree(t *testing.T, entries ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, target, link := strings.Cut(e, " -> ")
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(strings.ReplaceAll(target, "$ROOT", root), path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, []byte(name), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestResolve(t *testing.T) {
	t.Parallel()
	root := tree(t,
		"work/a/f", "work/a/b/c/d/e/deep", "other/g",
		"work/rel -> a/f", "work/abs -> $ROOT/work/a/f", "work/out -> $ROOT/other",
		"work/up -> ../other/g", "work/chain -> rel", "work/dirlink -> a/", "work/filelink -> a/f/",
		"work/loop1 -> loop2", "work/loop2 -> loop1", "work/self -> self", "work/dangling -> nowhere/x",
		"work/a/odd\nname", "work/a/b/back -> ../..", "work/into -> a/b",
	)
	for name, c := range map[string]struct {
		path string // $ is the root
		real string // below the root
		code abi.Code
	}{
		"relative":                   {"a/f", "work/a/f", ""},
		"absolute":                   {"$/work/a/f", "work/a/f", ""},
		"dots":                       {"./a/./../a//f", "work/a/f", ""},
		"the directory itself":       {".", "work", ""},
		"up and down again":          {"../work/a/f", "work/a/f", ""},
		"above the root":             {"../../../../../../../../../../../../../../../../..$/work/a/f", "work/a/f", ""},
		"deep":                       {"a/b/c/d/e/deep", "work/a/b/c/d/e/deep", ""},
		"relative link":              {"rel", "work/a/f", ""},
		"absolute link":              {"abs", "work/a/f", ""},
		"link to another directory":  {"out/g", "other/g", ""},
		"link that leads up":         {"up", "other/g", ""},
		"link to a link":             {"chain", "work/a/f", ""},
		"link with a slash":          {"dirlink/f", "work/a/f", ""},
		"dots behind a link":         {"into/../f", "work/a/f", ""},
		"link back":                  {"a/b/back/a/f", "work/a/f", ""},
		"slash behind a directory":   {"a/", "work/a", ""},
		"slash behind a link to one": {"out/", "other", ""},
		"newline":                    {"a/odd\nname", "work/a/odd\nname", ""},
		"missing":                    {"a/x", "work/a/x", abi.CodeNotFound},
		"missing behind a link":      {"out/x", "other/x", abi.CodeNotFound},
		"missing directory":          {"x/y/z", "work/x/y/z", abi.CodeNotFound},
		"missing, then up":           {"x/../a/f", "work/a/f", abi.CodeNotFound},
		"dangling link":              {"dangling", "work/nowhere/x", abi.CodeNotFound},
		"file as directory":          {"a/f/x", "work/a/f/x", abi.CodeNotDirectory},
		"slash behind a file":        {"a/f/", "work/a/f", abi.CodeNotDirectory},
		"dot behind a file":          {"a/f/.", "work/a/f", abi.CodeNotDirectory},
		"dots behind a file":         {"a/f/..", "work/a", abi.CodeNotDirectory},
		"link with a slash to file":  {"filelink", "work/a/f", abi.CodeNotDirectory},
		"slash behind link to file":  {"rel/", "work/a/f", abi.CodeNotDirectory},
		"loop":                       {"loop1", "", abi.CodeIO},
		"loop of one":                {"self", "", abi.CodeIO},
		"name too long":              {"a/" + strings.Repeat("n", 300), "work/a/" + strings.Repeat("n", 300), abi.CodeInvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := strings.ReplaceAll(c.path, "$", root)
			n, err := Resolve(filepath.Join(root, "work"), path)
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			code := abi.Code("")
			if n.Err() != nil {
				code = abi.CodeOf(n.Err())
			}
			if code != c.code {
				t.Errorf("code %q, want %q: %v", code, c.code, n.Err())
			}
			if n.Exists() != (c.code == "") {
				t.Errorf("exists: %v", n.Exists())
			}
			if want := filepath.Join(root, c.real); c.real != "" && n.Real != want {
				t.Errorf("real %q, want %q", n.Real, want)
			}
			target := path
			if !filepath.IsAbs(path) {
				target = filepath.Join(root, "work", path)
			}
			want := permissions.Access{Kind: permissions.AccessRead, Target: filepath.Clean(target), Real: n.Real, Tree: true}
			if got := n.Access(permissions.AccessRead, true); got != want {
				t.Errorf("access %+v, want %+v", got, want)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path string
		code abi.Code
	}{
		"empty":          {"", abi.CodeInvalidInput},
		"NUL":            {"a\x00b", abi.CodeInvalidInput},
		"long":           {strings.Repeat("a/", 4096), abi.CodeInvalidInput},
		"device":         {"/dev/zero", abi.CodeNotRegular},
		"dots":           {"/tmp/../dev/null", abi.CodeNotRegular},
		"directory":      {"/dev", abi.CodeNotRegular},
		"environ":        {"/proc/self/environ", abi.CodeNotRegular},
		"its root":       {"/proc/self/root/etc/hostname", abi.CodeNotRegular},
		"missing in it":  {"/proc/does/not/exist", abi.CodeNotRegular},
		"kernel objects": {"/sys/kernel", abi.CodeNotRegular},
	} {
		n, err := Resolve("/", c.path)
		if err == nil {
			_ = n.Close()
		}
		if abi.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

// Links into the kernel's directories are refused like their names.
func TestResolveRefusesLinks(t *testing.T) {
	t.Parallel()
	root := tree(t, "zero -> /dev/zero", "env -> /proc/self/environ", "proc -> /proc", "back -> /dev/../dev/null", "chain -> zero")
	for _, path := range []string{"zero", "env", "proc", "proc/self/environ", "proc/self/cwd", "back", "chain", "proc/.", "proc/self/.."} {
		n, err := Resolve(root, path)
		if err == nil {
			_ = n.Close()
		}
		if abi.CodeOf(err) != abi.CodeNotRegular {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestResolveLooksLikeKernelDirs(t *testing.T) {
	t.Parallel()
	root := tree(t, "dev/f", "devices")
	for _, p := range []string{"dev/f", "devices"} {
		n, err := Resolve(root, p)
		if err != nil || n.Err() != nil {
			t.Fatalf("%s: %v, %v", p, err, n.Err())
		}
		_ = n.Close()
	}
	if n, err := Resolve("/", "/devices-of-mine"); err != nil {
		t.Error(err)
	} else {
		_ = n.Close()
	}
}

func TestLinkLimit(t *testing.T) {
	t.Parallel()
	entries := []string{"l0 -> end", "end"}
	for i := 1; i <= maxLinks; i++ {
		entries = append(entries, "l"+strconv.Itoa(i)+" -> l"+strconv.Itoa(i-1))
	}
	root := tree(t, entries...)
	for last, want := range map[int]bool{maxLinks - 1: true, maxLinks: false} {
		n, err := Resolve(root, "l"+strconv.Itoa(last))
		if err != nil {
			t.Fatal(err)
		}
		if n.Exists() != want {
			t.Errorf("over %d links: %v", last+1, n.Err())
		}
		_ = n.Close()
	}
}

func TestPermissionDenied(t *testing.T) {
	t.Parallel()
	testenv.BoundByPermissions(t)
	root := tree(t, "shut/f", "mute")
	for path, mode := range map[string]os.FileMode{"shut": 0, "mute": 0} {
		if err := os.Chmod(filepath.Join(root, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(root, "shut"), 0o755)
	n, err := Resolve(root, "shut/f")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if abi.CodeOf(n.Err()) != abi.CodeIO || !strings.Contains(n.Err().Error(), "permission") {
		t.Error(n.Err())
	}
	m, err := Resolve(root, "mute")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, _, err := m.Open(); abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "permission") {
		t.Error(err)
	}
}

func BenchmarkSixDeep(b *testing.B) {
	dir := b.TempDir()
	deep := filepath.Join(dir, "a/b/c/d/e")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "f"), []byte("x"), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		b.Fatal(err)
	}
	b.Run("os.Open", func(b *testing.B) {
		b.ReportAllocs()
		path := filepath.Join(deep, "f")
		for b.Loop() {
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			_ = f.Close()
		}
	})
	b.Run("os.Root", func(b *testing.B) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer root.Close()
		b.ReportAllocs()
		for b.Loop() {
			f, err := root.Open("a/b/c/d/e/f")
			if err != nil {
				b.Fatal(err)
			}
			_ = f.Close()
		}
	})
	for name, path := range map[string]string{"resolve": "a/b/c/d/e/f", "resolve over a link": "link/b/c/d/e/f"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n, err := Resolve(dir, path)
				if err != nil {
					b.Fatal(err)
				}
				f, _, err := n.Open()
				if err != nil {
					b.Fatal(err)
				}
				_ = f.Close()
				_ = n.Close()
			}
		})
	}
}
