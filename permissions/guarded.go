package permissions

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// guarded is a place that asks even where a rule allows, but in
// bypassPermissions. Patterns are those of deny rules; ~ is any user's home.
type guarded struct {
	layer    Layer
	patterns []string
	why      string
	// existing says that a sandbox holds what exists of it, and keeps no place for what
	// does not: there are too many of these names.
	existing bool
}

// guardedPlaces is the whole list. Protected places are guarded against
// writing, credentials and devices against reading too. All hold whether the
// file exists or not, and whatever the case of its letters.
var guardedPlaces = []guarded{
	{layer: LayerProtected, patterns: []string{".git", ".gitmodules", ".gitconfig", "~/.config/git", "//etc/gitconfig"},
		why: "git runs programs that its hooks and configuration name"},
	{layer: LayerProtected, patterns: []string{".husky"}, why: "it holds programs that git runs"},
	{layer: LayerProtected, patterns: []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
		".login", ".logout", ".inputrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc",
		"~/.config/fish", "~/.config/environment.d", "~/.config/autostart",
		"//etc/profile", "//etc/profile.d", "//etc/bash.bashrc", "//etc/bashrc", "//etc/environment",
		"//etc/zsh", "//etc/zshrc", "//etc/zshenv", "//etc/zprofile",
	}, why: "a shell or session runs it when it starts"},
	{layer: LayerProtected, patterns: []string{
		"~/.config/systemd/user", "~/.pam_environment", "~/.config/zsh", "~/.bashrc.d", "~/.oh-my-zsh",
		"~/.config/hypr", "~/.config/i3", "~/.config/sway", "~/.local/share/applications",
	}, why: "a shell or session runs it when it starts"},
	{layer: LayerProtected, patterns: []string{"~/.local/bin", "~/bin", "~/.cargo/bin"}, why: "it holds programs that are started by their names"},
	{layer: LayerProtected, patterns: []string{
		"~/.vimrc", "~/.vim", "~/.config/nvim", "~/.emacs", "~/.emacs.d", "~/.config/emacs", "~/.tmux.conf", "~/.config/tmux",
		"~/.screenrc", "~/.gdbinit", "~/.config/gdb", "~/.lldbinit", "~/.hgrc", "~/.config/direnv", "~/.config/mise",
	}, why: "a program runs what it says when it starts"},
	{layer: LayerProtected, patterns: []string{".vscode", ".idea"}, why: "an editor runs what it says"},
	// These hold passwords too, often enough; but no build fetches anything without them.
	{layer: LayerProtected, patterns: []string{
		".npmrc", "~/.config/pip", "~/.cargo/config", "~/.cargo/config.toml", "~/.m2/settings.xml", "~/.gradle/gradle.properties",
	}, why: "it says where packages come from and what runs with them"},
	{layer: LayerProtected, patterns: []string{".mcp.json", "~/.cursor/mcp.json"}, why: "it names programs to start"},
	{layer: LayerProtected, existing: true, why: "it names programs to start", patterns: []string{
		".cursor/mcp.json", ".roo/mcp.json", ".kiro/settings/mcp.json", ".junie/mcp", ".amazonq/mcp.json", ".zed/settings.json",
		".zed/tasks.json", ".continue/mcpServers", ".vs/mcp.json", ".codex/config.toml", ".gemini/settings.json", "opencode.json",
	}},
	{layer: LayerProtected, existing: true, why: "git, the shell or an editor comes to run what it says", patterns: []string{
		".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook.yml", ".lefthook.yaml",
		".lefthook.toml", ".lefthook.json", "lefthook-local.yml", ".lefthook-local.yml", ".config/lefthook.yml", ".lefthook",
		".lefthook-local", ".overcommit.yml", ".envrc", ".devcontainer", ".devcontainer.json", "mise.toml", ".mise.toml", "mise.local.toml",
		".mise.local.toml", ".mise", ".config/mise", ".config/mise.toml", ".exrc", ".nvimrc", ".nvim.lua", ".gdbinit", ".lldbinit",
		".dir-locals.el",
	}},
	{layer: LayerProtected, existing: true, why: "it names programs that builds start", patterns: []string{
		".cargo/config", ".cargo/config.toml", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js", ".yarnrc", ".yarnrc.yml", ".yarn/plugins",
		".yarn/releases",
	}},
	{layer: LayerProtected, patterns: hostSettings, why: "it holds the host's own settings and plugins"},

	{layer: LayerCredentials, patterns: []string{"~/.config/toolquay", "~/.local/share/toolquay", "~/.local/state/toolquay"}, why: hostWhy},
	{layer: LayerCredentials, patterns: []string{
		"~/.ssh", "//etc/ssh/ssh_host_*_key", "~/.gnupg", "~/.password-store",
		"~/.local/share/keyrings", "~/.local/share/kwalletd", "~/Library/Keychains", "//Library/Keychains",
		"~/.netrc", "~/_netrc", "~/.git-credentials", "~/.config/git/credentials", "~/.pgpass", "~/.my.cnf",
		"~/.aws", "~/.azure", "~/.config/gcloud", "~/.kube", "~/.docker/config.json",
		"~/.config/gh", "~/.config/glab-cli", "~/.config/hub", "~/.config/containers/auth.json", "~/.config/helm/registry",
		"~/.vault-token", "~/.terraform.d", "~/.config/rclone", "~/.config/sops/age", "~/.config/op",
		"~/.config/doctl", "~/.config/hcloud", "~/.config/heroku", "~/.config/netlify", "~/.config/stripe", "~/.fly/config.yml",
		"~/.oci", "~/.databrickscfg", "~/.snowsql", "~/.s3cfg", "~/.boto",
		"~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.pypirc", "~/.m2/settings-security.xml",
		"~/.composer/auth.json", "~/.config/composer/auth.json",
		"~/.claude.json", "~/.claude/.credentials.json", "~/.codex/auth.json",
		"//etc/shadow", "//etc/shadow-", "//etc/gshadow", "//etc/gshadow-", "//etc/sudoers", "//etc/sudoers.d",
		"//etc/ssl/private", "//etc/pki/tls/private", "//etc/letsencrypt", "//etc/openvpn", "//etc/mysql/debian.cnf",
		"//var/lib/tailscale", "//run/secrets", "//var/run/secrets",
	}, why: "it holds keys or passwords"},
	{layer: LayerCredentials, patterns: []string{
		"~/.mozilla", "~/.thunderbird", "~/.librewolf", "~/snap/firefox", "~/snap/chromium",
		"~/.config/google-chrome", "~/.config/google-chrome-beta", "~/.config/chromium", "~/.config/BraveSoftware",
		"~/.config/microsoft-edge", "~/.config/opera", "~/.config/vivaldi",
		"~/Library/Application Support/Firefox", "~/Library/Application Support/Google/Chrome", "~/Library/Cookies",
	}, why: "a browser keeps passwords and sessions in it"},
	{layer: LayerCredentials, patterns: []string{
		"~/.bash_history", "~/.zsh_history", "~/.sh_history", "~/.history", "~/.local/share/fish/fish_history",
		"~/.python_history", "~/.node_repl_history", "~/.psql_history", "~/.mysql_history", "~/.rediscli_history",
		"~/.local/share/powershell/PSReadLine",
	}, why: "passwords that were typed may stand in it"},
	{layer: LayerCredentials, patterns: []string{"//proc/**/environ"}, why: "the environment of a process may hold secrets"},
	{layer: LayerCredentials, patterns: []string{"//proc/**/mem", "//proc/kcore", "//proc/**/root", "//proc/**/cwd", "//proc/**/fd"},
		why: "it leads into other processes"},
	{layer: LayerCredentials, patterns: []string{"//dev"}, why: "it is a device"},
}

