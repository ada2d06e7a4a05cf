package permissions_test

import (
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// wallFiles are what there is, for the tables and laws of walls.
var wallFiles = []string{
	"/ws/proj/a.go", "/ws/proj/.env", "/ws/proj/src/.env", "/ws/proj/src/x.pem", "/ws/proj/src/b/y.pem", "/ws/proj/secrets/key",
	"/ws/proj/src/secrets/key", "/ws/proj/gen/a.go", "/ws/proj/gen/b.txt", "/ws/proj/.npmrc", "/ws/proj/.vscode/settings.json",
	"/ws/proj/.git/HEAD", "/ws/proj/.git/config", "/ws/proj/.git/index", "/ws/proj/.git/hooks/pre-commit", "/ws/proj/.git/objects/aa/b",
	"/ws/proj/.git/modules/libs/x/HEAD", "/ws/proj/.git/modules/libs/x/config", "/ws/proj/.git/modules/libs/x/modules/y/HEAD",
	"/ws/proj/.git/worktrees/w/HEAD", "/ws/proj/.git/worktrees/w/commondir", "/ws/proj/src/.bashrc",
	"/ws/lib/a.go", "/ws/lib/a/b/x.go", "/ws/lib/.git", "/home/u/.ssh/id", "/home/u/.ssh/config", "/home/u/.netrc", "/home/u/notes",
	"/home/v/.ssh/id", "/root/.aws/credentials", "/etc/shadow", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_rsa_key.pub",
	"/etc/hosts", "/etc/app/key", "/srv/keys/deep/in/x.pem", "/var/s1/spool", "/var/sessions/s2/log", "/opt/host/plugins/p.wasm",
}

// list is the directory listing of wallFiles.
func list(dir string) (names []string, err error) {
	prefix := strings.TrimSuffix(dir, "/") + "/"
	for _, file := range wallFiles {
		if rest, inside := strings.CutPrefix(file, prefix); inside {
			name, _, _ := strings.Cut(rest, "/")
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fs.ErrNotExist
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// approval reads "read PATH" or "write PATH", with a slash behind for its tree.
func approval(text string) permissions.Access {
	kind, path, _ := strings.Cut(text, " ")
	target := strings.TrimSuffix(path, "/")
	return permissions.Access{Kind: permissions.AccessKind("fs." + kind), Target: target, Real: target, Tree: target != path}
}

// walled is the walls that a line of the table speaks of: rules as in the other
// tables, and "approved read|write PATH".
func walled(t *testing.T, rules string) *permissions.SandboxPolicy {
	t.Helper()
	var approved []permissions.Access
	var others []string
	for rule := range strings.SplitSeq(rules, " ; ") {
		if text, ok := strings.CutPrefix(rule, "approved "); ok {
			approved = append(approved, approval(text))
		} else {
			others = append(others, rule)
		}
	}
	s := setupFor(t, strings.Join(others, " ; "))
	s.Sessions = permissions.Dir{Path: "/var/sessions"}
	return compile(t, s).SandboxPolicy(approved)
}

// TestSandboxPolicy holds testdata/walls/places.txt: what the policy says of one path. Open is
// neither hidden nor protected.
func TestSandboxPolicy(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/walls/places.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		cells := strings.SplitN(line, "|", 3)
		if len(cells) != 3 {
			t.Fatalf("line %d: %d cells", i+1, len(cells))
		}
		w, path := walled(t, strings.TrimSpace(cells[1])), strings.TrimSpace(cells[2])
		if got, want := shut(w, path), strings.TrimSpace(cells[0]); got != want {
			t.Errorf("line %d: %s is %s, want %s", i+1, path, got, want)
		}
	}
}

func shut(w *permissions.SandboxPolicy, path string) string {
	switch hides, protects := w.Hides(path), w.Protects(path); {
	case hides && protects:
		return "shut"
	case hides:
		return "hidden"
	case protects:
		return "protected"
	}
	return "open"
}

func TestFindPlaces(t *testing.T) {
	t.Parallel()
	git := func(dir string) []string {
		return []string{dir + "/commondir", dir + "/config", dir + "/config.worktree", dir + "/hooks"}
	}
	tests := map[string]struct {
		rules                            string
		hidden, shown, protected, pinned []string // of those that are found
		unhidden, unprotected, unpinned  []string // not found
		walks                            []string
	}{
		"no rules": {
			hidden: []string{
				"/home/u/.ssh", "/home/v/.ssh", "/root/.aws", "/etc/shadow", "/etc/ssh/ssh_host_rsa_key", "/var/sessions", "/run/secrets",
			},
			unhidden: []string{"/etc/ssh/ssh_host_rsa_key.pub", "/dev", "/proc/kcore", "/home/u", "/ws/proj/.env"},
			protected: slices.Concat(
				[]string{"/ws/proj/.bashrc", "/ws/lib/.bashrc", "/ws/proj/.npmrc", "/ws/proj/.toolquay", "/ws/proj/.gitconfig", "/ws/lib/.git"},
				git("/ws/proj/.git"), git("/ws/proj/.git/modules/libs/x"), git("/ws/proj/.git/modules/libs/x/modules/y"),
				git("/ws/proj/.git/worktrees/w"),
			),
			unprotected: []string{"/ws/proj/.git", "/ws/proj/.gitmodules", "/ws/proj/.git/index", "/home/u/.bashrc", "/home/u/.ssh", "/opt/host/plugins", "/etc/profile"},
			pinned:      []string{"/ws/proj/.git", "/ws/proj/.git/modules", "/ws/proj/.git/modules/libs", "/ws/proj/.git/modules/libs/x"},
			unpinned:    []string{"/ws/proj", "/ws/lib", "/ws", "/"},
		},
		"literal rules": {
			rules:       "deny Read(//etc/app) ; deny Read(~/notes) ; ask Read(./gen/b.txt) ; deny Edit(./a.go) ; ask Edit(/gen) ; deny Edit(//etc/hosts)",
			hidden:      []string{"/etc/app", "/home/u/notes", "/ws/proj/gen/b.txt"},
			protected:   []string{"/ws/proj/a.go", "/ws/proj/gen"},
			unprotected: []string{"/etc/hosts"},
		},
		"single wildcards": {
			rules:     "deny Read(//etc/*/key) ; deny Edit(./gen/*.go)",
			hidden:    []string{"/etc/app/key"},
			protected: []string{"/ws/proj/gen/a.go"},
			pinned:    []string{"/ws/proj/gen"},
		},
		"any depth": {
			rules:     "deny Read(.env)",
			hidden:    []string{"/ws/proj/.env", "/ws/lib/.env"},
			unhidden:  []string{"/ws/proj/src/.env"},
			protected: []string{"/ws/lib/.env"},
			walks:     []string{"/ws/lib", "/ws/proj"},
		},
		"any depth from somewhere": {
			rules:    "deny Read(//srv/keys/**/*.pem) ; deny Read(~/**/*.key) ; deny Edit(./src/**/*.pem)",
			unhidden: []string{"/srv/keys"},
			walks:    []string{"/srv/keys", "/ws/proj/src"},
		},
		"everything": {
			rules:     "deny Read",
			hidden:    []string{"/"},
			protected: []string{"/ws/lib", "/ws/proj"},
		},
		"nothing to be changed": {
			rules:     "deny Edit",
			unhidden:  []string{"/"},
			protected: []string{"/ws/lib", "/ws/proj"},
		},
		"bypass": {
			rules:       "mode bypassPermissions ; deny Read(~/notes)",
			hidden:      []string{"/home/u/notes"},
			unhidden:    []string{"/home/u/.ssh"},
			unprotected: []string{"/ws/proj/.git/hooks", "/ws/lib/.git", "/ws/proj/.npmrc"},
		},
		"approved to be read": {
			rules:    "approved read /home/u/.ssh/config ; approved read /home/u/.netrc",
			hidden:   []string{"/home/u/.ssh"},
			unhidden: []string{"/home/u/.netrc"},
			shown:    []string{"/home/u/.ssh/config"},
		},
		"approved against a deny": {
			rules:  "approved read /home/u/.ssh/config ; deny Read(~/.ssh/config)",
			hidden: []string{"/home/u/.ssh", "/home/u/.ssh/config"},
		},
		"approved to be changed": {
			rules:       "approved write /ws/proj/.vscode/new.json ; approved write /ws/proj/.git/config",
			protected:   []string{"/ws/proj/.git/hooks", "/ws/proj/.npmrc"},
			unprotected: []string{"/ws/proj/.vscode", "/ws/proj/.git/config"},
		},
		"approved to be changed against a deny": {
			rules:     "approved write /ws/proj/.vscode/new.json ; deny Edit(/.vscode)",
			protected: []string{"/ws/proj/.vscode"},
		},
		"a tree approved": {
			rules:       "approved write /ws/lib/.git/",
			protected:   []string{"/ws/proj/.git/hooks"},
			unprotected: []string{"/ws/lib/.git"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := walled(t, tt.rules)
			found := w.Find(list)
			holds(t, "hidden", found.Hidden, tt.hidden, tt.unhidden)
			holds(t, "shown", found.Shown, tt.shown, nil)
			holds(t, "protected", found.Protected, tt.protected, tt.unprotected)
			holds(t, "pinned", found.Pinned, tt.pinned, tt.unpinned)
			if got := w.Walks(); !slices.Equal(got, tt.walks) {
				t.Errorf("it walks %v, want %v", got, tt.walks)
			}
		})
	}
}

func holds(t *testing.T, what string, got, want, unwanted []string) {
	t.Helper()
	for _, path := range want {
		if !slices.Contains(got, path) {
			t.Errorf("%s is not %s: %v", path, what, got)
		}
	}
	for _, path := range unwanted {
		if slices.Contains(got, path) {
			t.Errorf("%s is %s", path, what)
		}
	}
	if !slices.IsSorted(got) {
		t.Errorf("%s: not sorted: %v", what, got)
	}
}

func TestPins(t *testing.T) {
	t.Parallel()
	w := walled(t, "")
	for name, want := range map[string][]string{
		"/ws/proj/a/b/.npmrc": {"/ws/proj/a/b", "/ws/proj/a"},
		"/ws/proj/.npmrc":     nil,
		"/etc/a/b":            nil,
	} {
		if got := w.Pins(name); !slices.Equal(got, want) {
			t.Errorf("%s pins %v, want %v", name, got, want)
		}
	}
}

// Where home or the host's folders lie in a working directory, what is guarded there
// is protected; what a name leads to is shut with it.
func TestFindPlacesInHome(t *testing.T) {
	t.Parallel()
	s := testSetup()
	s.Cwd = permissions.Dir{Path: "/home/u"}
	s.HostFolders = []permissions.Dir{{Path: "/home/u/host"}}
	s.Resolve = func(path string) string { return strings.Replace(path, "/home/u/.ssh", "/mnt/keys", 1) }
	found := compile(t, s).SandboxPolicy(nil).Find(list)
	holds(t, "hidden", found.Hidden, []string{"/home/u/.ssh", "/mnt/keys", "/home/u/.aws"}, nil)
	holds(t, "protected", found.Protected, []string{
		"/home/u/host", "/home/u/.config/fish", "/home/u/.config/toolquay", "/home/u/.ssh", "/home/u/.git",
	}, []string{"/mnt/keys"})
	holds(t, "pinned", found.Pinned, []string{"/home/u/.config", "/home/u/.local/share"}, []string{"/home/u"})
}

// A session's own folder is shown where those of all sessions are hidden.
func TestFindPlacesShowsTheSession(t *testing.T) {
	t.Parallel()
	s := testSetup()
	s.Sessions, s.SessionFolder = permissions.Dir{Path: "/var"}, permissions.Dir{Path: "/var/s1"}
	found := compile(t, s).SandboxPolicy(nil).Find(list)
	holds(t, "hidden", found.Hidden, []string{"/var"}, nil)
	holds(t, "shown", found.Shown, []string{"/var/s1"}, nil)
}

// What rules or credential stores make Decide refuse to read where nobody can be
// asked is hidden, and nothing else; what they make it refuse to change is protected.
func TestSandboxRefusesWhatDecideRefuses(t *testing.T) {
	law(t, func(g gen) bool {
		p, ok := g.wallPolicy()
		if !ok {
			return true
		}
		for range requestsPerPolicy {
			a := permissions.Access{Kind: permissions.AccessRead, Target: g.path()}
			a.Real = a.Target
			e := g.evidence(a)
			e.Hook, e.Judge = nil, nil
			var approved []permissions.Access
			if e.Approval != nil && e.Approval.InputHash == "h" {
				approved = e.Approval.Accesses
			}
			if w := p.SandboxPolicy(approved); w.Hides(a.Target) != refused(p, a, e) {
				t.Logf("reading %s is hidden: %t", a.Target, w.Hides(a.Target))
				return false
			}
			a.Kind = permissions.AccessWrite
			inGit := strings.Contains(a.Target, "/.git/") || strings.HasSuffix(a.Target, "/.git")
			if w := p.SandboxPolicy(approved); w.Protects(a.Target) != refused(p, a, e) && p.Mode() != permissions.ModePlan && !inGit {
				t.Logf("changing %s is protected: %t", a.Target, w.Protects(a.Target))
				return false
			}
		}
		return true
	})
}

func (g gen) wallPolicy() (*permissions.Policy, bool) {
	s := g.setup()
	s.Sessions = permissions.Dir{Path: "/var/sessions"}
	p, _, err := permissions.Compile(s)
	return p, err == nil
}

// refused reports whether a rule on paths or a guarded place holds an access back,
// where nobody can be asked.
func refused(p *permissions.Policy, a permissions.Access, e permissions.Evidence) bool {
	d := permissions.Decide(p, permissions.Request{
		Stage: permissions.StageCapability, Tool: "None", InputHash: "h", Headless: true, Accesses: []permissions.Access{a},
	}, e)
	switch d.Layer {
	case permissions.LayerRule, permissions.LayerCredentials, permissions.LayerProtected:
		return d.Verdict == permissions.Deny
	}
	return false
}

// A sandbox that does what the package says shuts all in the working directories that
// walls hide, or that rules protect, and nothing else.
func TestFindAndWalkShutWhatThePolicySays(t *testing.T) {
	law(t, func(g gen) bool {
		p, ok := g.wallPolicy()
		if !ok {
			return true
		}
		w := p.SandboxPolicy(nil)
		found := w.Find(list)
		var seen permissions.Places
		for _, dir := range w.Walks() {
			walk(w, dir, &seen)
		}
		hidden, protected := slices.Concat(found.Hidden, seen.Hidden), slices.Concat(found.Protected, seen.Protected)
		for _, file := range wallFiles {
			inside := strings.HasPrefix(file, "/ws/proj/") || strings.HasPrefix(file, "/ws/lib/")
			if got := covered(hidden, file) && !covered(found.Shown, file); got != w.Hides(file) && (got || inside) {
				t.Logf("%s is hidden %t, by %v; rules %v", file, got, hidden, p.Rules())
				return false
			}
			nested := strings.HasSuffix(file, "/src/.bashrc")
			pointer := file == "/ws/lib/.git"
			if got := covered(protected, file); got != w.Protects(file) && inside && !nested && !pointer {
				t.Logf("%s is protected %t, by %v; rules %v", file, got, protected, p.Rules())
				return false
			}
		}
		return true
	})
}

// walk looks through a directory as a sandbox is told to.
func walk(w *permissions.SandboxPolicy, dir string, seen *permissions.Places) {
	names, _ := list(dir)
	look := w.Directory(dir)
	for _, name := range names {
		path := under(dir, name)
		if !look.Plain(name) {
			if w.Hides(path) {
				seen.Hidden = append(seen.Hidden, path)
			}
			if w.Protects(path) {
				seen.Protected = append(seen.Protected, path)
			}
		}
		walk(w, path, seen)
	}
}

func covered(by []string, path string) bool {
	return slices.ContainsFunc(by, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	})
}

func TestReachableHost(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/walls/hosts.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		cells := strings.SplitN(line, "|", 3)
		if len(cells) != 3 {
			t.Fatalf("line %d: %d cells", i+1, len(cells))
		}
		p := compile(t, setupFor(t, strings.TrimSpace(cells[1])))
		host := strings.TrimSpace(cells[2])
		ok, why := p.ReachableHost("Bash", host)
		if got, want := strconv.FormatBool(ok), strings.TrimSpace(cells[0]); got != want {
			t.Errorf("line %d: %s: %s, want %s: %s", i+1, host, got, want, why)
		}
		if ok != (why == "") {
			t.Errorf("line %d: %s: %t, because %q", i+1, host, ok, why)
		}
	}
}

// A command reaches a host by itself where WebFetch does unasked by a rule on hosts,
// and where the mode allows all, but that local hosts need their name there too.
func TestReachableHostsAreThoseOfWebFetch(t *testing.T) {
	law(t, func(g gen) bool {
		s := g.setup()
		p, _, err := permissions.Compile(s)
		if err != nil {
			return true
		}
		for range requestsPerPolicy {
			host := pick(g, someHosts)
			ok, _ := p.ReachableHost("Bash", host)
			d := permissions.Decide(p, permissions.Request{
				Stage: permissions.StageCapability, Tool: "WebFetch",
				Accesses: []permissions.Access{{Kind: permissions.AccessNet, Target: host}},
			}, permissions.Evidence{})
			whole := slices.ContainsFunc(p.Rules(), func(r *permissions.Rule) bool { return r.Tool == "WebFetch" && r.Spec == "" })
			bypass := p.Mode() == permissions.ModeBypass
			if ok && d.Verdict != permissions.Allow || !ok && d.Verdict == permissions.Allow && !whole && !bypass {
				t.Logf("%s: %t, and %s", host, ok, d.Message())
				return false
			}
		}
		return true
	})
}

func BenchmarkSandboxPolicy(b *testing.B) {
	p := compile(b, setupFor(b, "deny Read(.env) ; deny Read(*.pem) ; deny Read(//etc/app) ; deny Edit(./gen/*.go)"))
	b.Run("find", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.SandboxPolicy(nil).Find(list)
		}
	})
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		d := p.SandboxPolicy(nil).Directory("/ws/proj/internal/server")
		for b.Loop() {
			d.Plain("handler_test.go")
		}
	})
}

