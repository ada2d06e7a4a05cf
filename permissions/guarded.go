package permissions

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// guarded is a place that asks even where a rule allows, but in
// bypassPermissions. Patterns are those of deny rules; ~ is any user's home.
type guarded struct {
	layer    Layer
	patterns []string
	why      string
}

// guardedPlaces is the whole list. Protected places are guarded against
// writing, credentials and devices against reading too. All hold whether the
// file exists or not, and whatever the case of its letters.
var guardedPlaces = []guarded{
	{LayerProtected, []string{".git", ".gitmodules", ".gitconfig", "~/.config/git", "//etc/gitconfig"},
		"git runs programs that its hooks and configuration name"},
	{LayerProtected, []string{".husky"}, "it holds programs that git runs"},
	{LayerProtected, []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
		".login", ".logout", ".inputrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc",
		"~/.config/fish", "~/.config/environment.d", "~/.config/autostart",
		"//etc/profile", "//etc/profile.d", "//etc/bash.bashrc", "//etc/bashrc", "//etc/environment",
		"//etc/zsh", "//etc/zshrc", "//etc/zshenv", "//etc/zprofile",
	}, "a shell or session runs it when it starts"},
	{LayerProtected, []string{
		"~/.config/systemd/user", "~/.pam_environment", "~/.config/zsh", "~/.bashrc.d", "~/.oh-my-zsh",
		"~/.config/hypr", "~/.config/i3", "~/.config/sway", "~/.local/share/applications",
	}, "a shell or session runs it when it starts"},
	{LayerProtected, []string{"~/.local/bin", "~/bin", "~/.cargo/bin"}, "it holds programs that are started by their names"},
	{LayerProtected, []string{
		"~/.vimrc", "~/.vim", "~/.config/nvim", "~/.emacs", "~/.emacs.d", "~/.config/emacs", "~/.tmux.conf", "~/.config/tmux",
		"~/.screenrc", "~/.gdbinit", "~/.config/gdb", "~/.lldbinit", "~/.hgrc", "~/.config/direnv", "~/.config/mise",
	}, "a program runs what it says when it starts"},
	{LayerProtected, []string{".vscode", ".idea"}, "an editor runs what it says"},
	// These hold passwords too, often enough; but no build fetches anything without them.
	{LayerProtected, []string{
		".npmrc", "~/.config/pip", "~/.cargo/config", "~/.cargo/config.toml", "~/.m2/settings.xml", "~/.gradle/gradle.properties",
	}, "it says where packages come from and what runs with them"},
	{LayerProtected, []string{".mcp.json", "~/.cursor/mcp.json"}, "it names programs to start"},
	{LayerProtected, []string{".toolquay", ".claude/settings.json", ".claude/settings.local.json"},
		"it holds the host's own settings and plugins"},

	{LayerCredentials, []string{"~/.config/toolquay", "~/.local/share/toolquay", "~/.local/state/toolquay"}, hostWhy},
	{LayerCredentials, []string{
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
	}, "it holds keys or passwords"},
	{LayerCredentials, []string{
		"~/.mozilla", "~/.thunderbird", "~/.librewolf", "~/snap/firefox", "~/snap/chromium",
		"~/.config/google-chrome", "~/.config/google-chrome-beta", "~/.config/chromium", "~/.config/BraveSoftware",
		"~/.config/microsoft-edge", "~/.config/opera", "~/.config/vivaldi",
		"~/Library/Application Support/Firefox", "~/Library/Application Support/Google/Chrome", "~/Library/Cookies",
	}, "a browser keeps passwords and sessions in it"},
	{LayerCredentials, []string{
		"~/.bash_history", "~/.zsh_history", "~/.sh_history", "~/.history", "~/.local/share/fish/fish_history",
		"~/.python_history", "~/.node_repl_history", "~/.psql_history", "~/.mysql_history", "~/.rediscli_history",
		"~/.local/share/powershell/PSReadLine",
	}, "passwords that were typed may stand in it"},
	{LayerCredentials, []string{"//proc/**/environ"}, "the environment of a process may hold secrets"},
	{LayerCredentials, []string{"//proc/**/mem", "//proc/kcore", "//proc/**/root", "//proc/**/cwd", "//proc/**/fd"},
		"it leads into other processes"},
	{LayerCredentials, []string{"//dev"}, "it is a device"},
}

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
			key = foldKey(s.text)
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
		name, rest = cutComponent(rest)
		candidates := g[foldKey(name)]
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

// foldKey maps names that differ in case only to one key.
func foldKey(name string) string {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return strings.Map(foldRune, name)
		}
	}
	return name
}

func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}
