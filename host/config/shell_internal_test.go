package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// TestTimeLimits has settings, variables and a policy say how long commands may take.
func TestTimeLimits(t *testing.T) {
	t.Parallel()
	const s = time.Second
	key := func(d time.Duration, source permissions.SourceKind) settings.Key[time.Duration] {
		return settings.Key[time.Duration]{Value: d, Set: d > 0, Source: permissions.Source{Kind: source}}
	}
	for name, test := range map[string]struct {
		usual, most settings.Key[time.Duration]
		environ     string
		want        [2]time.Duration // the usual and the most
	}{
		"nothing":                   {want: [2]time.Duration{120 * s, 600 * s}},
		"settings":                  {usual: key(10*s, permissions.SourceUser), most: key(20*s, permissions.SourceUser), want: [2]time.Duration{10 * s, 20 * s}},
		"a low most":                {most: key(20*s, permissions.SourceProject), want: [2]time.Duration{20 * s, 20 * s}},
		"variables":                 {environ: "BASH_DEFAULT_TIMEOUT_MS=1500 BASH_MAX_TIMEOUT_MS=3000", usual: key(10*s, permissions.SourceUser), want: [2]time.Duration{1500 * time.Millisecond, 3 * s}},
		"a high usual":              {environ: "BASH_DEFAULT_TIMEOUT_MS=700000", want: [2]time.Duration{700 * s, 700 * s}},
		"a variable's low most":     {environ: "BASH_MAX_TIMEOUT_MS=1000", want: [2]time.Duration{120 * s, 120 * s}},
		"an empty one":              {environ: "BASH_MAX_TIMEOUT_MS=", want: [2]time.Duration{120 * s, 600 * s}},
		"a policy":                  {environ: "BASH_DEFAULT_TIMEOUT_MS=90000 BASH_MAX_TIMEOUT_MS=90000", most: key(60*s, permissions.SourcePolicy), want: [2]time.Duration{60 * s, 60 * s}},
		"a policy that allows more": {environ: "BASH_MAX_TIMEOUT_MS=300000", most: key(900*s, permissions.SourcePolicy), want: [2]time.Duration{120 * s, 300 * s}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l settings.Loaded
			l.Shell.DefaultTimeout, l.Shell.MaxTimeout = test.usual, test.most
			o, err := shellOf(Dirs{}, &l, strings.Fields(test.environ))
			if err != nil || o.Time.Default != test.want[0] || o.Time.Max != test.want[1] {
				t.Errorf("got %v of %v, %v; want %v", o.Time.Default, o.Time.Max, err, test.want)
			}
		})
	}
}

// TestShellThatCannotBe tells all that is wrong at once.
func TestShellThatCannotBe(t *testing.T) {
	t.Parallel()
	var l settings.Loaded
	l.Shell.Bash.Value, l.Shell.PowerShell.Value = "no-such-bash", "no-such-pwsh"
	_, err := shellOf(Dirs{}, &l, []string{"BASH_DEFAULT_TIMEOUT_MS=2m"})
	for _, want := range []string{`shell.bash = "no-such-bash"`, `shell.powershell = "no-such-pwsh"`, `BASH_DEFAULT_TIMEOUT_MS is "2m"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	l.Shell = settings.Shell{}
	l.Shell.Bash.Value = filepath.Base(testenv.NeedTool(t, "go")) // any program
	if o, err := shellOf(Dirs{}, &l, nil); err != nil || !filepath.IsAbs(o.Bash) {
		t.Errorf("got %+v, %v", o, err)
	}
}
