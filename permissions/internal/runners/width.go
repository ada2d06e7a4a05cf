package runners

import (
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// binFolders are the directories whose programs can be trusted to be what they are called.
var binFolders = []string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/usr/local/sbin/", "/opt/homebrew/bin/"}

// Width is how many words of a command say what it does, so that a rule on them may let any
// arguments follow. It is 0 if a rule must have all words, as for programs that are not known
// here: their arguments may name programs to run. A script is known by its path.
func Width(words []shellword.Word) int {
	if !words[0].Literal || NeverByPrefix(words) {
		return 0
	}
	dir, name := path.Split(words[0].Text)
	if program := Name(name); slices.Contains(scriptInterpreters, program) {
		return scriptWidth(program, words)
	}
	if n := throughWidth(name, words); n > 0 {
		if behind := Width(words[n:]); behind > 0 {
			return n + behind
		}
		return 0
	}
	switch n := subcommandWidth(name, words); {
	case n > 0:
		return n
	case subcommands[name] > 0:
		return 0
	case slices.Contains(plainPrograms, name):
		return 1
	case dir != "" && !slices.Contains(binFolders, dir):
		return 1
	}
	return 0
}

// scriptInterpreters run the script that their first argument names; the other arguments are the
// script's.
var scriptInterpreters = []string{
	"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "python", "pypy", "node", "nodejs", "tsx", "ts-node",
	"ruby", "perl", "php", "lua", "luajit", "tclsh", "Rscript", "julia", "java",
}

// pythonModules are modules of Python that do what they are called, and run nothing that their
// arguments name.
var pythonModules = []string{
	"pytest", "unittest", "mypy", "black", "ruff", "flake8", "isort", "pylint", "pyright", "build", "venv", "compileall",
	"tox", "nox", "http.server", "json.tool", "sphinx", "mkdocs",
}

// scriptWidth is how many words name the script, module or archive that an interpreter runs. It
// is 0 if a flag comes first, as other words may then be code.
func scriptWidth(program string, words []shellword.Word) int {
	if len(words) < 2 || !words[1].Literal {
		return 0
	}
	first := words[1].Text
	if program == "java" {
		if first == "-jar" && len(words) > 2 && isScript(words[2]) {
			return 3
		}
		return 0
	}
	if (program == "python" || program == "pypy") && first == "-m" && len(words) > 2 && words[2].Literal {
		switch module := words[2].Text; {
		case slices.Contains(pythonModules, module):
			return 3
		case module == "pip":
			if n := subcommandWidth(module, words[2:]); n > 0 {
				return 2 + n
			}
		}
		return 0
	}
	if isScript(words[1]) {
		return 2
	}
	return 0
}

// isScript reports whether a word names a file by its path or extension. Flags, sub-commands and
// the names of standard input do not.
func isScript(w shellword.Word) bool {
	if !w.Literal || strings.HasPrefix(w.Text, "-") || strings.HasPrefix(w.Text, "+") ||
		strings.HasPrefix(w.Text, "/dev/") || strings.HasPrefix(w.Text, "/proc/") {
		return false
	}
	return strings.ContainsAny(w.Text, "./") || w.Text == "artisan"
}

// through are the words that are followed by another command, which says what is done.
var through = [][]string{
	{"uv", "run"}, {"poetry", "run"}, {"pipenv", "run"}, {"hatch", "run"}, {"pdm", "run"}, {"rye", "run"}, {"bundle", "exec"},
}

// throughWidth is how many words come before the command that is run. Yarn and pnpm run a program
// if they have no sub-command of that name.
func throughWidth(name string, words []shellword.Word) int {
	for _, t := range through {
		if name == t[0] && len(words) > 2 && words[1].Literal && words[1].Text == t[1] {
			return 2
		}
	}
	if (name == "yarn" || name == "pnpm") && len(words) > 1 && words[1].Literal {
		if program := []string{Name(words[1].Text)}; slices.Contains(interpreters, program[0]) || Runs(program) {
			return 1
		}
	}
	return 0
}

// subcommands are programs, or the first two words of commands, with how many words say what they
// do. Any arguments may follow these words.
var subcommands = map[string]int{
	"git": 2, "go": 2, "cargo": 2, "npm": 2, "pnpm": 2, "yarn": 2, "make": 2, "pip": 2, "brew": 2, "apt": 2,
	"rustup": 2, "dotnet": 2, "gh": 3, "mvn": 2, "bazel": 2, "terraform": 2, "helm": 2, "systemctl": 2,
	"npm run": 3, "pnpm run": 3, "yarn run": 3, "bun run": 3, "docker compose": 3, "git stash": 3, "git remote": 3,
	"git worktree": 3, "git submodule": 3, "uv pip": 3, "docker": 2, "podman": 2, "kubectl": 2,
	"bun": 2, "deno": 2, "deno run": 3, "deno task": 3, "gmake": 2, "just": 2, "task": 2, "rake": 2, "gradle": 2, "sbt": 2, "mix": 2, "pip3": 2,
	"uv": 2, "poetry": 2, "pipenv": 2, "pdm": 2, "rye": 2, "hatch": 2, "bundle": 2, "composer": 2, "rails": 2, "alembic": 2,
	"swift": 2, "flutter": 2, "ng": 2, "nx": 2, "turbo run": 3, "playwright": 2, "mkdocs": 2, "buf": 2, "apt-get": 2,
	"go run": 3, "go mod": 3, "go tool": 3, "cmake": 2, "pre-commit": 2, "glab": 3,
}

// anyCode are sub-commands that run code or programs in their arguments, configure what runs
// later, or send any request to a service. A rule must have all of their words.
var anyCode = []string{
	"git config", "npm config", "npm set", "npm explore", "npm pkg", "pnpm config", "yarn config", "yarn node", "pip config", "go env",
	"cargo config", "poetry config", "bundle config", "bundle console", "composer config", "composer exec", "composer run-script",
	"deno eval", "deno repl", "deno install", "bun repl", "rails runner", "rails r", "rails console", "rails c", "rails dbconsole",
	"mix run", "mix eval", "mix cmd", "dotnet exec", "dotnet script", "swift repl", "uv tool", "git alias", "gh alias", "gh extension",
	"git difftool", "gh api", "glab api", "dotnet tool", "composer global", "hatch env", "mix do",
	"git rebase", "poetry shell", "pipenv shell", "hatch shell", "rye shell",
	"pre-commit try-repo", "docker plugin", "kubectl plugin", "kubectl config", "helm plugin", "nx exec", "ng config",
}

// flagged are commands whose sub-command is a flag.
var flagged = []string{"cmake --build", "cmake --install", "cmake --preset"}

// subcommandWidth is how many words name a sub-command, or 0 where they do not.
func subcommandWidth(name string, words []shellword.Word) int {
	if len(words) < 2 || !words[1].Literal {
		return 0
	}
	two := name + " " + words[1].Text
	n := max(subcommands[name], subcommands[two])
	switch {
	case n == 0 || len(words) < n || slices.Contains(anyCode, two):
		return 0
	case slices.Contains(flagged, two):
		return 2
	}
	letters := shellword.NameLetters + "-:."
	if two == "go run" || two == "deno run" { // a file or a folder, and no address
		letters = shellword.NameLetters + "-./"
	}
	for _, w := range words[1:n] {
		if !w.Literal || w.Text == "" || w.Text[0] == '-' || strings.Trim(w.Text, letters) != "" {
			return 0
		}
	}
	return n
}

// plainPrograms are programs that do one thing to whatever files and flags they are given:
// tests, linters, formatters, compilers.
var plainPrograms = []string{
	"pytest", "py.test", "tox", "nox", "jest", "vitest", "mocha", "ava", "phpunit", "rspec", "ctest",
	"eslint", "prettier", "stylelint", "biome", "tsc", "vue-tsc", "ruff", "black", "mypy", "flake8", "isort", "pylint", "pyright", "autopep8", "yapf",
	"gofmt", "goimports", "gofumpt", "golangci-lint", "staticcheck", "govulncheck", "rustfmt", "clang-format", "clang-tidy", "cppcheck",
	"shellcheck", "shfmt", "hadolint", "yamllint", "markdownlint", "actionlint", "tflint", "phpstan", "rubocop", "ktlint", "swiftlint", "swiftformat",
	"gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "javac", "kotlinc", "ninja", "protoc", "vite", "webpack", "rollup", "esbuild", "next",
	"sphinx-build", "hugo",
}
