package commands

import (
	"slices"
	"testing"
)

// TestBaseView holds what commands see of a machine, by its home and their environment.
func TestBaseView(t *testing.T) {
	t.Parallel()
	view := baseView("/home/me", []string{
		"PATH=/usr/bin:/home/me/bin:/home/me:/srv/tools/.pyenv/shims:bin::/", "GOPATH=/srv/go:/home", "CARGO_HOME=/srv/cargo", "XDG_CACHE_HOME=/srv/c",
		"VIRTUAL_ENV=relative", "HOME=/home/me",
	})
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
	if len(baseView("", nil)) != len(systemView) {
		t.Error("without a home there is more than the system")
	}
}
