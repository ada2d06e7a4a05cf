package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/protected"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// change is something that happens between two commands.
type change struct {
	before, do func(p *scene)
	// Of the paths that the second command is held to, with HOME and DIR for the directories:
	// hidden and protected are, free are neither.
	hidden, protected, free []string
}

// scene is a session and its home.
type scene struct {
	*fakeCall
	t    *testing.T
	home string
	deny []string
	mode permissions.Mode
	// trusted are projects that are.
	trusted []string
}

// at is a path below the home or the working directory.
func (p *scene) at(name string) string {
	return strings.NewReplacer("HOME", p.home, "DIR", p.dir).Replace(name)
}

func (p *scene) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *scene) write(name, text string) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.at(name)), 0o700))
	p.must(os.WriteFile(p.at(name), []byte(text), 0o600))
}

func (p *scene) link(to, name string) { p.t.Helper(); p.must(os.Symlink(p.at(to), p.at(name))) }
func (p *scene) remove(name string)   { p.t.Helper(); p.must(os.RemoveAll(p.at(name))) }
func (p *scene) move(name, to string) { p.t.Helper(); p.must(os.Rename(p.at(name), p.at(to))) }

// rules compiles the policy anew.
func (p *scene) rules(mode permissions.Mode, deny ...string) {
	p.t.Helper()
	p.compile(p.t, permissions.Dir{Path: p.home, Real: p.home}, mode, deny...)
}

// approve has a person allow reading or changing a path.
func (p *scene) approve(kind permissions.AccessKind, name string) {
	p.approved = []permissions.Access{{Kind: kind, Target: p.at(name), Real: p.at(name), Tree: true}}
}

const repository = "[core]\n\trepositoryformatversion = 0\n"

