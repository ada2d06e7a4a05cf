package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// reload replaces a set by a newer one.
func reload(tb testing.TB, set *plugins.Set) (*plugins.Set, plugins.Changes) {
	tb.Helper()
	newer, changes, err := set.Reload(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	set.Release()
	return newer, changes
}

func wantChanges(tb testing.TB, c plugins.Changes, added, changed, removed, problems string) {
	tb.Helper()
	for _, list := range []struct {
		kind string
		got  []*plugins.Plugin
		want string
	}{{"added", c.Added, added}, {"changed", c.Changed, changed}, {"removed", c.Removed, removed}, {"problems", c.Problems, problems}} {
		var names []string
		for _, p := range list.got {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != list.want {
			tb.Errorf("%s: %q, want %q", list.kind, got, list.want)
		}
	}
}

// rename puts a plugin folder in another's place, which is as near to one step
// as a folder gets.
func rename(tb testing.TB, dir, name, toml string, module []byte) {
	tb.Helper()
	made := folder(tb, filepath.Join(dir, ".new"), name, toml, module)
	target := filepath.Join(dir, name)
	if err := errors.Join(os.RemoveAll(target), os.Rename(made, target)); err != nil {
		tb.Fatal(err)
	}
}

func TestReloadTellsWhatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ok, counts := fixture(t, "ok"), fixture(t, "counter")
	for _, name := range []string{"same", "module", "manifest", "removed", "breaks"} {
		folder(t, dir, name, manifest(name, "", "T"+name), ok)
	}
	set := open(t, plugins.Options{}, user(dir))
	for _, each := range set.Tools() {
		wantCall(t, each, "ok")
	}
	same := plugin(t, set, "same")
	set, changes := reload(t, set)
	if !changes.None() {
		t.Errorf("nothing happened, and this changed: %+v", changes)
	}

	write(t, filepath.Join(dir, "module", "module.wasm"), counts)
	write(t, filepath.Join(dir, "manifest", abi.ManifestFile), []byte(manifest("manifest", "", "Renamed")))
	write(t, filepath.Join(dir, "breaks", abi.ManifestFile), []byte("name ="))
	remove(t, filepath.Join(dir, "removed"))
	folder(t, dir, "added", manifest("added", "", "Tadded"), ok)
	write(t, filepath.Join(dir, "same", "same.wasm"), ok) // the same bytes, at another time
	older := set
	set, changes = reload(t, set)
	wantChanges(t, changes, "added", "breaks manifest module", "removed", "breaks")
	if plugin(t, set, "same") != same {
		t.Error("a plugin that is the same was made anew")
	}
	wantNames(t, toolNames(set), "Renamed", "Tadded", "Tmodule", "Tsame")
	wantCall(t, tool(t, set, "Tmodule"), "1")
	wantCall(t, tool(t, set, "Tsame"), "ok")
	wantProblem(t, plugin(t, set, "breaks").Problem(), "", "line 1")
	for _, gone := range []string{"Tmodule", "Tremoved", "Tbreaks", "Tmanifest"} {
		_, err := call(t, tool(t, older, gone), "{}")
		wantProblem(t, err, abi.CodeCancelled, "being unloaded")
	}
	if older.Hold() {
		t.Error("a set that was let go of can be held")
	}
}

// A reloaded set is what a fresh start would find.
func TestReloadEqualsAFreshStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ok := fixture(t, "ok")
	set := open(t, plugins.Options{}, user(dir))
	steps := map[string]func(){
		"01 two plugins": func() {
			folder(t, dir, "a", manifest("a", "", "A"), ok)
			folder(t, dir, "b", manifest("b", "", "B"), ok)
		},
		"02 a rival":        func() { folder(t, dir, "c", manifest("c", "", "A"), ok) },
		"03 a broken rival": func() { write(t, filepath.Join(dir, "c", abi.ManifestFile), []byte("x")) },
		"04 another name": func() {
			write(t, filepath.Join(dir, "c", abi.ManifestFile), []byte(manifest("b", "module = \"c.wasm\"", "C")))
		},
		"05 a copy": func() {
			single(t, dir, "d.wasm", manifest("d", "", "D"), ok)
			single(t, dir, "e.wasm", manifest("d", "", "D"), ok)
		},
		"06 no rival":        func() { remove(t, filepath.Join(dir, "b")) },
		"07 a module lost":   func() { remove(t, filepath.Join(dir, "a", "a.wasm")) },
		"08 and found again": func() { write(t, filepath.Join(dir, "a", "a.wasm"), ok) },
		"09 a reserved name": func() { folder(t, dir, "f", manifest("f", "", "BASH"), ok) },
		"10 another one":     func() { folder(t, dir, "f", manifest("f", "", "Fine"), ok) },
		"11 nothing left":    func() { remove(t, dir) },
	}
	for i := range len(steps) {
		for name, step := range steps {
			if !strings.HasPrefix(name, fmt.Sprintf("%02d", i+1)) {
				continue
			}
			step()
			set, _ = reload(t, set)
			if got, want := describe(set), describe(open(t, plugins.Options{}, user(dir))); got != want {
				t.Errorf("%s: reloaded\n%s\nstarted afresh\n%s", name, got, want)
			}
		}
	}
}

