package config_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// trusting is a user with a project.
type trusting struct {
	dirs config.Dirs
	root string
}

func newTrusting(t *testing.T) *trusting {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	u := &trusting{
		config.Dirs{Home: dir + "/home", Config: dir + "/config", State: dir + "/state", Cache: dir + "/cache"},
		filepath.Join(dir, "project"),
	}
	u.write(t, ".git/HEAD", "")
	u.write(t, ".toolquay/settings.toml", "permissions.allow = ['Bash(make)']\n")
	u.write(t, ".toolquay/plugins/helper/plugin.toml", fixtureManifest)
	module, err := os.ReadFile("../../plugins/direct/testdata/ok.wasm")
	if err != nil {
		t.Fatal(err)
	}
	u.write(t, ".toolquay/plugins/helper/fixture.wasm", string(module))
	return u
}

// open starts a host, which is closed when the test ends.
func open(t *testing.T, o host.Options) *host.Host {
	t.Helper()
	o.Storage.CacheDir = testenv.CompileCache()
	h, err := host.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

const fixtureManifest = `manifest = 1
name = "fixture"
version = "1.0.0"
description = "A fixture"
[[tools]]
name = "Helper"
summary = "A fixture"
input_schema = '{"type": "object"}'
`

func (u *trusting) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(u.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (u *trusting) trust(t *testing.T) *config.Trust {
	t.Helper()
	trust, err := config.OpenTrust(u.dirs.Trust())
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

// at is the project that a start in a directory finds.
func (u *trusting) at(t *testing.T, dir string) config.Project {
	t.Helper()
	project, err := config.FindProject(dir, u.trust(t))
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// grant has the user trust what was shown.
func (u *trusting) grant(t *testing.T, root string, shown []settings.Brought) {
	t.Helper()
	if err := u.trust(t).TrustProject(root, shown, time.Now()); err != nil {
		t.Fatal(err)
	}
}

// unseen is what the user would be shown.
func (u *trusting) unseen(t *testing.T) []settings.Brought {
	t.Helper()
	_, unseen, err := u.at(t, u.root).Brings(u.dirs)
	if err != nil {
		t.Fatal(err)
	}
	return unseen
}

// counts says what takes effect at a start: the allow rules, and whether there is the
// plugin's tool.
func (u *trusting) counts(t *testing.T, dir string) (allow string, tool bool) {
	t.Helper()
	project := u.at(t, dir)
	sources := config.UserSettings(u.dirs, project)
	sources.SystemDir = ""
	loaded, err := settings.Load(sources)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, set := range loaded.Rules {
		for _, r := range set.Allow {
			rules = append(rules, r.Text)
		}
	}
	o, err := config.ForUser(u.dirs, project, loaded)
	if err != nil {
		t.Fatal(err)
	}
	_, tool = open(t, o).Plugins().Tool("Helper")
	return strings.Join(rules, " "), tool
}

func (u *trusting) want(t *testing.T, what, allow string, tool bool) {
	t.Helper()
	if a, has := u.counts(t, u.root); a != allow || has != tool {
		t.Errorf("%s: allowed is %q, the tool is there: %t", what, a, has)
	}
}

// TestTrustPinsPlugins changes a trusted project byte by byte.
func TestTrustPinsPlugins(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	u.want(t, "not trusted", "", false)
	shown := u.unseen(t)
	if len(shown) != 2 {
		t.Fatalf("shown: %v", shown)
	}
	u.grant(t, u.root, shown)
	u.want(t, "trusted", "Bash(make)", true)
	if again := u.unseen(t); len(again) != 0 {
		t.Errorf("shown again: %v", again)
	}
	u.write(t, ".toolquay/plugins/helper/plugin.toml", fixtureManifest+"\n")
	u.want(t, "another manifest", "Bash(make)", false)
	if again := u.unseen(t); len(again) != 1 || again[0].Kind != settings.BringsPlugin {
		t.Errorf("to be shown: %v", again)
	}
	u.write(t, ".toolquay/plugins/helper/plugin.toml", fixtureManifest)
	u.want(t, "as it was", "Bash(make)", true)
	module, err := os.ReadFile(u.root + "/.toolquay/plugins/helper/fixture.wasm")
	if err != nil {
		t.Fatal(err)
	}
	u.write(t, ".toolquay/plugins/helper/fixture.wasm", string(module)+"\x00\x02\x01x") // a custom section
	u.want(t, "another module", "Bash(make)", false)
}

// TestWhatIsSwappedMeanwhileIsNotPinned changes everything between what a person is
// shown and their answer.
func TestWhatIsSwappedMeanwhileIsNotPinned(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	shown := u.unseen(t)
	u.write(t, ".toolquay/settings.toml", "permissions.allow = ['Bash(curl:*)']\n")
	u.write(t, ".toolquay/plugins/helper/plugin.toml", strings.Replace(fixtureManifest, "1.0.0", "1.0.1", 1))
	u.grant(t, u.root, shown)
	u.want(t, "swapped", "", false)
	if again := u.unseen(t); len(again) != 2 {
		t.Errorf("to be shown: %v", again)
	}
}

// TestPinsAreOfOneProject has another project at the place of a trusted one, one within
// it, one beside it, and a link to it.
func TestPinsAreOfOneProject(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	u.grant(t, u.root, u.unseen(t))
	link := u.root + "-link"
	if err := os.Symlink(u.root, link); err == nil {
		if allow, tool := u.counts(t, link); allow != "Bash(make)" || !tool {
			t.Errorf("by a link: %q, %t", allow, tool)
		}
	}
	u.write(t, "nested/.git", "")
	u.write(t, "nested/.toolquay/settings.toml", "permissions.allow = ['Bash(make)']\n")
	if allow, tool := u.counts(t, u.root+"/nested"); allow != "" || tool {
		t.Errorf("a nested project: %q, %t", allow, tool)
	}
	if err := os.Rename(u.root, u.root+"-moved"); err != nil {
		t.Fatal(err)
	}
	if allow, tool := u.counts(t, u.root+"-moved"); allow != "" || tool {
		t.Errorf("moved: %q, %t", allow, tool)
	}
	u.write(t, ".git/HEAD", "")
	u.write(t, ".toolquay/settings.toml", "permissions.allow = ['Bash(make)', 'Bash(curl:*)']\n[[hooks.PreToolUse]]\ncommand = 'x'\n")
	u.want(t, "in its place", "Bash(make)", false)
	if upper := strings.ToUpper(u.root); upper != u.root && u.trust(t).Trusts(upper) {
		t.Error("another case is another project")
	}
}

// TestTrustIsRecordedTogether has many hosts record what they showed, at once.
func TestTrustIsRecordedTogether(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	var all []settings.Brought
	var wg sync.WaitGroup
	for i := range 20 {
		b := settings.BroughtRule(settings.Rule{Text: fmt.Sprintf("Bash(make %d)", i)})
		all = append(all, b)
		trust := u.trust(t)
		wg.Go(func() {
			if err := trust.TrustProject(u.root, []settings.Brought{b}, time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	shown, err := config.UserSettings(u.dirs, u.at(t, u.root)).Shown()
	if err != nil || len(shown) != len(all) {
		t.Errorf("%d of %d are recorded, %v", len(shown), len(all), err)
	}
	for _, b := range all {
		if !shown[b.Pin()] {
			t.Errorf("%s was lost", b)
		}
	}
	info, err := os.Stat(u.dirs.Trust())
	if err != nil || runtime.GOOS != "windows" && info.Mode() != fs.FileMode(0o600) {
		t.Errorf("%v, %v", info, err)
	}
}

// TestRecordOfBefore reads a record of a version that did not pin: the project is
// trusted, and everything is shown again.
func TestRecordOfBefore(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	if err := os.MkdirAll(u.dirs.State, 0o700); err != nil {
		t.Fatal(err)
	}
	record := fmt.Sprintf(`{"version": 1, "projects": {%q: "2026-01-01T00:00:00Z"}}`, u.root)
	if err := os.WriteFile(u.dirs.Trust(), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	u.want(t, "a record of before", "", false)
	if !u.at(t, u.root).Trusted || len(u.unseen(t)) != 2 {
		t.Errorf("to be shown: %v", u.unseen(t))
	}
	u.grant(t, u.root, u.unseen(t))
	u.want(t, "shown", "Bash(make)", true)
}

// TestNothingIsAddedToARevokedProject: an answer "always" that comes after trust was
// taken back gives none of it again.
func TestNothingIsAddedToARevokedProject(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	u.grant(t, u.root, u.unseen(t))
	other := u.trust(t)
	if found, err := u.trust(t).Revoke(u.root); err != nil || !found {
		t.Fatal(found, err)
	}
	err := other.Add(u.root, settings.BroughtRule(settings.Rule{Text: "Bash(x)"}))
	if err == nil || !strings.Contains(err.Error(), "not trusted any more") || other.Trusts(u.root) {
		t.Errorf("%v; trusted: %t", err, other.Trusts(u.root))
	}
	u.want(t, "revoked", "", false)
}

// TestRecordStaysReadable: what would not fit into the record is not recorded, instead
// of making a record that no host can read.
func TestRecordStaysReadable(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	many := make([]settings.Brought, 70_000)
	for i := range many {
		many[i] = settings.BroughtRule(settings.Rule{Text: strconv.Itoa(i)})
	}
	if err := u.trust(t).TrustProject(u.root, many, time.Now()); err == nil || !strings.Contains(err.Error(), "over its limit") {
		t.Errorf("%v", err)
	}
	if u.trust(t).Trusts(u.root) {
		t.Error("it is trusted")
	}
}

// TestTrustPinsPluginsWhileRunning has a plugin come while the host runs, be shown, and
// be trusted no longer.
func TestTrustPinsPluginsWhileRunning(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	plugin := u.root + "/.toolquay/plugins/helper"
	if err := os.Rename(plugin, u.root+"/later"); err != nil {
		t.Fatal(err)
	}
	u.grant(t, u.root, u.unseen(t))
	o, err := config.ForUser(u.dirs, u.at(t, u.root), &settings.Loaded{})
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, o)
	offers := func(what string, want bool) {
		t.Helper()
		if _, err := h.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, got := h.Plugins().Tool("Helper"); got != want {
			t.Errorf("%s: it is offered: %t", what, got)
		}
	}
	offers("not there", false)
	if err := os.MkdirAll(filepath.Dir(plugin), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(u.root+"/later", plugin); err != nil {
		t.Fatal(err)
	}
	offers("not shown", false)
	if p, ok := h.Plugins().Plugin("fixture"); !ok || p.Problem() == nil || !strings.Contains(p.Problem().Error(), "toolquay trust") {
		t.Errorf("it is not told of: %v", p)
	}
	u.grant(t, u.root, u.unseen(t))
	offers("shown", true)
	u.write(t, ".toolquay/plugins/helper/plugin.toml", fixtureManifest+"\n")
	offers("changed", false)
	u.write(t, ".toolquay/plugins/helper/plugin.toml", fixtureManifest)
	offers("as it was", true)
	if _, err := u.trust(t).Revoke(u.root); err != nil {
		t.Fatal(err)
	}
	offers("revoked", false)
}

// TestLinkedDirectoryStaysWhereItWas has a call of a session change a link that settings
// name as a working directory, and the settings be put into force again.
func TestLinkedDirectoryStaysWhereItWas(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	for _, dir := range []string{"one", "two"} {
		u.write(t, "../"+dir+"/a.txt", dir)
	}
	link := func(to string) {
		t.Helper()
		_ = os.Remove(u.root + "/shared")
		if err := os.Symlink("../"+to, u.root+"/shared"); err != nil {
			t.Fatal(err)
		}
	}
	link("one")
	u.write(t, ".toolquay/settings.toml", "permissions.additional_directories = ['shared']\n")
	u.grant(t, u.root, u.unseen(t))
	project := u.at(t, u.root)
	sources := config.UserSettings(u.dirs, project)
	sources.SystemDir = ""
	loaded, err := settings.Load(sources)
	if err != nil {
		t.Fatal(err)
	}
	o, err := config.ForUser(u.dirs, project, loaded)
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, o)
	s, err := h.NewSession(host.SessionOptions{Cwd: u.root})
	if err != nil {
		t.Fatal(err)
	}
	reads := func(dir string, want permissions.Verdict) {
		t.Helper()
		input := fmt.Sprintf(`{"file_path": %q}`, filepath.Join(u.root, "..", dir, "a.txt"))
		x, err := s.Explain(t.Context(), abi.ToolUse{ID: "1", Name: "Read", Input: []byte(input)})
		if err != nil || x.Decision.Verdict != want {
			t.Errorf("reading in %s: %s, %v", dir, x.Decision.Verdict, err)
		}
	}
	reads("one", permissions.Allow)
	reads("two", permissions.Deny) // nobody can be asked
	link("two")
	in, err := config.SettingsOf(loaded, u.root)
	if err == nil {
		err = h.Apply(in)
	}
	if err != nil {
		t.Fatal(err)
	}
	reads("one", permissions.Allow)
	reads("two", permissions.Deny)
}

// TestRevokedTrustStaysRevoked has two processes, so to say, change one file:
// one takes back its trust in a project while another grants some other.
func TestRevokedTrustStaysRevoked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trust.json")
	trust := func() *config.Trust {
		tr, err := config.OpenTrust(file)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	a := trust()
	for range 20 {
		b := trust()
		if err := b.TrustProject("/evil", nil, time.Now()); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := b.TrustProject("/other", nil, time.Now()); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if found, err := a.Revoke("/evil"); err != nil || !found {
				t.Errorf("revoking: %v, %v", found, err)
			}
		})
		wg.Wait()
		if got := trust().Roots(); !slices.Equal(got, []string{"/other"}) {
			t.Fatalf("the file trusts %q", got)
		}
		if a.Trusts("/evil") {
			t.Fatal("who revoked it trusts it")
		}
	}
}

// TestTrustThatIsNotWrittenDoesNotCount loses the trust's folder.
func TestTrustThatIsNotWrittenDoesNotCount(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	tr, err := config.OpenTrust(filepath.Join(dir, "trust.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := tr.TrustProject("/project", nil, time.Now()); err == nil || tr.Trusts("/project") {
		t.Errorf("the grant failed with %v; trusted: %v", err, tr.Trusts("/project"))
	}
}
