package commands

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
)

// systemView is what programs need of the machine, by its system. What of it only root may
// read, a sandbox on Linux hides.
var systemView = map[string][]string{"linux": linuxView, "darwin": macView}[runtime.GOOS]

var linuxView = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/sys",
	"/opt", "/nix", "/gnu", "/snap", // programs that are installed apart
	"/home/linuxbrew/.linuxbrew", "/var/lib/flatpak", "/var/lib/snapd/snap",
	"/var/lib/dpkg", "/var/lib/rpm", "/var/lib/pacman", "/lib/apk", // what is installed
	"/var/lib/ca-certificates", "/var/cache/fontconfig", "/var/cache/man", // what /etc and /usr lead to
}

// macView lists directories of macOS, by their paths without links too. Of /Library it names
// what belongs to programs and not to people.
var macView = []string{
	"/usr", "/bin", "/sbin", "/etc", "/private/etc", "/opt", "/nix", "/System",
	"/Library/Apple", "/Library/Developer", "/Library/Fonts", "/Library/Frameworks", "/Library/Java", "/Library/Perl", "/Library/Python", "/Library/Ruby",
	"/Applications/Xcode.app", "/private/var/db/dyld", "/private/var/db/timezone", "/private/var/db/xcode_select_link", "/private/var/select",
	"/var/db/dyld", "/var/db/timezone", "/var/db/xcode_select_link", "/var/select",
}

// homeView is what tools keep in a home for all projects: programs, what they downloaded,
// and settings that hold no credentials.
var homeView = []struct {
	why   string
	names []string
}{
	{"git: who commits, and what it leaves out", []string{".gitconfig", ".config/git", ".gitignore", ".gitignore_global", ".gitattributes"}},
	{"Go: modules, what was built, go env -w", []string{"go", ".cache/go-build", ".config/go", ".cache/golangci-lint", ".cache/staticcheck", "sdk"}},
	{"Rust: toolchains, crates, where they come from", []string{
		".rustup", ".cargo/bin", ".cargo/env", ".cargo/registry", ".cargo/git", ".cargo/config", ".cargo/config.toml", ".cache/sccache",
	}},
	{"Node: versions, packages, browsers of tests", []string{
		".nvm", ".fnm", ".local/share/fnm", ".volta", ".npm", ".cache/node", ".cache/node-gyp", ".cache/yarn", ".yarn/berry", ".cache/pnpm",
		".local/share/pnpm", ".pnpm-store", ".bun", ".deno", ".cache/deno", ".cache/ms-playwright", ".cache/puppeteer", ".cache/Cypress",
	}},
	{"Python: versions, environments, wheels", []string{
		".pyenv", ".cache/pip", ".cache/uv", ".local/share/uv", ".local/lib", ".local/pipx", ".local/share/pipx", ".virtualenvs",
		".local/share/virtualenvs", ".cache/pypoetry", ".cache/pre-commit", ".conda/pkgs", "miniconda3", "anaconda3", "miniforge3",
	}},
	{"Java: versions, artefacts", []string{".sdkman", ".jdks", ".m2/repository", ".m2/wrapper", ".gradle/caches", ".gradle/wrapper", ".gradle/jdks"}},
	{"Ruby, PHP, .NET, Haskell, OCaml, Julia, Elixir", []string{
		".rbenv", ".rvm", ".gem/ruby", ".local/share/gem", ".bundle/cache", ".cache/composer", ".dotnet", ".nuget/packages", ".ghcup",
		".cabal/packages", ".stack", ".opam", ".julia", ".mix", ".hex/packages",
	}},
	{"managers of several languages", []string{".asdf", ".local/share/mise", ".nix-profile", ".cache/bazel", ".cache/ccache", ".ccache"}},
	{"macOS: what tools keep apart there", []string{
		"Library/Caches/go-build", "Library/Caches/golangci-lint", "Library/Caches/pip", "Library/Caches/pypoetry", "Library/Caches/Yarn", "Library/Caches/deno",
		"Library/Caches/ms-playwright", "Library/Caches/Cypress", "Library/Caches/node-gyp", "Library/Caches/composer", "Library/pnpm", "Library/Python",
		"Library/Java/JavaVirtualMachines", "Library/Application Support/fnm", "Library/Application Support/go/env", "Library/Fonts",
	}},
	{"how terminals and texts look", []string{".terminfo", ".fonts", ".local/share/fonts"}},
}

// namedView are variables that say where tools keep such things, if commands get them.
var namedView = []struct{ variable, below string }{
	{"GOPATH", ""}, {"GOMODCACHE", ""}, {"GOCACHE", ""}, {"GOROOT", ""}, {"CARGO_HOME", "bin"}, {"CARGO_HOME", "registry"}, {"CARGO_HOME", "git"},
	{"RUSTUP_HOME", ""}, {"NVM_DIR", ""}, {"npm_config_cache", ""}, {"PYENV_ROOT", ""}, {"VIRTUAL_ENV", ""}, {"CONDA_PREFIX", ""},
	{"PIP_CACHE_DIR", ""}, {"UV_CACHE_DIR", ""}, {"JAVA_HOME", ""}, {"PATH", ""},
}

// baseView is what every command sees of a machine, whether or not it is there: what tools
// need of a home, and what the environment of commands names.
func baseView(home string, environment []string) []string {
	view := slices.Clone(systemView)
	variables := make(map[string]string, len(environment))
	for _, setting := range environment {
		name, value, _ := strings.Cut(setting, "=")
		variables[name] = value
	}
	add := func(dir, name string) {
		if filepath.IsAbs(dir) {
			view = append(view, filepath.Join(dir, name))
		}
	}
	for _, tool := range homeView {
		for _, name := range tool.names {
			add(home, name)
			for below, variable := range map[string]string{".cache/": "XDG_CACHE_HOME", ".config/": "XDG_CONFIG_HOME", ".local/share/": "XDG_DATA_HOME"} {
				if rest, ok := strings.CutPrefix(name, below); ok {
					add(variables[variable], rest)
				}
			}
		}
	}
	for _, dir := range filepath.SplitList(variables["PATH"]) {
		for _, tool := range homeView { // programs of a tool that lies in another home
			for _, name := range tool.names {
				if above, _, ok := strings.Cut(dir+"/", "/"+name+"/"); ok {
					add(above, name)
				}
			}
		}
	}
	for _, named := range namedView {
		for _, dir := range filepath.SplitList(variables[named.variable]) {
			if !paths.Below(home, dir) && !slices.Contains(never, filepath.Clean(dir)) {
				add(dir, named.below)
			}
		}
	}
	slices.Sort(view)
	return slices.Compact(view)
}

// never are directories that nobody means to be seen whole, though a variable names them.
var never = []string{"/", "/home", "/root", "/var", "/srv", "/mnt", "/media", "/tmp", "/data", "/run", "/proc", "/dev", "/boot"}

// see settles what a command sees: what programs need, and what may be read unasked.
func (m *policyMaker) see(p *capability.SandboxPolicy) {
	names, all := m.policy.Readable()
	if all {
		return
	}
	p.Visible = slices.Clone(m.options.base())
	for _, name := range names {
		// A link counts where a rule allows what it leads to, too.
		if really := m.resolver.Follow(name); slices.ContainsFunc(names, func(dir string) bool { return paths.Below(really, dir) }) {
			p.Visible = append(p.Visible, name)
			m.readable = append(m.readable, name)
		}
	}
}
