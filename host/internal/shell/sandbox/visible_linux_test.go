//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// system is what programs need here.
var system = []string{"/usr", "/bin", "/lib", "/lib64", "/etc", "/sys"}

// TestVisible shows a command what it is told to show and nothing else of the machine,
// whichever way it looks.
func TestVisible(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f", "w/.env", "home/.secret", "home/.cache/c/f", "home/.cache/c/key", "home/.other/f", "data/d/f", "data/e/f", "data/file", "t/f",
		"home/.tool -> ../data/d", "home/.rel -> .tool/../e", "home/.away -> "+"../w/away", "w/away -> ../data", "home/.round -> .round")
	s := find(t, sandbox.Options{State: root + "/state", Home: root + "/home"})
	spec := sandbox.Spec{
		Writable: under(root, "w"), Temp: root + "/t", Cwd: root + "/w", Hidden: under(root, "w/.env", "home/.cache/c/key"),
		Visible: append(under(root, "home/.cache/c", "home/.tool", "home/.rel", "home/.away", "home/.round", "home/none", "data/file"), system...),
	}
	for _, test := range []struct{ shell, want string }{
		{"cat f; echo x > n && cat n", "content of w/f\nx\n"},
		{"cat .env", "cat: .env: Permission denied\n"},
		{"ls -A ../home", ".away\n.cache\n.rel\n.round\n.tool\n"},
		{"cat ../home/.secret", "cat: ../home/.secret: No such file or directory\n"},
		{"cat ../home/.other/f", "cat: ../home/.other/f: No such file or directory\n"},
		{"cat ../home/.cache/c/f", "content of home/.cache/c/f\n"},
		{"cat ../home/.cache/c/key", "cat: ../home/.cache/c/key: Permission denied\n"},
		{"cat ../home/.tool/f ../home/.rel/f", "content of data/d/f\ncontent of data/e/f\n"},
		{"ls -A ../data; cat ../data/file", "d\ne\nfile\ncontent of data/file\n"},
		{"cat ../home/.away/e/f; ls ../home/.away/", "content of data/e/f\nd\ne\nfile\n"}, // what is in sight otherwise
		{"touch ../home/x / /x 2>&1 | grep -c 'Read-only file system'", "3\n"},
		{"mkdir /srv 2>/dev/null || echo no", "no\n"},
		{"cat /proc/1/root@/home/.secret /proc/self/root@/home/.secret /proc/self/cwd/../home/.secret 2>&1 | grep -c content", "0\n"},
		{"for p in /proc/[0-9]*; do cat $p/root@/home/.secret 2>/dev/null; done; echo end", "end\n"},
		{"ls -d /srv /mnt /media /boot /data /home /root 2>/dev/null", ""},
		{"ls -A /run", ""},
		{"cat /tmp/f", "content of t/f\n"},
		{"test -c /dev/null && test -r /etc/passwd && test -d /sys/kernel && true | cat && echo well", "well\n"},
	} {
		env := []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" + root + "/home"}
		got, _ := run(t, s, spec, env, strings.ReplaceAll(test.shell, "@", root))
		if got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.shell, got, test.want)
		}
	}
	if listed, err := os.ReadDir(root + "/home"); err != nil || len(listed) != 7 {
		t.Errorf("the home holds %v (%v)", listed, err)
	}
}

// TestVisibleHome keeps a home that is a working directory, and one below such.
func TestVisibleHome(t *testing.T) {
	t.Parallel()
	for _, writable := range []string{"home", ""} {
		root := tree(t, "home/.secret", "home/.cache/f")
		s := find(t, sandbox.Options{State: filepath.Join(t.TempDir(), "state"), Home: root + "/home"})
		dir := strings.TrimSuffix(root+"/"+writable, "/")
		spec := sandbox.Spec{Writable: []string{dir}, Cwd: dir, Visible: append(under(root, "home/.cache"), system...)}
		got, err := run(t, s, spec, []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, "cat "+root+"/home/.secret; echo x > "+root+"/home/.cache/n && echo written")
		if got != "content of home/.secret\nwritten\n" {
			t.Errorf("in %q it printed\n%s (%v)", writable, got, err)
		}
	}
}
