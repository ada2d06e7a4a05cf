package settings

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

func (p *parser) shell() Shell {
	in := &p.in.Shell
	timeout := p.span("shell.default_timeout", in.DefaultTimeout, 0, maxShellTimeout)
	most := p.span("shell.max_timeout", in.MaxTimeout, 0, maxShellTimeout)
	if p.doc.Has("shell.default_timeout") && p.doc.Has("shell.max_timeout") && timeout > most {
		p.fault("shell.max_timeout", "it is less than the default of %v", timeout)
	}
	p.oneOf("shell.at_limit", in.AtLimit, AtLimitBackground, AtLimitKill)
	for i, name := range in.Environment {
		p.variables(fmt.Sprintf("shell.environment[%d]", i), name)
	}
	p.program("shell.bash", in.Bash)
	p.program("shell.powershell", in.PowerShell)
	return Shell{
		DefaultTimeout: keyOf(p, "shell.default_timeout", timeout),
		MaxTimeout:     keyOf(p, "shell.max_timeout", most),
		Budget:         keyOf(p, "shell.budget", p.span("shell.budget", in.Budget, 0, maxShellTimeout)),
		AtLimit:        keyOf(p, "shell.at_limit", in.AtLimit),
		Environment:    keyOf(p, "shell.environment", in.Environment),
		MaxBackground:  p.between("shell.max_background", in.MaxBackground, 0, maxBackground),
		MaxOutput:      p.size("shell.max_output", in.MaxOutput, minOutput, maxOutput),
		Bash:           keyOf(p, "shell.bash", in.Bash),
		PowerShell:     keyOf(p, "shell.powershell", in.PowerShell),
	}
}

func (p *parser) sandbox() Sandbox {
	in := &p.in.Sandbox
	p.oneOf("sandbox.mode", in.Mode, SandboxOff, SandboxWhenAvailable, SandboxRequired)
	p.oneOf("sandbox.network", in.Network, NetworkOff, NetworkHosts, NetworkAll)
	for i, host := range in.Hosts {
		p.host(fmt.Sprintf("sandbox.hosts[%d]", i), host)
	}
	for i, dir := range in.Writable {
		key := fmt.Sprintf("sandbox.writable[%d]", i)
		p.directory(key, dir)
		if filepath.Clean(dir) == "/" {
			p.fault(key, "it is everything; write mode = \"off\" if there is to be no sandbox")
		}
	}
	return Sandbox{
		Mode:         keyOf(p, "sandbox.mode", in.Mode),
		Network:      keyOf(p, "sandbox.network", in.Network),
		Hosts:        keyOf(p, "sandbox.hosts", in.Hosts),
		Writable:     keyOf(p, "sandbox.writable", in.Writable),
		MaxProcesses: p.between("sandbox.max_processes", in.MaxProcesses, minProcesses, maxBound),
		MaxMemory:    p.size("sandbox.max_memory", in.MaxMemory, minMemory, maxMemory),
		MaxOpenFiles: p.between("sandbox.max_open_files", in.MaxOpenFiles, minOpenFiles, maxOpenMax),
	}
}

// variables checks a name of environment variables, with * at its end for all that
// begin so. A mere * would hand every secret of the host on.
func (p *parser) variables(key, name string) {
	begin, _ := strings.CutSuffix(name, "*")
	switch {
	case name == "*":
		p.fault(key, "it is all there are, secrets too; write names, or how they begin, such as NVM_*")
	case !variable(begin) || keyLike(begin):
		p.fault(key, "this is no name of an environment variable, such as GOPATH or NVM_*")
	}
}

// program checks the name of a program. One relative to a directory would be another
// program in each.
func (p *parser) program(key, name string) {
	switch {
	case !p.doc.Has(key):
	case name == "" || strings.ContainsRune(name, 0):
		p.fault(key, "it names no program")
	case strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name):
		p.fault(key, "%.100q is neither a name without a directory nor an absolute path", name)
	}
}

// host checks the name of a host, or of all below one.
func (p *parser) host(key, name string) {
	below, _ := strings.CutPrefix(name, "*.")
	if h := permissions.HostOf(below); h.Odd != "" || h.Name != below || !hostName().MatchString(below) {
		p.fault(key, "%.100q is no host such as example.com, nor *.example.com for all below it", name)
	}
}

// hostName is a name or an address, without a port.
var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_.-]+$|^\[?[0-9a-f:.]+\]?$`) })

func (p *parser) size(key string, n abi.Size, least, most int64) Key[abi.Size] {
	if p.doc.Has(key) && (n < abi.Size(least) || n > abi.Size(most)) {
		p.fault(key, "%v is not from %v to %v", n, abi.Size(least), abi.Size(most))
	}
	return keyOf(p, key, n)
}

// between reads a number from least to most.
func (p *parser) between(key string, n, least, most int) Key[int] {
	if p.doc.Has(key) && (n < least || n > most) {
		p.fault(key, "%d is not from %d to %d", n, least, most)
	}
	return keyOf(p, key, n)
}
