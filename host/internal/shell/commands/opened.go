package commands

import (
	"context"
	"os"
	"slices"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/permissions"
)

// opened returns the paths outside of the working directories that a person allowed a call to
// change, as they really lie: files that exist, and directories that were allowed with all in
// them. A file that does not exist yet could only be made in a directory that is open as a
// whole, which is more than the person was asked for.
func opened(approved []permissions.Access, p *capability.SandboxPolicy) []string {
	var out []string
	for _, a := range approved {
		if a.Kind != permissions.AccessWrite || a.Glob != "" || a.Real == "" || below(p, a.Real) {
			continue
		}
		info, err := os.Lstat(a.Real)
		if err != nil || !info.Mode().IsRegular() && (!info.IsDir() || !a.Tree || a.Real == "/") {
			continue
		}
		if !slices.Contains(out, a.Real) {
			out = append(out, a.Real)
		}
	}
	return out
}

// below reports whether a command may write a path as it is.
func below(p *capability.SandboxPolicy, name string) bool {
	return slices.ContainsFunc(append(slices.Clip(p.Working), p.Temp), func(dir string) bool { return paths.Below(name, dir) })
}

func isFile(name string) bool {
	info, err := os.Lstat(name)
	return err != nil || !info.IsDir()
}

// openHosts says which hosts the command may reach: those that rules and options allow, where
// commands reach hosts at all, and those that a person allowed this call. What it sets holds
// on to nothing else, and goes by rules that come while the command runs.
func (m *policyMaker) openHosts(p *capability.SandboxPolicy) {
	c, o := m.call, m.options
	allowed := hostsOf(c.Gate.Approved())
	byRule := o.Shell.Network == sandbox.NetworkHosts
	p.HostsApproved = len(allowed) > 0
	p.HostsOpened = p.HostsApproved || byRule && (len(o.Hosts) > 0 || m.policy.ReachesHosts(c.Tool))
	p.Host = func(_ context.Context, host string) bool {
		policy := c.Gate.Policy()
		if slices.Contains(allowed, permissions.HostOf(host).Name) {
			return !policy.DeniesHost(c.Tool, host)
		}
		ok, _ := policy.ReachableHost(c.Tool, host)
		return byRule && (ok || o.reaches(policy, c.Tool, host))
	}
	p.Denies = func(host string) bool { return c.Gate.Policy().DeniesHost(c.Tool, host) }
	p.Local = func(host string) bool {
		h := permissions.HostOf(host)
		return c.Gate.Policy().NamesHost(host) || h.Local && slices.Contains(allowed, h.Name)
	}
}

// hostsOf are the names of the hosts among accesses.
func hostsOf(accesses []permissions.Access) []string {
	var names []string
	for _, a := range accesses {
		if a.Kind != permissions.AccessNet {
			continue
		}
		if h := permissions.HostOf(a.Target); h.Odd == "" {
			names = append(names, h.Name)
		}
	}
	return names
}