// hostSettings are what the host reads in a project.
var hostSettings = []string{".toolquay", ".claude/settings.json", ".claude/settings.local.json"}

// homes are where users' homes lie on the systems known, for credential stores
// of others than the one at the keyboard.
var homes = [][]segment{
	{{text: "root"}},
	{{text: "home"}, anySegment},
	{{text: "Users"}, anySegment},
	{{text: "var"}, {text: "root"}},
}

type guardPattern struct {
	pattern
	place *guarded
}

// guards finds the guarded places of a path by a literal component of theirs,
// so that a path which has none costs a look-up each and no more.
type guards map[string][]guardPattern

// parsedGuards is guardedPlaces parsed, in the same order, with all that lies below.
var parsedGuards = sync.OnceValue(func() [][]*pathSpec {
	out := make([][]*pathSpec, len(guardedPlaces))
	for i, place := range guardedPlaces {
		for _, text := range place.patterns {
			// A test holds that every pattern of the table parses.
			if spec, err := parsePattern(text); err == nil {
				spec.segs = coverAll(spec.segs)
				out[i] = append(out[i], spec)
			}
		}
	}
	return out
})

// hostWhy guards what the host keeps: who reads its grants, its log of decisions and
// its rules knows what to try.
const hostWhy = "it holds the host's own settings, plugins and records"

