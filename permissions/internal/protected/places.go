// Package protected knows the paths that ask even where a rule allows: those whose change
// would change what runs later, and those that hold secrets.
package protected

// Place is a kind of path that asks even where a rule allows, except in bypassPermissions.
type Place struct {
	// Secret marks credential stores and devices: reading them asks, too. Others ask only
	// before they are changed.
	Secret bool
	// Patterns are those of deny rules; ~ is any user's home.
	Patterns []string
	// Why tells people the reason.
	Why string
	// Existing says that a sandbox protects only what exists of it, and does not keep the rest
	// from being made: there are too many of these names.
	Existing bool
	// Content says that git itself writes it where it checks out a commit, and so takes
	// nothing in it for the person's: tools ask, and a sandbox leaves it to commands.
	Content bool
}

// Git is the place of git's own files.
var Git = &places[0]

// places is the whole list. All of it holds whether or not the file exists, and whatever the
// case of its letters.
var places = []Place{
	{Patterns: []string{".git", ".gitconfig", "~/.config/git", "//etc/gitconfig"},
		Why: "git runs programs that its hooks and configuration name"},
	{Patterns: []string{".gitmodules"}, Content: true, Why: "git fetches from where it says"},
	{Patterns: []string{".husky"}, Why: "it holds programs that git runs"},
	{Patterns: []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
		".login", ".logout", ".inputrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc",
		"~/.config/fish", "~/.config/environment.d", "~/.config/autostart",
		"//etc/profile", "//etc/profile.d", "//etc/bash.bashrc", "//etc/bashrc", "//etc/environment",
		"//etc/zsh", "//etc/zshrc", "//etc/zshenv", "//etc/zprofile",
	}, Why: "a shell or session runs it when it starts"},
	{Patterns: []string{
		"~/.config/systemd/user", "~/.pam_environment", "~/.config/zsh", "~/.bashrc.d", "~/.oh-my-zsh",
		"~/.config/hypr", "~/.config/i3", "~/.config/sway", "~/.local/share/applications",
	}, Why: "a shell or session runs it when it starts"},
	{Patterns: []string{"~/.local/bin", "~/bin", "~/.cargo/bin"}, Why: "it holds programs that are started by their names"},
	{Patterns: []string{
		"~/.vimrc", "~/.vim", "~/.config/nvim", "~/.emacs", "~/.emacs.d", "~/.config/emacs", "~/.tmux.conf", "~/.config/tmux",
		"~/.screenrc", "~/.gdbinit", "~/.config/gdb", "~/.lldbinit", "~/.hgrc", "~/.config/direnv", "~/.config/mise",
	}, Why: "a program runs what it says when it starts"},
	{Patterns: []string{".vscode", ".idea"}, Why: "an editor runs what it says"},
	// These hold passwords too, often enough; but no build fetches anything without them.
	{Patterns: []string{
		".npmrc", "~/.config/pip", "~/.cargo/config", "~/.cargo/config.toml", "~/.m2/settings.xml", "~/.gradle/gradle.properties",
	}, Why: "it says where packages come from and what runs with them"},
	{Patterns: []string{".mcp.json", "~/.cursor/mcp.json"}, Why: "it names programs to start"},
	{Existing: true, Why: "it names programs to start", Patterns: []string{
		".cursor/mcp.json", ".roo/mcp.json", ".kiro/settings/mcp.json", ".junie/mcp", ".amazonq/mcp.json", ".zed/settings.json",
		".zed/tasks.json", ".continue/mcpServers", ".vs/mcp.json", ".codex/config.toml", ".gemini/settings.json", "opencode.json",
	}},
	{Existing: true, Why: "git, the shell or an editor comes to run what it says", Patterns: []string{
		".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook.yml", ".lefthook.yaml",
		".lefthook.toml", ".lefthook.json", "lefthook-local.yml", ".lefthook-local.yml", ".config/lefthook.yml", ".lefthook",
		".lefthook-local", ".overcommit.yml", ".envrc", ".devcontainer", ".devcontainer.json", "mise.toml", ".mise.toml", "mise.local.toml",
		".mise.local.toml", ".mise", ".config/mise", ".config/mise.toml", ".exrc", ".nvimrc", ".nvim.lua", ".gdbinit", ".lldbinit",
		".dir-locals.el",
	}},
	{Existing: true, Why: "it names programs that builds start", Patterns: []string{
		".cargo/config", ".cargo/config.toml", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js", ".yarnrc", ".yarnrc.yml", ".yarn/plugins",
		".yarn/releases",
	}},
	{Patterns: HostSettings, Why: "it holds the host's own settings and plugins"},

	{Secret: true, Patterns: []string{"~/.config/toolquay", "~/.local/share/toolquay", "~/.local/state/toolquay"}, Why: hostWhy},
	{Secret: true, Patterns: []string{
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
	}, Why: "it holds keys or passwords"},
	{Secret: true, Patterns: []string{
		"~/.mozilla", "~/.thunderbird", "~/.librewolf", "~/snap/firefox", "~/snap/chromium",
		"~/.config/google-chrome", "~/.config/google-chrome-beta", "~/.config/chromium", "~/.config/BraveSoftware",
		"~/.config/microsoft-edge", "~/.config/opera", "~/.config/vivaldi",
		"~/Library/Application Support/Firefox", "~/Library/Application Support/Google/Chrome", "~/Library/Cookies",
	}, Why: "a browser keeps passwords and sessions in it"},
	{Secret: true, Patterns: []string{
		"~/.bash_history", "~/.zsh_history", "~/.sh_history", "~/.history", "~/.local/share/fish/fish_history",
		"~/.python_history", "~/.node_repl_history", "~/.psql_history", "~/.mysql_history", "~/.rediscli_history",
		"~/.local/share/powershell/PSReadLine",
	}, Why: "passwords that were typed may stand in it"},
	{Secret: true, Patterns: []string{"//proc/**/environ"}, Why: "the environment of a process may hold secrets"},
	{Secret: true, Patterns: []string{"//proc/**/mem", "//proc/kcore", "//proc/**/root", "//proc/**/cwd", "//proc/**/fd"},
		Why: "it leads into other processes"},
	{Secret: true, Patterns: []string{"//dev"}, Why: "it is a device"},
}

// HostSettings are the settings that the host reads in a project.
var HostSettings = []string{".toolquay", ".claude/settings.json", ".claude/settings.local.json"}

// hostWhy protects the host's own files: its grants, its log of decisions and its rules
// tell what to try.
const hostWhy = "it holds the host's own settings, plugins and records"

// hostPlace protects the folders that the embedder names as the host's own.
var hostPlace = Place{Secret: true, Why: hostWhy}

// sessionsPlace protects the folders of sessions from one another.
var sessionsPlace = Place{Secret: true, Why: "it holds what other sessions keep"}