// changes are by what happens.
var changes = map[string]change{
	"nothing": {
		before: func(p *scene) { p.write("HOME/.ssh/id", ""); p.write("DIR/sub/.env", "") },
		hidden: []string{"HOME/.ssh", "DIR/sub/.env"}, protected: []string{"DIR/.git", "DIR/.vscode"},
	},
	"secrets appear": {
		do:     func(p *scene) { p.write("HOME/.ssh/id", ""); p.write("HOME/.config/gh/hosts.yml", "") },
		hidden: []string{"HOME/.ssh", "HOME/.config/gh"},
	},
	"a secret appears in a directory that was there": {
		before: func(p *scene) { p.write("HOME/.config/x", "") },
		do:     func(p *scene) { p.write("HOME/.config/gh/hosts.yml", "") }, hidden: []string{"HOME/.config/gh"},
	},
	"a secret goes": {
		before: func(p *scene) { p.write("HOME/.ssh/id", "") }, do: func(p *scene) { p.remove("HOME/.ssh") }, free: []string{"HOME/.ssh"},
	},
	"a secret becomes a link": {
		before: func(p *scene) { p.write("HOME/.aws/x", ""); p.write("HOME/away/x", "") },
		do:     func(p *scene) { p.remove("HOME/.aws"); p.link("HOME/away", "HOME/.aws") }, hidden: []string{"HOME/away"}, free: []string{"HOME/.aws"},
	},
	"a link is led elsewhere": {
		before: func(p *scene) { p.write("HOME/one/x", ""); p.write("HOME/two/x", ""); p.link("HOME/one", "HOME/.aws") },
		do:     func(p *scene) { p.remove("HOME/.aws"); p.link("HOME/two", "HOME/.aws") }, hidden: []string{"HOME/two"}, free: []string{"HOME/one"},
	},
	"a link is led elsewhere, far away": {
		before: func(p *scene) {
			p.write("HOME/far/one/x", "")
			p.write("HOME/far/two/x", "")
			p.link("HOME/far/one", "HOME/far/now")
			p.link("HOME/far/now", "HOME/.aws")
		},
		do:     func(p *scene) { p.remove("HOME/far/now"); p.link("HOME/far/two", "HOME/far/now") },
		hidden: []string{"HOME/far/two"}, free: []string{"HOME/far/one"},
	},
	"what a link leads to appears": {
		before: func(p *scene) { p.write("HOME/far/x", ""); p.link("HOME/far/netrc", "HOME/.netrc") },
		do:     func(p *scene) { p.write("HOME/far/netrc", "") }, hidden: []string{"HOME/far/netrc"},
	},
	"the directory above becomes a link": {
		before: func(p *scene) { p.write("HOME/.config/gh/x", ""); p.write("HOME/other/gh/x", "") },
		do:     func(p *scene) { p.move("HOME/.config", "HOME/was"); p.link("HOME/other", "HOME/.config") },
		hidden: []string{"HOME/other/gh"}, free: []string{"HOME/.config/gh"},
	},
	"another directory takes the place": {
		before: func(p *scene) { p.write("HOME/.config/x", ""); p.write("HOME/other/gh/x", "") },
		do:     func(p *scene) { p.move("HOME/.config", "HOME/was"); p.move("HOME/other", "HOME/.config") },
		hidden: []string{"HOME/.config/gh"},
	},
	"a name that a wildcard matches appears": {
		before: func(p *scene) { p.deny = append(p.deny, "Read(./keys/*)"); p.write("DIR/keys/a", "") },
		do:     func(p *scene) { p.write("DIR/keys/b", "") }, hidden: []string{"DIR/keys/a", "DIR/keys/b"},
	},
	"a name that a wildcard matches becomes another": {
		before: func(p *scene) { p.deny = append(p.deny, "Read(./keys/*.k)"); p.write("DIR/keys/a", "") },
		do:     func(p *scene) { p.move("DIR/keys/a", "DIR/keys/a.k") }, hidden: []string{"DIR/keys/a.k"},
	},
	"a name of any depth appears": {
		before: func(p *scene) { p.write("DIR/sub/x", "") },
		do:     func(p *scene) { p.write("DIR/sub/.env", ""); p.write("DIR/sub/.vscode/x", "") },
		hidden: []string{"DIR/sub/.env"}, protected: []string{"DIR/sub/.vscode"},
	},
	"a directory is closed": {
		before: func(p *scene) { p.deny = append(p.deny, "Read(./keys/*)"); p.write("DIR/keys/a", "") },
		do:     func(p *scene) { p.must(os.Chmod(p.at("DIR/keys"), 0)) }, hidden: []string{"DIR/keys"},
	},
	"a directory is opened": {
		before: func(p *scene) {
			p.deny = append(p.deny, "Read(./keys/*)")
			p.write("DIR/keys/a", "")
			p.must(os.Chmod(p.at("DIR/keys"), 0))
		},
		do:     func(p *scene) { p.must(os.Chmod(p.at("DIR/keys"), 0o700)) },
		hidden: []string{"DIR/keys/a"}, free: []string{"DIR/keys"},
	},
	"git's configuration names other hooks": {
		before: func(p *scene) {
			p.write("DIR/.git/HEAD", "")
			p.write("DIR/.git/config", repository)
			p.write("DIR/h/x", "")
		},
		do: func(p *scene) { p.write("DIR/.git/config", repository+"\thooksPath = h\n") }, protected: []string{"DIR/h"},
	},
	"git's configuration is as long as before": {
		before: func(p *scene) {
			p.write("DIR/.git/HEAD", "")
			p.write("DIR/.git/config", repository+"\thooksPath = g\n")
			p.write("DIR/g/x", "")
			p.write("DIR/h/x", "")
		},
		do:        func(p *scene) { p.write("DIR/.git/config", repository+"\thooksPath = h\n") },
		protected: []string{"DIR/h"}, free: []string{"DIR/g"},
	},
	"the user's configuration includes another file": {
		before: func(p *scene) { p.write("DIR/.git/HEAD", ""); p.write("DIR/i/x", "") },
		do:     func(p *scene) { p.write("HOME/.gitconfig", "[include]\n\tpath = "+p.at("DIR/i/x")) }, protected: []string{"DIR/i/x"},
	},
	"an included file changes": {
		before: func(p *scene) {
			p.write("DIR/.git/HEAD", "")
			p.write("HOME/.gitconfig", "[include]\n\tpath = more")
			p.write("HOME/more", "")
			p.write("DIR/h/x", "")
		},
		do: func(p *scene) { p.write("HOME/more", "[core]\n\thooksPath = h\n") }, protected: []string{"DIR/h"},
	},
	"a repository is made": {
		do:        func(p *scene) { p.write("DIR/.git/HEAD", ""); p.write("DIR/.git/config", repository) },
		protected: []string{"DIR/.git/hooks", "DIR/.git/config"}, free: []string{"DIR/.git"},
	},
	"a repository goes": {
		before:    func(p *scene) { p.write("DIR/.git/HEAD", ""); p.write("DIR/.git/config", repository) },
		do:        func(p *scene) { p.remove("DIR/.git") },
		protected: []string{"DIR/.git"}, free: []string{"DIR/.git/hooks"},
	},
	"a hook becomes a link": {
		before: func(p *scene) {
			p.write("DIR/.git/HEAD", "")
			p.write("DIR/.git/hooks/h", "")
			p.write("DIR/tools/h", "")
		},
		do: func(p *scene) { p.remove("DIR/.git/hooks/h"); p.link("DIR/tools/h", "DIR/.git/hooks/h") }, protected: []string{"DIR/tools/h"},
	},
	"the repository of a work tree becomes whole": { // and so one that commands write in
		before: func(p *scene) {
			p.write("HOME/main/.git/HEAD", "")
			p.write("HOME/main/.git/refs/x", "")
			p.write("HOME/main/.git/worktrees/w/commondir", "../..")
			p.write("HOME/main/.git/worktrees/w/gitdir", p.at("DIR/.git"))
			p.write("DIR/.git", "gitdir: "+p.at("HOME/main/.git/worktrees/w"))
		},
		do:        func(p *scene) { p.write("HOME/main/.git/objects/x", "") },
		protected: []string{"HOME/main/.git/hooks"},
	},
	"a submodule comes": {
		before:    func(p *scene) { p.write("DIR/.git/HEAD", ""); p.write("DIR/.git/modules/a/HEAD", "") },
		do:        func(p *scene) { p.write("DIR/.git/modules/b/HEAD", "") },
		protected: []string{"DIR/.git/modules/a/config", "DIR/.git/modules/b/config"},
	},
	"the directory becomes one of git's own": {
		do:        func(p *scene) { p.write("DIR/HEAD", ""); p.write("DIR/objects/x", ""); p.write("DIR/refs/x", "") },
		protected: []string{"DIR/hooks", "DIR/config"},
	},
	"a rule comes": {
		before: func(p *scene) { p.write("DIR/sub/a", "") },
		do:     func(p *scene) { p.rules(p.mode, "Read(sub/a)", "Edit(./sub/b)") },
		hidden: []string{"DIR/sub/a"}, protected: []string{"DIR/sub/b"},
	},
	"a rule goes": {
		before: func(p *scene) { p.write("DIR/sub/.env", "") },
		do:     func(p *scene) { p.rules(p.mode, "Read(other)") }, free: []string{"DIR/sub/.env"},
	},
	"the mode protects nothing": {
		before: func(p *scene) { p.write("HOME/.ssh/id", "") },
		do:     func(p *scene) { p.rules(permissions.ModeBypass, "Read(.env)") }, free: []string{"HOME/.ssh", "DIR/.vscode"},
	},
	"the mode protects again": {
		before: func(p *scene) { p.mode = permissions.ModeBypass; p.write("HOME/.ssh/id", "") },
		do:     func(p *scene) { p.rules(permissions.ModePlan, "Read(.env)") },
		hidden: []string{"HOME/.ssh"}, protected: []string{"DIR/.vscode"},
	},
	"a person allows to read": {
		before: func(p *scene) { p.write("HOME/.ssh/id", "") },
		do:     func(p *scene) { p.approve(permissions.AccessRead, "HOME/.ssh") }, free: []string{"HOME/.ssh"},
	},
	"a person allowed the last command to read": {
		before: func(p *scene) { p.write("HOME/.ssh/id", ""); p.approve(permissions.AccessRead, "HOME/.ssh") },
		do:     func(p *scene) { p.approved = nil }, hidden: []string{"HOME/.ssh"},
	},
	"a person allowed the last command to change": {
		before: func(p *scene) { p.approve(permissions.AccessWrite, "DIR/.vscode") },
		do:     func(p *scene) { p.approved = nil }, protected: []string{"DIR/.vscode"},
	},
	"a person allows to change": {
		do: func(p *scene) { p.approve(permissions.AccessWrite, "DIR/.vscode") }, free: []string{"DIR/.vscode"},
	},
	"a project becomes trusted": {
		before: func(p *scene) { p.write("DIR/project/x", "") },
		do:     func(p *scene) { p.trusted = []string{p.at("DIR/project")} }, protected: []string{"DIR/project/.toolquay"},
	},
}