// hostPlace guards the folders the embedder says are the host's own.
var hostPlace = guarded{layer: LayerCredentials, why: hostWhy}

// sessionsPlace guards what sessions keep from one another; see [Policy.guardedName].
var sessionsPlace = guarded{layer: LayerCredentials, why: "it holds what other sessions keep"}

// commonGuards is what is guarded wherever a session's home is.
var commonGuards = sync.OnceValue(func() guards {
	g := make(guards)
	for i, specs := range parsedGuards() {
		for _, spec := range specs {
			g.addCommon(&guardedPlaces[i], spec)
		}
	}
	for key, list := range g {
		g[key] = slices.Clip(list) // it is shared: a longer one is a new one
	}
	return g
})

func newGuards(home, sessions Dir, hostFolders []Dir) guards {
	g := maps.Clone(commonGuards())
	for i, specs := range parsedGuards() {
		for _, spec := range specs {
			if spec.anchor != anchorHome {
				continue
			}
			for _, form := range home.forms() {
				g.add(&guardedPlaces[i], append(literals(form), spec.segs...))
			}
		}
	}
	for _, dir := range hostFolders {
		for _, form := range dir.forms() {
			g.add(&hostPlace, literals(form))
		}
	}
	for _, form := range sessions.forms() {
		g.add(&sessionsPlace, literals(form))
	}
	return g
}

func (g guards) addCommon(place *guarded, spec *pathSpec) {
	switch spec.anchor {
	case anchorHome:
		for _, prefix := range homes {
			g.add(place, append(slices.Clip(prefix), spec.segs...))
		}
	case anchorRoot:
		g.add(place, spec.segs)
	default:
		g.add(place, deepen(spec.segs))
	}
}

func (g guards) add(place *guarded, segs []segment) {
	key := ""
	for _, s := range segs {
		if s.literal() {
			key = paths.Fold(s.text)
		}
	}
	g[key] = append(g[key], guardPattern{newPattern("", coverAll(segs), true), place})
}

// find returns the guarded place a path lies in, or nil. Credentials come
// before what is only protected; of several the deepest says most.
func (g guards) find(path string, write bool) *guarded {
	var found *guarded
	rest := strings.TrimPrefix(path, "/")
	for rest != "" {
		var name string
		name, rest = paths.Cut(rest)
		candidates := g[paths.Fold(name)]
		for i := range candidates {
			c := &candidates[i]
			if !write && c.place.layer == LayerProtected || !c.match(path) {
				continue
			}
			if c.place.layer == LayerCredentials || found == nil || found.layer != LayerCredentials {
				found = c.place
			}
		}
	}
	return found
}

// deep reports whether a place that is guarded at any depth is found by a name.
func (g guards) deep(name string) bool {
	for _, c := range g[paths.Fold(name)] {
		if c.base == "" && len(c.segs) > 0 && c.segs[0].deep {
			return true
		}
	}
	return false
}
