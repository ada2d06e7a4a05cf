package shell

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// hints are the settings that would have let a command do what the sandbox kept it from.
type hints struct {
	// network says that commands are to reach hosts at all.
	network bool
	// writable are directories, and rules allow rules.
	writable, rules []string
}

// text is the hints as TOML, which a user can put into a settings file; empty where there
// are none. Nothing stands behind its last line but the name of the file.
func (h *hints) text(file string) string {
	var sandbox, permissions []string
	if h.network {
		sandbox = append(sandbox, `network = "hosts"`)
	}
	if len(h.writable) > 0 {
		sandbox = append(sandbox, "writable = "+tomlList(h.writable))
	}
	if len(h.rules) > 0 {
		permissions = append(permissions, "allow = "+tomlList(h.rules))
	}
	text := tomlTable("sandbox", sandbox) + tomlTable("permissions", permissions)
	if text == "" {
		return ""
	}
	return "The user can open it with:\n" + text + "in " + cmp.Or(file, "the settings")
}

func tomlTable(name string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "[" + name + "]\n" + strings.Join(lines, "\n") + "\n"
}

func tomlList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// addRule adds the rule that opens a host.
func (h *hints) addRule(host string) { h.rules = append(h.rules, "WebFetch(domain:"+host+")") }

// systemDirs are no places to open to commands.
var systemDirs = []string{"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/boot", "/dev", "/proc", "/sys", "/run", "/var/run"}

// addWritable adds the directory of the last path of some that the command may have been kept
// from writing, if it is one that can be opened by itself, as a home is not. Programs name
// themselves first.
func (h *hints) addWritable(refused []string, held *confinement, home string) {
	for _, path := range slices.Backward(refused) {
		if !isDir(path) {
			path = filepath.Dir(path)
		}
		holds := func(dir string) bool { return inside(dir, []string{path}) }
		if !filepath.IsAbs(path) || !isDir(path) || inside(path, held.Working) || inside(path, systemDirs) || slices.ContainsFunc(append(slices.Clip(held.Working), held.Temp, home), holds) {
			continue
		}
		// Go's quotes are TOML's where nothing needs an escape of its own.
		if strconv.Quote(path) == `"`+path+`"` {
			h.writable = append(h.writable, path)
		}
		return
	}
}
