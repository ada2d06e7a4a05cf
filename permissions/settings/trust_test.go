package settings_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// item is one thing that a random project's settings say.
type item struct {
	// slot is what only one item of a file may fill; empty is any number.
	slot string
	// table is where text stands: a list of permissions, or the whole text.
	table, text string
}

// pick returns one of several.
func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// some is a random short text, now and then an odd one.
func some(r *rand.Rand) string {
	return pick(r, "", "a", "b", "sub/", `x\u202e`, `x\u001b[2J`, "caf\u00e9", "a b", `it's`, `\"`, `\\`, ",", ": c", "given", "all tools") + pick(r, "", "1", "2")
}

// loosening is a random item that needs trust.
func loosening(r *rand.Rand) item {
	switch r.IntN(7) {
	case 0:
		rule := pick(r, "Read", "Edit", "Bash") + `(` + pick(r, "src", "make", "x") + some(r) + `)`
		if r.IntN(3) == 0 {
			return item{"", "allow", fmt.Sprintf(`{rule = "%s", expires = 20%d-01-01T00:00:00Z}`, rule, 30+r.IntN(3))}
		}
		return item{"", "allow", `"` + rule + `"`}
	case 1:
		return item{"mode", "mode", pick(r, `"plan"`, `"acceptEdits"`, `"auto"`, `"bypassPermissions"`, `"dontAsk"`, `"default"`)}
	case 2:
		return item{"", "additional_directories", `"` + pick(r, "/", "d", "../", "~/") + some(r) + `"`}
	case 3:
		hook := "[[hooks." + pick(r, "PreToolUse", "PostToolUse", "PostToolUseFailure") + "]]\n"
		hook += pick(r, "", `matcher = "Bash"`, `matcher = "Bash|Edit"`, `matcher = "Bash: x"`, `matcher = "all tools"`) + "\n"
		hook += "command = " + pick(r, `"x`+some(r)+`"`, `["x", "`+some(r)+`"]`, `["x`+some(r)+`"]`, `["x,", "given", "A"]`) + "\n"
		hook += pick(r, "", `env = ["A"]`, `env = ["A", "B"]`) + "\n" + pick(r, "", `timeout = "5s"`) + "\n"
		return item{"", "", hook}
	case 4:
		return item{"judge", "", "[judge]\nprovider = \"" + pick(r, "openai", "anthropic") + "\"\nmodel = \"m" + some(r) + "\"\n" +
			pick(r, "", `base_url = "https://example.com"`, `base_url = "https://example.org/x"`) + "\n" +
			pick(r, "", `api_key_env = "A_KEY"`, `api_key_env = "B_KEY"`) + "\n" + pick(r, "", `timeout = "7s"`) + "\n" + pick(r, "", "max_tokens = 5") + "\n"}
	}
	if name := pick(r, "s", "t"); r.IntN(3) == 0 {
		server := "[mcp." + name + "]\n" + pick(r, `command = "/x`+some(r)+`"`, `command = ["x`+some(r)+`", "`+some(r)+`"]`) + "\n"
		server += pick(r, "", `env.A = "`+some(r)+`"`, `env = {A = "1", B = "${B}"}`) + "\n" + pick(r, "", `dir = "d`+some(r)+`"`) + "\n"
		server += pick(r, "", `read = ["d", "e`+some(r)+`"]`, `network = ["a.b", "c"]`) + "\n" + pick(r, "", "trust_annotations = true", "enabled = false", "call_timeout = 5") + "\n"
		return item{"mcp" + name, "", server}
	}
	key := pick(r, "results.max_chars", "results.tools.Bash.max_chars", "scheduler.max_calls", "tools.defer_over_tools")
	return item{key, "", "[" + key[:strings.LastIndex(key, ".")] + "]\n" + key[strings.LastIndex(key, ".")+1:] + fmt.Sprintf(" = %d\n", 1+r.IntN(3))}
}

// tightening is a random item that counts at once.
func tightening(r *rand.Rand) item {
	return item{"", pick(r, "deny", "ask"), fmt.Sprintf(`"Read(t%d)"`, r.IntN(50))}
}

// without leaves out items that a file may have once only, and tables that are there.
func without(items []item) []item {
	seen := make(map[string]bool)
	return slices.DeleteFunc(slices.Clone(items), func(i item) bool {
		slot := i.slot
		if dot := strings.LastIndex(slot, "."); dot > 0 {
			slot = slot[:dot]
		}
		was := slot != "" && seen[slot]
		seen[slot] = true
		return was
	})
}

// text is a settings.toml that says all items.
func text(items []item) string {
	lists, rest := make(map[string][]string), []string{}
	for _, i := range items {
		if i.table == "" {
			rest = append(rest, i.text)
		} else {
			lists[i.table] = append(lists[i.table], i.text)
		}
	}
	var b strings.Builder
	b.WriteString("[permissions]\n")
	for _, list := range slices.Sorted(maps.Keys(lists)) {
		value := "[" + strings.Join(lists[list], ", ") + "]"
		if list == "mode" {
			value = lists[list][0]
		}
		fmt.Fprintf(&b, "%s = %s\n", list, value)
	}
	return b.String() + strings.Join(rest, "")
}