// A call that began before a reload ends as it began.
func TestReloadUnderACall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder(t, dir, "one", manifest("one", "", "Show"), fixture(t, "ok"))
	runner, o := counting()
	entered, release := make(chan struct{}), make(chan struct{})
	runner.call = func(context.Context) error { close(entered); <-release; return nil }
	set := open(t, o, user(dir))
	show := tool(t, set, "Show")
	done := make(chan error)
	go func() {
		_, err := show.Call(t.Context(), plugins.Invocation{})
		done <- err
	}()
	<-entered
	remove(t, filepath.Join(dir, "one"))
	_, changes := reload(t, set)
	wantChanges(t, changes, "", "", "one", "")
	_, err := call(t, show, "{}")
	wantProblem(t, err, abi.CodeCancelled, "being unloaded")
	if n := runner.closedInstances.Load(); n != 0 {
		t.Fatalf("%d instances were closed under a call", n)
	}
	close(release)
	if err := <-done; err != nil {
		t.Errorf("the call under way: %v", err)
	}
	within(t, func() {
		for runner.closedInstances.Load() != 1 {
			time.Sleep(time.Millisecond)
		}
	})
}

// Who holds an older set gets what it was, whatever lies there now, or nothing.
func TestReloadIsNoMix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder(t, dir, "loaded", manifest("loaded", "", "Loaded"), fixture(t, "ok"))
	folder(t, dir, "unread", manifest("unread", "", "Unread"), fixture(t, "ok"))
	set := open(t, plugins.Options{}, user(dir))
	wantCall(t, tool(t, set, "Loaded"), "ok")
	for _, name := range []string{"loaded", "unread"} {
		write(t, filepath.Join(dir, name, name+".wasm"), fixture(t, "counter"))
	}
	set.Hold()
	newer, _ := reload(t, set)
	for name, want := range map[string]string{"Loaded": "1", "Unread": "1"} {
		wantCall(t, tool(t, newer, name), want)
	}
	wantCall(t, tool(t, set, "Loaded"), "ok")
	_, err := call(t, tool(t, set, "Unread"), "{}")
	wantProblem(t, err, abi.CodeChanged, "the module of plugin unread changed while the host was running; reload the plugins")
	set.Release()
}

// The consent to a plugin is not the consent to what comes in its place.
func TestReloadAsksForConsentAgain(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "consents.json")
	folder(t, dir, "one", manifest("one", wantsRead, "Show"), fixture(t, "ok"))
	consents := openGrants(t, file)
	set := open(t, plugins.Options{Grants: consents}, user(dir))
	if err := consents.Add(plugin(t, set, "one"), noon); err != nil {
		t.Fatal(err)
	}
	wantCall(t, tool(t, set, "Show"), "ok")
	write(t, filepath.Join(dir, "one", "one.wasm"), fixture(t, "counter"))
	set, _ = reload(t, set)
	_, err := call(t, tool(t, set, "Show"), "{}")
	wantProblem(t, err, abi.CodeNotGranted, "plugin one changed since its capabilities (fs.read) were granted")
	// Another process grants it.
	if err := openGrants(t, file).Add(plugin(t, set, "one"), noon); err != nil {
		t.Fatal(err)
	}
	set, changes := reload(t, set)
	if !changes.None() {
		t.Errorf("a consent changed %+v", changes)
	}
	wantCall(t, tool(t, set, "Show"), "1")
}

func TestReloadThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "consents.json")
	path := folder(t, dir, "one", manifest("one", "", "Show"), fixture(t, "ok"))
	set := open(t, plugins.Options{Grants: openGrants(t, file)}, plugins.Dir(plugins.OriginFlag, path))
	wantCall(t, tool(t, set, "Show"), "ok")
	fail := func(want string) {
		t.Helper()
		_, _, err := set.Reload(t.Context())
		wantProblem(t, err, "", "reloading plugins: ", want)
		wantCall(t, tool(t, set, "Show"), "ok")
	}
	write(t, file, []byte("{"))
	fail("the plugins' grants")
	remove(t, file)
	remove(t, path)
	fail("looking for plugins in " + path)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, _, err := set.Reload(ctx)
	wantProblem(t, err, "", "enough")
	if err := set.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := set.Reload(t.Context()); err == nil {
		t.Error("a closed set can be reloaded")
	}
}

// What a session keeps of a plugin ends with the plugin.
func TestReloadEndsWhatIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	toml := manifest("one", "instance = \"kept\"", "Show")
	folder(t, dir, "one", toml, fixture(t, "counter"))
	set := open(t, plugins.Options{}, user(dir))
	var session plugins.Session
	count := func(want string) {
		t.Helper()
		r, err := tool(t, set, "Show").Call(t.Context(), plugins.Invocation{Input: []byte("{}"), Session: &session})
		if err != nil || r.Text() != want {
			t.Errorf("got %q, %v; want %s", r.Text(), err, want)
		}
	}
	count("1")
	set, _ = reload(t, set)
	count("2")
	write(t, filepath.Join(dir, "one", abi.ManifestFile), []byte(toml+"# newer\n"))
	set, _ = reload(t, set)
	count("1")
	within(t, func() {
		for session.Parts() != 1 {
			time.Sleep(time.Millisecond)
		}
	})
	if err := session.Close(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := tool(t, set, "Show").Call(t.Context(), plugins.Invocation{Input: []byte("{}"), Session: &session})
	wantProblem(t, err, abi.CodeCancelled, "the session is closed")
}