// TestSandboxPolicyAfterChanges has each command be held to what rules and files are when it
// begins, though the last one was held to something else: both where it has just begun and
// where everything has been left alone since long before.
func TestSandboxPolicyAfterChanges(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	for name, c := range changes {
		for _, rests := range []bool{false, true} {
			for _, writes := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/rests=%t/writes=%t", name, rests, writes), func(t *testing.T) {
					t.Parallel()
					testenv.BoundByPermissions(t)
					testChange(t, c, rests, writes)
				})
			}
		}
	}
}

func testChange(t *testing.T, c change, rests, writes bool) {
	t.Helper()
	o := Options{}
	p := &scene{t: t, home: paths.Real(t.TempDir()), deny: []string{"Read(.env)"}, mode: permissions.ModeAcceptEdits}
	o.TrustedProjects = func() []string { return p.trusted }
	f, s := newFake(t, o)
	p.fakeCall = f
	if c.before != nil {
		c.before(p)
	}
	t.Cleanup(func() { _ = os.Chmod(p.at("DIR/keys"), 0o700) })
	p.rules(p.mode, p.deny...)
	held := func(s *Shell) capability.SandboxPolicy {
		t.Helper()
		held, err := s.SandboxPolicy(t.Context(), true, writes)
		p.must(err)
		return held
	}
	for range 3 {
		held(s)
		if rests {
			time.Sleep(2 * settled)
		}
	}
	if c.do != nil {
		c.do(p)
	}
	got := held(s)
	for _, name := range c.hidden {
		if !slices.Contains(got.Hidden, p.at(name)) {
			t.Errorf("%s is not hidden: %q", name, got.Hidden)
		}
	}
	for _, name := range c.protected {
		if writes && !slices.Contains(got.Protected, p.at(name)) {
			t.Errorf("%s is not protected: %q", name, got.Protected)
		}
	}
	for _, name := range c.free {
		if slices.Contains(got.Hidden, p.at(name)) || slices.Contains(got.Protected, p.at(name)) {
			t.Errorf("%s is hidden or protected: %q, %q", name, got.Hidden, got.Protected)
		}
	}
	fresh := s.call
	fresh.Memory = &protected.Memory{}
	want := held(NewShell(s.runner, fresh))
	if !slices.Equal(got.Hidden, want.Hidden) || !slices.Equal(got.Protected, want.Protected) || !slices.Equal(got.Shown, want.Shown) {
		t.Errorf("a session that remembers has %q %q %q, a new one %q %q %q", got.Hidden, got.Protected, got.Shown, want.Hidden, want.Protected, want.Shown)
	}
}

