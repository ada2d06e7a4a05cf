package commands

import (
	"slices"
	"testing"
)

// TestBaseView holds what commands see of a machine, by its home and their environment.
func TestBaseView(t *testing.T) {
	t.Parallel()
	environment := []string{
		"PATH=/usr/bin:/home/me/bin:/home/me:/srv/tools/.pyenv/shims:/srv/me/go/bin:bin::/", "GOPATH=/srv/go:/home", "CARGO_HOME=/srv/cargo",
		"XDG_CACHE_HOME=/srv/c", "VIRTUAL_ENV=relative", "HOME=/home/me",
	}
	view := baseView("/home/me", environment, true)
	for name, want := range map[string]bool{
		"/usr": true, "/home/me/go": true, "/home/me/.gitconfig": true, "/home/me/.cargo/registry": true, "/home/me/bin": true,
		"/srv/tools/.pyenv": true, "/srv/go": true, "/srv/cargo/registry": true, "/srv/c/go-build": true,
		"/": false, "/home": false, "/home/me": false, "/srv": false, "/srv/c": false, "/srv/cargo": false, "/home/me/.cargo": false,
		"/home/me/.npmrc": false, "/home/me/.m2": false, "/home/me/.gradle": false, "/home/me/.config": false, "/home/me/.local": false,
	} {
		if got := slices.Contains(view, name); got != want {
			t.Errorf("%s is in the view: %t", name, got)
		}
	}
	view = baseView("/home/me", environment, false)
	for name, want := range map[string]bool{
		"/usr": true, "/home/me/.gitconfig": true, "/home/me/bin": true, "/srv/tools/.pyenv": true, "/srv/me/go/bin": true, "/srv/go/bin": true,
		"/home/me/go/bin": true, "/home/me/.rustup": true,
		"/home/me/go": false, "/srv/go": false, "/srv/me/go": false, "/home/me/.cargo/registry": false, "/srv/cargo/registry": false, "/srv/c/go-build": false,
		"/home/me/.npm": false, "/home/me/.cache/pip": false, "/home/me/.m2/repository": false,
	} {
		if got := slices.Contains(view, name); got != want {
			t.Errorf("%s is in the view of what only reads: %t", name, got)
		}
	}
	if len(baseView("", nil, true)) != len(systemView) {
		t.Error("without a home there is more than the system")
	}
}
