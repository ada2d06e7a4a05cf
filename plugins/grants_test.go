package plugins_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 999, time.UTC)

func openGrants(tb testing.TB, path string) *plugins.Grants {
	tb.Helper()
	c, err := plugins.OpenGrants(path)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// standing opens the plugins of a folder anew, as the next process would.
func standing(t *testing.T, dir, file, name string) plugins.GrantState {
	t.Helper()
	set := open(t, plugins.Options{Grants: openGrants(t, file)}, user(dir))
	return plugin(t, set, name).GrantState()
}

func TestConsentIsAskedGrantedAndRevoked(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "state", "consents.json")
	folder(t, dir, "one", manifest("one", wantsRead, "Show"), fixture(t, "ok"))
	consents := openGrants(t, file)
	set := open(t, plugins.Options{Grants: consents}, user(dir))
	p, show := plugin(t, set, "one"), tool(t, set, "Show")

	if p.GrantState() != plugins.GrantMissing {
		t.Errorf("got %s before any consent", p.GrantState())
	}
	_, err := call(t, show, "{}")
	wantProblem(t, err, abi.CodeNotGranted, "plugin one asks for capabilities (fs.read)", "toolquay plugins trust one")
	_, err = show.Assess(t.Context(), plugins.Question{Input: []byte("{}")})
	wantProblem(t, err, abi.CodeNotGranted, "toolquay plugins trust one")
	wantProblem(t, show.Available(), abi.CodeNotGranted, "toolquay plugins trust one")

	if err := consents.Add(p, noon); err != nil {
		t.Fatal(err)
	}
	if err := show.Available(); err != nil || p.GrantState() != plugins.GrantGiven {
		t.Errorf("after consent: %s, %v", p.GrantState(), err)
	}
	wantCall(t, show, "ok")
	fingerprint, _ := p.Fingerprint()
	got, ok := openGrants(t, file).Of("one")
	if !ok || got.Fingerprint != fingerprint || !slices.Equal(got.Capabilities, []string{"fs.read"}) || !got.Granted.Equal(noon.Truncate(time.Second)) {
		t.Errorf("on record is %+v, %t", got, ok)
	}

	for _, want := range []bool{true, false} {
		if found, err := consents.Revoke("one"); err != nil || found != want {
			t.Errorf("revoking: %t, %v; want %t", found, err, want)
		}
	}
	if _, err := call(t, show, "{}"); abi.CodeOf(err) != abi.CodeNotGranted {
		t.Errorf("after revoking: %v", err)
	}
	if got := standing(t, dir, file, "one"); got != plugins.GrantMissing {
		t.Errorf("after revoking: %s", got)
	}
}

func TestConsentIsPinnedToModuleAndManifest(t *testing.T) {
	t.Parallel()
	toml, module := manifest("one", wantsRead, "Show"), fixture(t, "ok")
	flipped := slices.Clone(module)
	flipped[len(flipped)-1] ^= 1
	const ambient = "[[capabilities]]\nname = \"clock.now\"\n[[capabilities]]\nname = \"random.bytes\"\n"
	tests := map[string]struct {
		toml   string
		module []byte
		want   plugins.GrantState
	}{
		"nothing":           {toml, module, plugins.GrantGiven},
		"one bit of module": {toml, flipped, plugins.GrantChanged},
		"more capabilities": {manifest("one", wantsRead+"[[capabilities]]\nname = \"fs.list\"\n", "Show"), module, plugins.GrantChanged},
		"a comment":         {toml + "# new\n", module, plugins.GrantChanged},
		"another name":      {manifest("two", wantsRead, "Show"), module, plugins.GrantMissing},
		"no capabilities":   {manifest("one", "", "Show"), module, plugins.GrantUnneeded},
		"time and chance":   {manifest("one", ambient, "Show"), module, plugins.GrantUnneeded},
		"with another":      {manifest("one", ambient+wantsRead, "Show"), module, plugins.GrantChanged},
	}
	for name, tt := range tests {
		for _, form := range []string{"folder", "file"} {
			t.Run(name+" of a "+form, func(t *testing.T) {
				t.Parallel()
				dir, file := t.TempDir(), filepath.Join(t.TempDir(), "consents.json")
				put := func(toml string, module []byte) {
					if form == "folder" {
						folder(t, dir, "p", toml, module)
						write(t, filepath.Join(dir, "p", "one.wasm"), module)
						write(t, filepath.Join(dir, "p", "two.wasm"), module)
					} else {
						single(t, dir, "p.wasm", toml, module)
					}
				}
				put(toml, module)
				consents := openGrants(t, file)
				o := plugins.Options{Grants: consents, Capabilities: []string{abi.CapFSRead, abi.CapFSList, abi.CapClockNow, abi.CapRandomBytes}}
				if err := consents.Add(open(t, o, user(dir)).Plugins()[0], noon); err != nil {
					t.Fatal(err)
				}
				put(tt.toml, tt.module)
				p := open(t, o, user(dir)).Plugins()[0]
				if got := p.GrantState(); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				if tt.want == plugins.GrantChanged {
					_, err := call(t, &plugins.Tool{Tool: &p.Manifest().Tools[0], Plugin: p}, "{}")
					wantProblem(t, err, abi.CodeNotGranted, "plugin one changed since its capabilities (", "fs.read", "toolquay plugins trust one")
				}
			})
		}
	}
}

