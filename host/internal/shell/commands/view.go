package commands

import (
	"errors"
	"io/fs"
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

// homeView is what tools have in a home for all projects: programs and settings that hold no
// credentials, and what they keep, such as what they downloaded.
var homeView = []struct {
	why         string
	names, kept []string
}{
	{"git: who commits, and what it leaves out", []string{".gitconfig", ".config/git", ".gitignore", ".gitignore_global", ".gitattributes"}, nil},
	{
		"Go: go env -w; modules, what was built", []string{".config/go", "sdk", "go/bin"},
		[]string{"go", ".cache/go-build", ".cache/golangci-lint", ".cache/staticcheck"},
	},
	{"Rust: toolchains, where crates come from; crates", []string{".rustup", ".cargo/bin", ".cargo/env", ".cargo/config", ".cargo/config.toml"}, []string{
		".cargo/registry", ".cargo/git", ".cache/sccache",
	}},
	{"Node: versions; packages, browsers of tests", []string{
		".nvm", ".fnm", ".local/share/fnm", ".volta", ".local/share/pnpm", ".bun", ".deno",
	}, []string{
		".npm", ".cache/node", ".cache/node-gyp", ".cache/yarn", ".yarn/berry", ".cache/pnpm", ".pnpm-store", ".cache/deno",
		".cache/ms-playwright", ".cache/puppeteer", ".cache/Cypress",
	}},
	{"Python: versions, environments; wheels", []string{
		".pyenv", ".local/share/uv", ".local/lib", ".local/pipx", ".local/share/pipx", ".virtualenvs", ".local/share/virtualenvs",
		"miniconda3", "anaconda3", "miniforge3",
	}, []string{".cache/pip", ".cache/uv", ".cache/pypoetry", ".cache/pre-commit", ".conda/pkgs"}},
	{"Java: versions; artefacts", []string{".sdkman", ".jdks"}, []string{
		".m2/repository", ".m2/wrapper", ".gradle/caches", ".gradle/wrapper", ".gradle/jdks",
	}},
	{"Ruby, PHP, .NET, Haskell, OCaml, Julia, Elixir", []string{
		".rbenv", ".rvm", ".gem/ruby", ".local/share/gem", ".dotnet", ".ghcup", ".opam", ".mix",
	}, []string{".bundle/cache", ".cache/composer", ".nuget/packages", ".cabal/packages", ".stack", ".julia", ".hex/packages"}},
	{"managers of several languages", []string{".asdf", ".local/share/mise", ".nix-profile"}, []string{".cache/bazel", ".cache/ccache", ".ccache"}},
	{"macOS: programs and settings of tools; what they keep apart there", []string{
		"Library/pnpm", "Library/Python", "Library/Java/JavaVirtualMachines", "Library/Application Support/fnm",
		"Library/Application Support/go/env", "Library/Fonts",
	}, []string{
		"Library/Caches/go-build", "Library/Caches/golangci-lint", "Library/Caches/pip", "Library/Caches/pypoetry", "Library/Caches/Yarn",
		"Library/Caches/deno", "Library/Caches/ms-playwright", "Library/Caches/Cypress", "Library/Caches/node-gyp", "Library/Caches/composer",
	}},
	{"how terminals and texts look", []string{".terminfo", ".fonts", ".local/share/fonts"}, nil},
}

// namedView are variables that say where tools have such things, if commands get them.
var namedView = []struct {
	variable, below string
	kept            bool
}{
	{"GOPATH", "bin", false}, {"GOPATH", "", true}, {"GOMODCACHE", "", true}, {"GOCACHE", "", true}, {"GOROOT", "", false},
	{"CARGO_HOME", "bin", false}, {"CARGO_HOME", "registry", true}, {"CARGO_HOME", "git", true}, {"RUSTUP_HOME", "", false},
	{"NVM_DIR", "", false}, {"npm_config_cache", "", true}, {"PYENV_ROOT", "", false}, {"VIRTUAL_ENV", "", false}, {"CONDA_PREFIX", "", false},
	{"PIP_CACHE_DIR", "", true}, {"UV_CACHE_DIR", "", true}, {"JAVA_HOME", "", false}, {"PATH", "", false},
}

// baseView is what every command sees of a machine, whether or not it is there: what tools
// need of a home, and what the environment of commands names. Kept adds what tools keep: a
// command that only reads, from files that are only known when it runs, has no need of it.
func baseView(home string, environment []string, kept bool) []string {
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
	names := homeNames(kept)
	for _, name := range names {
		add(home, name)
		for below, variable := range map[string]string{".cache/": "XDG_CACHE_HOME", ".config/": "XDG_CONFIG_HOME", ".local/share/": "XDG_DATA_HOME"} {
			if rest, ok := strings.CutPrefix(name, below); ok {
				add(variables[variable], rest)
			}
		}
	}
	for _, dir := range filepath.SplitList(variables["PATH"]) {
		for _, name := range names { // programs of a tool that lies in another home
			if above, _, ok := strings.Cut(dir+"/", "/"+name+"/"); ok {
				add(above, name)
			}
		}
	}
	for _, named := range namedView {
		for _, dir := range filepath.SplitList(variables[named.variable]) {
			if (kept || !named.kept) && !paths.Below(home, dir) && !slices.Contains(never, filepath.Clean(dir)) {
				add(dir, named.below)
			}
		}
	}
	slices.Sort(view)
	return slices.Compact(view)
}

// homeNames are the names of homeView, with those of what tools keep or without.
func homeNames(kept bool) (names []string) {
	for _, tool := range homeView {
		names = append(names, tool.names...)
		if kept {
			names = append(names, tool.kept...)
		}
	}
	return names
}

// never are directories that nobody means to be seen whole, though a variable names them.
var never = []string{"/", "/home", "/root", "/var", "/srv", "/mnt", "/media", "/tmp", "/data", "/run", "/proc", "/dev", "/boot"}

// see settles what a command sees: what programs need, and what may be read unasked. Writes says
// that it may write.
func (m *policyMaker) see(p *capability.SandboxPolicy, writes bool) {
	names, all := m.policy.Readable()
	if all {
		return
	}
	p.Visible = slices.Clone(m.options.base(writes))
	for _, name := range names {
		// A link counts where a rule allows what it leads to, too.
		at := m.files.Locate(name)
		if !slices.ContainsFunc(names, func(dir string) bool { return paths.Below(at.Path, dir) }) {
			continue
		}
		p.Visible = append(p.Visible, name)
		if !errors.Is(at.Err, fs.ErrNotExist) {
			m.readable = append(m.readable, name)
		}
	}
}