// TestClosedDirectories has walls shut what they cannot look into: a command may have
// closed it, or named something so that it is passed over.
func TestClosedDirectories(t *testing.T) {
	t.Parallel()
	s := setupFor(t, "deny Read(src/*.pem)")
	for name, test := range map[string]struct {
		closed, planted, hidden, protected string
	}{
		"submodules":         {closed: "/ws/proj/.git/modules", protected: "/ws/proj/.git/modules"},
		"a submodule":        {closed: "/ws/proj/.git/modules/libs/x", protected: "/ws/proj/.git/modules/libs/x"},
		"work trees":         {closed: "/ws/proj/.git/worktrees", protected: "/ws/proj/.git/worktrees"},
		"the repository":     {closed: "/ws/proj/.git", protected: "/ws/proj/.git"},
		"a pattern's":        {closed: "/ws/proj/src", hidden: "/ws/proj/src"},
		"called git's own":   {planted: "/ws/proj/.git/modules", protected: "/ws/proj/.git/modules/libs/x/hooks"},
		"called a submodule": {planted: "/ws/proj/.git/modules/libs", protected: "/ws/proj/.git/modules/libs/x/hooks"},
	} {
		found := compile(t, s).SandboxPolicy(nil).Find(func(dir string) ([]string, error) {
			names, err := list(dir)
			switch dir {
			case test.closed:
				return nil, fs.ErrPermission
			case test.planted:
				names = append(names, "HEAD")
			}
			return names, err
		})
		if test.hidden != "" && !slices.Contains(found.Hidden, test.hidden) {
			t.Errorf("%s: hidden is %q", name, found.Hidden)
		}
		if test.protected != "" && !slices.Contains(found.Protected, test.protected) {
			t.Errorf("%s: protected is %q", name, found.Protected)
		}
	}
	if found := compile(t, s).SandboxPolicy(nil).Find(list); slices.Contains(found.Protected, "/ws/proj/.git/modules") || slices.Contains(found.Hidden, "/ws/proj/src") {
		t.Errorf("with nothing closed: %q, %q", found.Protected, found.Hidden)
	}
}
