package proxy

import (
	"slices"
	"strings"
)

// proxyNames are the variables that programs find their proxy by. Some read only
// one case of them.
var proxyNames = []string{"http_proxy", "https_proxy", "ftp_proxy", "all_proxy"}

// Environment is an environment in which the proxy at addr is the way out. What goes without
// the proxy, in no_proxy, is the caller's to say.
func Environment(env []string, addr string) []string {
	_, port, _ := strings.Cut(addr, ":") // of IPv4
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		lower := strings.ToLower(name)
		odd := lower == "no_proxy" && name != lower && name != "NO_PROXY" // some programs read it
		return odd || slices.Contains(proxyNames, lower)
	})
	for i, entry := range env {
		if strings.HasPrefix(entry, JavaOptions+"=") {
			env[i] = strings.ReplaceAll(entry, PortMark, port)
		}
	}
	web, socks := "http://"+addr, "socks5h://"+addr
	for _, name := range proxyNames {
		value := web
		if name == "all_proxy" {
			value = socks
		}
		env = append(env, name+"="+value, strings.ToUpper(name)+"="+value)
	}
	return append(env, "NODE_USE_ENV_PROXY=1") // for fetch
}
