package permissions_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

func TestHostOf(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name, odd string
		local     bool
	}{
		"example.com":                     {name: "example.com"},
		"https://Example.COM:443/a@b?c#d": {name: "example.com"},
		"http://example.com.":             {name: "example.com"},
		"http://a_b.example.com":          {name: "a_b.example.com"},
		"http://xn--bcher-kva.de":         {name: "xn--bcher-kva.de"},
		"HTTP://example.com?x":            {name: "example.com"},
		"example.com:":                    {name: "example.com"},
		"localhost:80":                    {name: "localhost", local: true},
		"http://a.localhost.":             {name: "a.localhost", local: true},
		"8.8.8.8":                         {name: "8.8.8.8"},
		"127.0.0.1:80":                    {name: "127.0.0.1", local: true},
		"[::1]:80":                        {name: "::1", local: true},
		"::1":                             {name: "::1", local: true},
		"http://[::ffff:127.0.0.1]":       {name: "127.0.0.1", local: true},
		"http://[2001:DB8::1]":            {name: "2001:db8::1", local: true},
		"http://[2606:4700::1]":           {name: "2606:4700::1"},
		"http://0x7f.1":                   {odd: "another form", local: true},
		"http://2130706433":               {odd: "another form", local: true},
		"http://0177.1":                   {odd: "another form", local: true},
		"http://1.2.3.4.5":                {odd: "another form"},
		"http://256.1.1.1":                {odd: "another form"},
		"http://0x":                       {odd: "another form", local: true},
		"http://127.0.0.1.":               {name: "127.0.0.1", local: true},
		"http://[::1%25lo]":               {odd: "encoded characters", local: true},
		"http://[fe80::1%eth0]":           {odd: "encoded characters", local: true},
		"http://127%2e0.0.1":              {odd: "encoded characters", local: true},
		"http://[127.0.0.1]":              {odd: "no address in the brackets", local: true},
		"http://[::1":                     {odd: "no address in the brackets", local: true},
		"http://a..b":                     {odd: "no host's name"},
		"http://a b":                      {odd: "a blank"},
		"http://a\tb":                     {odd: "a blank"},
		"http://a\x00b":                   {odd: "a blank"},
		"http://" + strings.Repeat("a.", 127) + "com": {odd: "no host's name"},
		"http://a:0":           {odd: "no port"},
		"http://a:+80":         {odd: "no port"},
		"http://a:80:90":       {odd: "no port"},
		"http://u@127.0.0.1":   {odd: "user information", local: true},
		"http://127.0.0.1\\@a": {odd: "backslash", local: true},
		"http:/a":              {odd: "without //"},
		"mailto:a@localhost":   {odd: "without //", local: true},
		"//a":                  {odd: "nor a URL with a scheme"},
		"a/b":                  {odd: "nor a URL with a scheme"},
		"h#0://localhost":      {odd: "nor a URL with a scheme"},
		"ftp://a":              {odd: "not http or https"},
		"":                     {odd: "names no host"},
		"http://":              {odd: "names no host"},
		"http://.":             {odd: "names no host"},
	}
	for target, tt := range tests {
		h := permissions.HostOf(target)
		if h.Name != tt.name || (h.Odd == "") != (tt.odd == "") || !strings.Contains(h.Odd, tt.odd) || h.Local != tt.local {
			t.Errorf("%q: %q, odd %q, local %t", target, h.Name, h.Odd, h.Local)
		}
	}
}

// What is told for sure is what the standard library would dial, is read the same
// again, and is denied by a rule on it however it is wrapped.
func FuzzHostOf(f *testing.F) {
	for _, line := range table(f) {
		if _, target, ok := strings.Cut(line.request, ": net "); ok {
			f.Add(target)
		}
	}
	for _, seed := range []string{"http://[::1%25a]", "0x7f.1", "http:/\\a", "a@b@c", "%61", "[", "]:", "::", "\u3002"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		h := permissions.HostOf(target)
		if (h.Name == "") != (h.Odd != "") {
			t.Fatalf("%q: %+v", target, h)
		}
		if h.Odd != "" {
			return
		}
		if again := permissions.HostOf(h.Name); again.Name != h.Name || again.Local != h.Local {
			t.Fatalf("%q is %+v, and then %+v", target, h, again)
		}
		full := target
		if !strings.Contains(full, "://") {
			if _, err := netip.ParseAddr(full); err == nil && strings.Contains(full, ":") {
				full = "[" + full + "]"
			}
			full = "http://" + full
		}
		u, err := url.Parse(full)
		if err != nil {
			return // nothing would be dialled
		}
		dialled := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
		if a, err := netip.ParseAddr(dialled); err == nil {
			dialled = a.Unmap().String()
		}
		if dialled != h.Name {
			t.Fatalf("%q is %q, and dialled is %q", target, h.Name, dialled)
		}
		s := testSetup()
		s.Rules = []permissions.RuleSet{{Deny: permissions.RuleTexts("WebFetch(domain:" + h.Name + ")")}}
		s.Mode = permissions.ModeBypass
		r := permissions.Request{Tool: "Any", Accesses: []permissions.Access{{Kind: permissions.AccessNet, Target: target}}}
		if v := verdict(compile(t, s), r); v != permissions.Deny {
			t.Fatalf("%q is not denied by its own name: %s", target, v)
		}
	})
}
