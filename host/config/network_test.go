package config_test

import (
	"testing"

	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

func TestNamedHosts(t *testing.T) {
	t.Parallel()
	loaded := &settings.Loaded{Rules: []permissions.RuleSet{
		{Source: permissions.SourceUser, Allow: permissions.RuleTexts("WebFetch", "WebFetch(domain:judge.corp.example)", "WebFetch(domain:10.0.0.1)", "WebFetch(", "Read(~/x)"), Deny: permissions.RuleTexts("Read(~/y)")},
	}}
	named := config.NamedHosts(loaded)
	for host, want := range map[string]bool{"judge.corp.example": true, "10.0.0.1": true, "other.corp.example": false, "localhost": false, "": false} {
		if got := named(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}

func TestProxyOf(t *testing.T) {
	t.Parallel()
	var loaded settings.Loaded
	if u := config.ProxyOf(&loaded); u != nil {
		t.Errorf("got %v", u)
	}
	loaded.Network.Proxy.Value = "http://proxy.example:3128"
	if u := config.ProxyOf(&loaded); u == nil || u.Host != "proxy.example:3128" {
		t.Errorf("got %v", u)
	}
}