// effects lists what loaded settings let through or have run, value by value and
// without places, and what tightens.
func effects(tb testing.TB, l *settings.Loaded) (loosens, tightens map[string]bool) {
	tb.Helper()
	loosens, tightens = make(map[string]bool), make(map[string]bool)
	add := func(kind string, value any) {
		said, err := json.Marshal(value)
		if err != nil {
			tb.Fatal(err)
		}
		loosens[kind+" "+string(said)] = true
	}
	for _, set := range l.Rules {
		for _, r := range set.Allow {
			add("allow", []any{r.Text, r.Expires})
		}
		for _, r := range slices.Concat(set.Deny, set.Ask) {
			tightens[r.Text] = true
		}
		for _, dir := range set.Directories {
			add("directory", dir)
		}
		if set.Mode != "" {
			add("mode", set.Mode)
		}
	}
	for _, list := range l.Hooks {
		for _, h := range list {
			h.Source.Line = 0
			add("hook", h)
		}
	}
	if l.Judge != nil {
		j := *l.Judge
		j.Source.Line = 0
		add("judge", j)
	}
	for _, s := range l.Servers {
		s.Source, s.Network.Source, s.Read.Source, s.TrustAnnotations.Source, s.Enabled.Source, s.CallTimeout.Source = permissions.Source{},
			permissions.Source{}, permissions.Source{}, permissions.Source{}, permissions.Source{}, permissions.Source{}
		add("server", s)
	}
	for _, m := range l.Made() {
		add("setting", m.Text)
	}
	return loosens, tightens
}

// change takes items out of a list, puts others in, and mixes them.
func change(r *rand.Rand, items []item) []item {
	var out []item
	for _, i := range items {
		if r.IntN(5) > 0 {
			out = append(out, i)
		}
	}
	for range r.IntN(4) {
		out = append(out, loosening(r))
	}
	for range r.IntN(3) {
		out = append(out, tightening(r))
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return without(out)
}

// checkTrusted holds settings after a change to the law: what loosens was shown, what
// was shown and is there still counts, and what tightens counts.
func checkTrusted(t *testing.T, before, after *settings.Loaded, there *settings.Loaded, doc string) {
	t.Helper()
	shown, _ := effects(t, before)
	has, denies := effects(t, there)
	got, tightened := effects(t, after)
	for what := range got {
		if !shown[what] {
			t.Errorf("%s counts and was not shown; it is in\n%s", what, doc)
		}
	}
	for what := range has {
		if shown[what] && !got[what] {
			t.Errorf("%s was shown and does not count; it is in\n%s", what, doc)
		}
	}
	if !maps.Equal(tightened, denies) {
		t.Errorf("%v tighten, not %v", tightened, denies)
	}
}

// whole loads the settings as if all that they bring had been shown.
func (p *place) whole(tb testing.TB) *settings.Loaded {
	tb.Helper()
	q := *p
	q.trust(tb)
	return q.load(tb)
}

// TestTrustPinsWhatWasShown changes trusted projects' settings at random: at the next
// start nothing loosens that was not shown, and all that tightens counts.
func TestTrustPinsWhatWasShown(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testenv.Sample(300)) {
		r := rand.New(rand.NewPCG(seed, 16))
		p := newPlace(t)
		var items []item
		for range 1 + r.IntN(8) {
			items = append(items, loosening(r))
		}
		file := pick(r, projectFile, localFile)
		items = without(items)
		p.write(t, file, text(items))
		p.trust(t)
		before := p.load(t)
		if len(before.Withheld) > 0 {
			t.Fatalf("seed %d: withheld, though it was shown: %v", seed, before.Withheld)
		}
		for range 4 {
			items = change(r, items)
			doc := text(items)
			p.write(t, file, doc)
			checkTrusted(t, before, p.load(t), p.whole(t), fmt.Sprintf("seed %d\n%s", seed, doc))
		}
	}
}

// TestTrustPinsWhileFollowed does so while the settings are followed.
func TestTrustPinsWhileFollowed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 17))
		p := newPlace(t)
		items := without([]item{loosening(r), loosening(r), loosening(r), loosening(r)})
		p.write(t, projectFile, text(items))
		p.trust(t)
		before := p.load(t)
		f := follow(t, p, time.Millisecond, anything)
		for n := range 4 {
			items = change(r, items)
			// So that it is seen when it was taken.
			items = append(items, item{"", "deny", fmt.Sprintf(`"Read(seed%d-%d)"`, seed, n)})
			doc := text(items)
			p.write(t, projectFile, doc)
			want := p.load(t)
			var after *settings.Loaded
			f.next(t, "the change", func(l *settings.Loaded) bool {
				after = l
				_, now := effects(t, l)
				_, then := effects(t, want)
				return maps.Equal(now, then)
			})
			checkTrusted(t, before, after, p.whole(t), doc)
		}
	}
}

// TestTrustIsFollowed: what is shown while settings are followed counts from then on,
// and what is trusted no longer counts no longer.
func TestTrustIsFollowed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, "trust", "no")
	p.write(t, projectFile, "permissions.allow = ['Read(a)']\n")
	all := make(map[settings.Pin]bool)
	for _, b := range p.load(t).Brings {
		all[b.Pin()] = true
	}
	p.options.Watched = []string{p.path("trust")}
	p.options.Shown = func() (map[settings.Pin]bool, error) {
		if content := p.read(t, "trust"); content == "yes" {
			return all, nil
		}
		return nil, nil
	}
	allows := func(n int) func(*settings.Loaded) bool {
		return func(l *settings.Loaded) bool { return len(l.Rules[0].Allow) == n }
	}
	f := follow(t, p, time.Millisecond, anything)
	p.write(t, "trust", "yes")
	f.next(t, "what was shown", allows(1))
	p.write(t, "trust", "no")
	f.next(t, "what is trusted no longer", allows(0))
}