// settled is for how long directories are left alone before they are relied on.
const settled = 25 * time.Millisecond

// TestSandboxPoliciesAtOnce has commands begin side by side while files change, and the one
// that begins after that be held to what there is then.
func TestSandboxPoliciesAtOnce(t *testing.T) {
	t.Parallel()
	p := &scene{t: t, home: paths.Real(t.TempDir())}
	f, s := newFake(t, Options{})
	p.fakeCall = f
	p.rules(permissions.ModeAcceptEdits, "Read(.env)")
	for range testenv.Sample(200) {
		var commands sync.WaitGroup
		for i := range 4 {
			commands.Go(func() {
				if _, err := NewShell(s.runner, s.call).SandboxPolicy(t.Context(), true, i%2 == 0); err != nil {
					t.Error(err)
				}
			})
		}
		p.write("HOME/.ssh/id", "")
		commands.Wait()
		for _, there := range []bool{true, false} {
			if !there {
				p.remove("HOME/.ssh")
			}
			got, err := s.SandboxPolicy(t.Context(), true, there)
			if p.must(err); slices.Contains(got.Hidden, p.at("HOME/.ssh")) != there {
				t.Fatalf("there: %t, hidden are %q", there, got.Hidden)
			}
		}
	}
}

// BenchmarkSandboxPolicy is what it takes to find out what a command is held to, in a
// repository where nothing has changed, and with a change of the working directory before each.
func BenchmarkSandboxPolicy(b *testing.B) {
	f, s := newFake(b, Options{})
	f.make(b, "tmp/x", "sub/a", "sub/.env")
	git := exec.Command(testenv.NeedTool(b, "git"), "init", "-q")
	git.Dir = f.dir
	if out, err := git.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	home := permissions.Dir{Path: paths.Real(b.TempDir())}
	for _, mode := range []permissions.Mode{permissions.ModeAcceptEdits, permissions.ModeBypass} {
		f.compile(b, home, mode, "Read(.env)")
		time.Sleep(50 * time.Millisecond)
		for _, writes := range []bool{false, true} {
			for _, changes := range []bool{false, true} {
				b.Run(fmt.Sprintf("mode=%s/writes=%t/changes=%t", mode, writes, changes), func(b *testing.B) {
					for i := 0; b.Loop(); i++ {
						if name := filepath.Join(f.dir, "new"); changes && i%2 == 0 {
							f.make(b, "new")
						} else if changes {
							_ = os.Remove(name)
						}
						p, err := s.SandboxPolicy(b.Context(), true, writes)
						if err != nil {
							b.Fatal(err)
						}
						if p.Made != nil && p.Made() != "" {
							b.Fatal("something was made")
						}
					}
				})
			}
		}
	}
}
