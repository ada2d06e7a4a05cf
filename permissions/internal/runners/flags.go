package runners

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// subcommanded are programs with sub-commands: the first word that is not a flag.
var subcommanded = []string{
	"git", "gh", "glab", "docker", "docker-compose", "podman", "podman-compose", "nerdctl", "kubectl", "oc", "helm",
	"npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "pip", "pip3", "pipx", "uv", "poetry", "conda", "gem", "bundle",
	"composer", "dotnet", "nix", "vagrant", "snap", "flatpak", "hg", "svn",
	"systemctl", "apt", "apt-get", "brew", "aws", "gcloud", "az", "terraform",
}

// The bounds on readings: how many words each keeps after the flags, and about how many readings
// there are at most.
const (
	longReading  = 64
	mostReadings = 4096
)

// BehindFlags returns every way to read a command without the flags before its sub-command, and
// their values, for deny and ask rules: git -C x push is also git push, and docker compose -f x
// down is also docker compose down.
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

// withoutFlags returns every way to read words without the flags that begin at one of them.
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
