//go:build linux && (amd64 || arm64)

package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestOddProjects works in projects with odd names and on odd file systems: what is hidden and
// protected is, and the rest goes on.
func TestOddProjects(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) { o.Permissions.Rules = rules("Read(.env)", "", "Bash") }).Host
	for _, name := range []string{
		"plain", "sp ace", " lead", "trail ", "q'uo\"te", "new\nline", `back\slash`, `\040`, "co:lon,comma", "\xff\xfe", "\u00e9", "e\u0301",
		"-dash", "*star?[x]", "%41%00", "$HOME`x`", "\x01\x1b[31m", "#hash", "~", strings.Repeat("long", 60),
	} {
		t.Run(strings.ToValidUTF8(name, "."), func(t *testing.T) {
			t.Parallel()
			work(t, h, filepath.Join(realDir(t, t.TempDir()), name))
		})
	}
	t.Run("a file system of its own", func(t *testing.T) {
		work(t, h, mounted(t, "tmpfs", ""))
	})
	t.Run("an overlay", func(t *testing.T) {
		base := mounted(t, "tmpfs", "") // an overlay does not lie on another
		for _, dir := range []string{"low", "up", "work"} {
			must(t, os.Mkdir(filepath.Join(base, dir), 0o700))
		}
		must(t, os.WriteFile(base+"/low/below", nil, 0o600))
		work(t, h, mounted(t, "overlay", "lowerdir="+base+"/low,upperdir="+base+"/up,workdir="+base+"/work"))
	})
	t.Run("a file system inside", func(t *testing.T) {
		dir := mounted(t, "tmpfs", "")
		inner := filepath.Join(dir, "inner")
		must(t, os.Mkdir(inner, 0o700))
		mount(t, "tmpfs", inner, "")
		must(t, os.WriteFile(inner+"/.env", []byte("SECRET"), 0o600))
		work(t, h, dir)
		if got := scripted(t, h, dir, "grep -r SECRET inner; cat inner/.env; umount inner; cat inner/.env"); strings.Contains(got, "SECRET") {
			t.Errorf("a file of the inner file system was shown: %s", got)
		}
	})
	t.Run("a full file system", func(t *testing.T) {
		dir := mounted(t, "tmpfs", "size=64k")
		must(t, os.WriteFile(dir+"/.env", []byte("SECRET"), 0o600))
		got := scripted(t, h, dir, "cat .env; head -c 1M /dev/zero > fill; echo text > n; mv fill f; ls; echo > $TMPDIR/x && echo scratch")
		if strings.Contains(got, "SECRET") || !strings.Contains(got, "No space left") || !strings.HasSuffix(got, "\nf\nn\nscript\nscratch") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a read-only file system", func(t *testing.T) {
		base := mounted(t, "tmpfs", "")
		must(t, os.WriteFile(base+"/.env", []byte("SECRET"), 0o600))
		must(t, os.WriteFile(base+"/script", []byte("cat .env; echo text > n; ls -A; echo > $TMPDIR/x && echo scratch"), 0o600))
		must(t, syscall.Mount("", base, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		got := told(t, session(t, h, host.SessionOptions{Cwd: base}), "sh script")
		if strings.Contains(got, "SECRET") || !strings.Contains(got, "Read-only file system") || !strings.HasSuffix(got, "\n.env\nscript\nscratch") {
			t.Errorf("got %s", got)
		}
	})
}

// scripted runs lines from a file, as what they say would be judged on a command line.
func scripted(t *testing.T, h *host.Host, dir, lines string) string {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, "script"), []byte(lines), 0o600))
	return told(t, session(t, h, host.SessionOptions{Cwd: dir}), "sh script")
}

// work has a repository made in a directory, with a hidden and a protected file, and works in it.
func work(t *testing.T, h *host.Host, dir string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	git(t, dir, "git init -qb main; printf SECRET > .env; printf kept > .npmrc")
	for lines, want := range map[string]string{
		"cat .env; cat .e*":             "Permission denied",
		"echo evil > .npmrc; cat .n*":   "kept",
		"echo evil > .mcp.json; exit 0": "Undone: ",
		"git add -A":                    "git add -A -- ':!.env'",
		"pwd -P; cat \"$PWD/.env\"":     filepath.Dir(dir) + "/",
		"echo a > a && git add a && git -c user.name=a -c user.email=b commit -qm one && git log --format=%s": "one",
	} {
		if got := scripted(t, h, dir, lines); !strings.Contains(got, want) || strings.Contains(got, "SECRET") {
			t.Errorf("%s: got %q, want %q", lines, got, want)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, ".npmrc")); err != nil || string(b) != "kept" || exists(filepath.Join(dir, ".mcp.json")) {
		t.Errorf("the protected files were changed: %q, %v", b, err)
	}
}

// mounted is a new directory with a file system of its own.
func mounted(t *testing.T, kind, options string) string {
	t.Helper()
	dir := realDir(t, t.TempDir())
	mount(t, kind, dir, options)
	return dir
}

func mount(t *testing.T, kind, dir, options string) {
	t.Helper()
	if err := syscall.Mount("test", dir, kind, 0, options); err != nil {
		testenv.Missing(t, "a "+kind+" cannot be mounted ("+err.Error()+")")
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}
