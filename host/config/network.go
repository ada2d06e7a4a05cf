package config

import (
	"net/url"
	"sync"
	"time"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// ProxyOf returns the proxy that settings name for what this process connects to itself, or
// nil.
func ProxyOf(loaded *settings.Loaded) *url.URL {
	text := loaded.Network.Proxy.Value
	u, err := url.Parse(text)
	if text == "" || err != nil { // which settings report
		return nil
	}
	return u
}

// NamedHosts returns a function that reports whether an allow rule of the settings names a
// host, and not by a wildcard: only then what this process connects to itself may be on a
// private network, unless its URL in the settings says so by its spelling.
func NamedHosts(loaded *settings.Loaded) func(host string) bool {
	policy := sync.OnceValue(func() *permissions.Policy {
		var setup permissions.Setup
		loaded.Fill(&setup)
		allowed := permissions.Setup{OnlyPolicyRules: setup.OnlyPolicyRules, Now: time.Now()}
		allowed.Cwd = permissions.Dir{Path: "/"} // which no rule on hosts sees
		for _, set := range setup.Rules {
			allowed.Rules = append(allowed.Rules, permissions.RuleSet{Source: set.Source, File: set.File, Allow: set.Allow})
		}
		policy, _, _ := permissions.Compile(allowed) // what is wrong with allow rules is only a warning
		return policy
	})
	return func(host string) bool {
		p := policy()
		return p != nil && p.NamesHost(host)
	}
}
