package permissions

import "fmt"

// Mode says what happens to what no rule speaks of.
type Mode string

// The modes.
const (
	// ModeDefault allows reads inside the working directories and asks for
	// everything else.
	ModeDefault Mode = "default"
	// ModeBypass allows what no deny or ask rule, hook or tool check holds
	// back, protected paths and credential stores included.
	ModeBypass Mode = "bypassPermissions"
)

// ParseMode reads a mode's name.
func ParseMode(name string) (Mode, error) {
	switch m := Mode(name); m {
	case ModeDefault, ModeBypass:
		return m, nil
	}
	return "", fmt.Errorf("unknown mode %q; there are %s and %s", name, ModeDefault, ModeBypass)
}