func TestConsentIsNotNeeded(t *testing.T) {
	t.Parallel()
	own, dir := t.TempDir(), t.TempDir()
	ok := fixture(t, "ok")
	folder(t, own, "files", manifest("files", wantsRead, "Read"), ok)
	folder(t, dir, "pure", manifest("pure", "", "Pure"), ok)
	folder(t, dir, "this-run", manifest("this-run", wantsRead, "Once"), ok)
	folder(t, dir, "never", manifest("never", wantsRead, "Never"), ok)
	set := open(t, plugins.Options{Granted: []string{"this-run"}}, builtin(own), user(dir)) // no record at all
	for _, name := range []string{"Read", "Pure", "Once"} {
		wantCall(t, tool(t, set, name), "ok")
	}
	_, err := call(t, tool(t, set, "Never"), "{}")
	wantProblem(t, err, abi.CodeNotGranted, "toolquay plugins trust never")
	if got := plugin(t, set, "this-run").GrantState(); got != plugins.GrantGiven {
		t.Errorf("granted for this run: %s", got)
	}
	var none *plugins.Grants
	wantProblem(t, none.Add(plugin(t, set, "never"), noon), "", "keeps no record of grants")
}

// A module that is gone did not change.
func TestConsentToAMissingModule(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "consents.json")
	path := folder(t, dir, "one", manifest("one", wantsRead, "Show"), fixture(t, "ok"))
	consents := openGrants(t, file)
	if err := consents.Add(plugin(t, open(t, plugins.Options{}, user(dir)), "one"), noon); err != nil {
		t.Fatal(err)
	}
	set := open(t, plugins.Options{Grants: consents}, user(dir))
	if err := os.Remove(filepath.Join(path, "one.wasm")); err != nil {
		t.Fatal(err)
	}
	_, err := call(t, tool(t, set, "Show"), "{}")
	wantProblem(t, err, abi.CodeLoad, "its module one.wasm is not there")
}

func TestOpenGrantsRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"not JSON":         `{`,
		"empty":            ``,
		"not an object":    `[]`,
		"another version":  `{"version":2,"plugins":{}}`,
		"no version":       `{"plugins":{}}`,
		"wrong types":      `{"version":1,"plugins":{"one":"yes"}}`,
		"a name twice":     `{"version":1,"plugins":{"one":{},"one":{}}}`,
		"over four MiB":    `{"version":1}` + string(slices.Repeat([]byte(" "), 4<<20)),
		"something behind": `{"version":1}{}`,
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "consents.json")
			write(t, file, []byte(content))
			c, err := plugins.OpenGrants(file)
			wantProblem(t, err, "", file, "correct or delete the file")
			if _, ok := c.Of("one"); ok {
				t.Error("it grants something all the same")
			}
		})
	}
	_, err := plugins.OpenGrants(t.TempDir())
	wantProblem(t, err, "", "not a regular file")
}

// A file that was broken meanwhile is neither overwritten nor forgotten.
func TestGrantKeepsABrokenFile(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "consents.json")
	folder(t, dir, "one", manifest("one", wantsRead, "Show"), fixture(t, "ok"))
	folder(t, dir, "two", manifest("two", wantsRead, "List"), fixture(t, "ok"))
	consents := openGrants(t, file)
	set := open(t, plugins.Options{Grants: consents}, user(dir))
	if err := consents.Add(plugin(t, set, "one"), noon); err != nil {
		t.Fatal(err)
	}
	write(t, file, []byte("{"))
	wantProblem(t, consents.Add(plugin(t, set, "two"), noon), "", file)
	if got := plugin(t, set, "two").GrantState(); got != plugins.GrantMissing {
		t.Errorf("a consent that could not be recorded counts: %s", got)
	}
	if got := plugin(t, set, "one").GrantState(); got != plugins.GrantGiven {
		t.Errorf("the consent read before is lost: %s", got)
	}
	if content, _ := os.ReadFile(file); string(content) != "{" {
		t.Errorf("the file now holds %q", content)
	}
}

func TestConsentsFileIsPrivate(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "new", "consents.json")
	folder(t, dir, "one", manifest("one", wantsRead, "Show"), fixture(t, "ok"))
	if err := openGrants(t, file).Add(plugin(t, open(t, plugins.Options{}, user(dir)), "one"), noon); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the file lies something else: %v, %v", entries, err)
	}
}

// Two processes that grant at the same time lose nothing of each other's.
func TestConsentsHammer(t *testing.T) {
	t.Parallel()
	const n = 12
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "consents.json")
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		folder(t, dir, name, manifest(name, wantsRead, "T"+name), fixture(t, "ok"))
	}
	set := open(t, plugins.Options{}, user(dir))
	two := []*plugins.Grants{openGrants(t, file), openGrants(t, file)}
	var all sync.WaitGroup
	errs := make([]error, n)
	for i, p := range set.Plugins() {
		all.Go(func() {
			errs[i] = two[i%2].Add(p, noon)
			two[i%2].Of(p.Name)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	last := openGrants(t, file)
	for _, p := range set.Plugins() {
		if _, ok := last.Of(p.Name); !ok {
			t.Errorf("the consent to %s is lost", p.Name)
		}
	}
}

// A process that died while it wrote holds nobody up for ever.
func TestConsentsLockLeftBehind(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "consents.json")
	write(t, file+".lock", nil)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file+".lock", old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := openGrants(t, file).Revoke("one"); err != nil {
		t.Error(err)
	}
}
