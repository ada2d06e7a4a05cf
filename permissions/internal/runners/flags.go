package runners

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// subcommanded are programs whose first word that is no flag says what they do.
var subcommanded = []string{
	"git", "gh", "glab", "docker", "docker-compose", "podman", "podman-compose", "nerdctl", "kubectl", "oc", "helm",
	"npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "pip", "pip3", "pipx", "uv", "poetry", "conda", "gem", "bundle",
	"composer", "dotnet", "nix", "vagrant", "snap", "flatpak", "hg", "svn",
	"systemctl", "apt", "apt-get", "brew", "aws", "gcloud", "az", "terraform",
}

// The bounds on readings: how many words behind the flags each has, and, more or less,
// how many there are.
const (
	longReading  = 64
	mostReadings = 4096
)

// BehindFlags returns what a command of sub-commands may be without the flags that
// stand before one and their values, so that git -C x push is git push, and docker
// compose -f x down is docker compose down: every reading, for rules that hold back.
func BehindFlags(words []shellword.Word) [][]shellword.Word {
	if len(words) < 3 || !slices.Contains(subcommanded, words[0].Text) {
		return nil
	}
	out := withoutFlags(words, 1)
	for _, reading := range append(slices.Clip(out), words) {
		if !strings.HasPrefix(reading[1].Text, "-") {
			out = append(out, withoutFlags(reading, 2)...)
		}
		if len(out) > mostReadings {
			return append(out, []shellword.Word{{Text: words[0].Text}}) // it may be anything
		}
	}
	return out
}

// withoutFlags returns what words may be without the flags that begin at one of them.
func withoutFlags(words []shellword.Word, at int) (out [][]shellword.Word) {
	if len(words) <= at || words[at].Literal && !strings.HasPrefix(words[at].Text, "-") {
		return nil
	}
	for i := at + 1; i < len(words); i++ {
		behind := words[i:min(len(words), i+longReading)]
		out = append(out, slices.Concat(words[:at], behind))
		if !strings.HasPrefix(words[i].Text, "-") && !strings.HasPrefix(words[i-1].Text, "-") && words[i-1].Literal {
			break
		}
	}
	return out
}
