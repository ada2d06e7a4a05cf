//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// tree makes files, and folders where a name ends in a slash, or links where it has
// an arrow.
func tree(tb testing.TB, names ...string) string {
	tb.Helper()
	root, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range names {
		name, to, link := strings.Cut(name, " -> ")
		path := filepath.Join(root, name)
		dir := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			dir = path
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		switch {
		case link:
			err = os.Symlink(to, path)
		case dir != path:
			err = os.WriteFile(path, []byte("content of "+name+"\n"), 0o644)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

func under(root string, names ...string) []string {
	paths := make([]string, 0, len(names))
	for _, name := range names {
		paths = append(paths, root+"/"+name)
	}
	return paths
}

// layouts are specifications over one tree, and what a command then sees.
var layouts = []struct {
	name             string
	writable, hidden []string
	protected, reads []string
	temp, cwd, shell string
	readOnly         bool
	want             string
	wantErr          error
	links            []string
}{
	{
		name: "a working directory", writable: []string{"w"}, cwd: "w",
		shell: `pwd; echo new > n && cat n f; echo x > ../o/f`,
		want:  "@/w\nnew\ncontent of w/f\nbash: line 1: ../o/f: No such file or directory\n",
	},
	{
		name: "hidden in writable in hidden in writable", cwd: "w/a/b",
		writable: []string{"w", "w/a/b"}, hidden: []string{"w/a", "w/a/b/c"},
		shell: `cat f x; ls ..; ls c; cat ../f; echo y > ../g; cat ../../f`,
		want: "content of w/a/b/f\ncat: x: No such file or directory\nls: cannot open directory '..': Permission denied\n" +
			"ls: cannot open directory 'c': Permission denied\ncat: ../f: No such file or directory\n" +
			"bash: line 1: ../g: Read-only file system\ncontent of w/f\n",
	},
	{
		name: "writable in protected", writable: []string{"w", "w/a/b"}, protected: []string{"w/a"}, cwd: "w",
		shell: `echo x > a/n; echo x > a/b/n && cat a/b/n; mv a z`,
		want:  "bash: line 1: a/n: Read-only file system\nx\nmv: cannot move 'a' to 'z': Device or resource busy\n",
	},
	{
		name: "the same path in all lists", writable: []string{"w"}, protected: []string{"w/f"}, hidden: []string{"w/f"}, cwd: "w",
		shell: `cat f; rm -f f`,
		want:  "cat: f: Permission denied\nrm: cannot remove 'f': Device or resource busy\n",
	},
	{
		name: "names that differ after a common beginning", writable: []string{"w", "w-1"}, hidden: []string{"w/a", "w/a-b"}, cwd: "w-1",
		shell: `echo x > n && cat n; ls ../w/a ../w/a-b`,
		want:  "x\nls: cannot open directory '../w/a': Permission denied\nls: cannot open directory '../w/a-b': Permission denied\n",
	},
	{
		name: "a link to what is hidden", writable: []string{"w"}, hidden: []string{"w/l"}, cwd: "w",
		links: []string{"w/l -> a/f"},
		shell: `cat l a/f; ln -sf f l; cat l`,
		want:  "cat: l: Permission denied\ncat: a/f: Permission denied\ncontent of w/f\n",
	},
	{
		name: "a link to a writable folder", writable: []string{"l"}, cwd: "w",
		links: []string{"l -> w"},
		shell: `echo x > n; cat n`,
		want:  "x\n",
	},
	{
		name: "a protected name that is a link", writable: []string{"w"}, protected: []string{"w/l"}, cwd: "w",
		links: []string{"w/l -> f"}, wantErr: sandbox.ErrLink,
	},
	{
		name: "a link on the way to a protected name", writable: []string{"w"}, protected: []string{"w/l/hooks"}, cwd: "w",
		links: []string{"w/l -> a"}, wantErr: sandbox.ErrLink,
	},
	{
		name: "a protected name reached by a link to the folder", writable: []string{"w"}, protected: []string{"l/f"}, cwd: "w",
		links: []string{"l -> w"},
		shell: `echo x > f`,
		want:  "bash: line 1: f: Read-only file system\n",
	},
	{
		name: "a file where a folder of protected names would be", writable: []string{"w"}, protected: []string{"w/f/hooks/"}, cwd: "w",
		shell: `rm f; mkdir -p f/hooks`,
		want:  "rm: cannot remove 'f': Device or resource busy\nmkdir: cannot create directory 'f': Not a directory\n",
	},
	{
		name: "protected names below one that is not there", writable: []string{"w"}, cwd: "w",
		protected: []string{"w/.git/hooks/", "w/.git/config", "w/.npmrc"},
		shell:     `mkdir .git/hooks; cat .npmrc; ls -A`,
		want:      "mkdir: cannot create directory '.git/hooks': No such file or directory\ncat: .npmrc: No such file or directory\na\na-b\nf\n",
	},
	{
		name: "a working directory that is hidden", writable: []string{"w"}, hidden: []string{"w/a"}, cwd: "w/a", wantErr: sandbox.ErrSpec,
	},
	{
		name: "everything writable", writable: []string{"/"}, cwd: "w", wantErr: sandbox.ErrSpec,
	},
	{
		name: "a temporary folder", writable: []string{"w"}, temp: "t", cwd: "w",
		shell: `cat /tmp/f /var/tmp/f @/t/f; echo x > /tmp/n; cat @/t/n`,
		want:  "content of t/f\ncontent of t/f\ncontent of t/f\nx\n",
	},
	{
		name: "nothing writable", writable: []string{"w"}, temp: "t", cwd: "w", readOnly: true, hidden: []string{"w/a"},
		protected: []string{"w/.npmrc"},
		shell:     `cat f; echo x > f; echo x > n; echo x > /tmp/n; echo x > /dev/shm/n; cat a/f; cat /tmp/f; ls -A .`,
		want: "content of w/f\nbash: line 1: f: Read-only file system\nbash: line 1: n: Read-only file system\n" +
			"bash: line 1: /tmp/n: Read-only file system\nbash: line 1: /dev/shm/n: Read-only file system\n" +
			"cat: a/f: Permission denied\ncontent of t/f\na\na-b\nf\n",
	},
	{
		name: "a working directory that is protected", writable: []string{"w"}, cwd: "w", protected: []string{"w"},
		shell: `cat f; echo x > f; echo x > n`,
		want:  "content of w/f\nbash: line 1: f: Read-only file system\nbash: line 1: n: Read-only file system\n",
	},
	{
		name: "memory in place of a temporary folder", writable: []string{"w"}, cwd: "w",
		shell: `echo x > /tmp/n && cat /tmp/n; df --output=size -B1 /tmp | tail -n 1`,
		want:  "x\n268435456\n",
	},
	{
		name: "no terminal, and devices that do no harm", writable: []string{"w"}, cwd: "w",
		shell: `ls /dev; head -c 1 /dev/zero | wc -c; echo x > /dev/null`,
		want:  "core\nfd\nfull\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n1\n",
	},
}

// The machine's devices stay as they are for others, also where root, who has them, runs a command.
func TestDevices(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f")
	for _, users := range []bool{true, false} {
		if !users && os.Geteuid() != 0 {
			continue // only root does without
		}
		s := find(t, sandbox.Options{State: root + "/state"})
		if !s.Copies() {
			testenv.Missing(t, "this machine lets nobody make namespaces but bubblewrap")
		}
		if !users {
			must(t, s.WithoutUsers(t.Context()))
		}
		for _, readOnly := range []bool{false, true} {
			out, err := run(t, s, sandbox.Spec{Writable: under(root, "w"), Cwd: root + "/w", ReadOnly: readOnly}, plainly, `
				for d in null zero full random urandom tty; do { chmod $(stat -c %a /dev/$d) /dev/$d || touch /dev/$d; } 2>/dev/null && echo "$d can be changed"; done
				echo x > /dev/null; echo x >> /dev/null; exec 9<>/dev/zero && echo used`)
			if err != nil || out != "used\n" {
				t.Errorf("users %t: got %v, %s", users, err, out)
			}
		}
	}
}

func TestLayouts(t *testing.T) {
	s := find(t, sandbox.Options{State: filepath.Join(t.TempDir(), "state")})
	for _, test := range layouts {
		t.Run(test.name, func(t *testing.T) {
			root := tree(t, append([]string{
				"w/f", "w/a/f", "w/a/b/f", "w/a/b/c/f", "w/a-b/f", "w-1/f", "o/f", "t/f",
			}, test.links...)...)
			spec := sandbox.Spec{
				Writable: under(root, test.writable...), Hidden: under(root, test.hidden...),
				Protected: under(root, test.protected...), Cwd: root + "/" + test.cwd, ReadOnly: test.readOnly,
			}
			if test.writable[0] == "/" {
				spec.Writable = test.writable
			}
			if test.temp != "" {
				spec.Temp = root + "/" + test.temp
			}
			if test.wantErr != nil {
				if _, err := s.Wrap(t.Context(), spec, []string{"true"}); !errors.Is(err, test.wantErr) {
					t.Errorf("got %v, want %v", err, test.wantErr)
				}
				return
			}
			env := []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
			got, _ := run(t, s, spec, env, strings.ReplaceAll(test.shell, "@", root))
			if got = strings.ReplaceAll(got, root, "@"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			noLeftovers(t, root+"/w")
		})
	}
}

// The arguments are looked at whole, for two specifications: what is there on one
// machine and not on another is left out.
func TestArguments(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	s := findBubblewrap(t, sandbox.Options{State: state, Bridge: []string{"/usr/bin/env"}})
	root := tree(t, "w/f", "w/.git/hooks/x", "w/.git/config", "w/d/.env", "t/f", "proxy.sock")
	for name, spec := range map[string]sandbox.Spec{
		"all": {
			Writable: under(root, "w"), Hidden: under(root, "w/d/.env"), Temp: root + "/t", Cwd: root + "/w",
			Protected: under(root, "w/.git/hooks/", "w/.git/config", "w/.bashrc", "w/.vscode/"),
			Network:   sandbox.NetworkHosts, Proxy: root + "/proxy.sock",
		},
		"readonly": {Writable: under(root, "w"), Hidden: under(root, "w/d/.env"), Temp: root + "/t", Cwd: root + "/w", ReadOnly: true},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := s.Wrap(t.Context(), spec, []string{"bash", "-c", "true"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			got := golden(w.Args, state, root)
			file := filepath.Join("testdata", name+".args")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// golden is an argument list, an option a line, without what is this machine's.
func golden(args []string, state, root string) string {
	text := strings.ReplaceAll(strings.Join(args, " "), " --", "\n--")
	text = strings.ReplaceAll(text, "\n--tmpfs", " --tmpfs") + "\n" // with its mode
	text = strings.NewReplacer(state, "STATE", root, "ROOT", "--size 268435456\n", "", "--size 1\n", "", "--remount-ro /proc\n", "").Replace(text)
	var kept []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		last := fields[len(fields)-1]
		drop := last == "ROOT" || last == "--disable-userns" || last == "--unshare-user" || strings.HasPrefix(root, last+"/") && last != "/tmp"
		for _, path := range []string{"/etc/", "/var/lib/", "/var/spool/", "/var/run", "/proc/", "/sys/", "/home", "/run/current"} {
			drop = drop || strings.HasPrefix(last, path)
		}
		if !drop {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
