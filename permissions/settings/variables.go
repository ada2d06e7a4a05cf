package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Expand replaces ${VAR} and ${VAR:-default} in a text by what lookup returns for the
// name. A default counts where the variable is missing or empty. Missing are the names
// that have neither a value nor a default, each once. A ${ that begins no such form is an
// error, which does not repeat the text.
func Expand(text string, lookup func(name string) (string, bool)) (out string, missing []string, err error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), missing, nil
		}
		inside, after, closed := strings.Cut(rest, "}")
		name, usual, hasUsual := strings.Cut(inside, ":-")
		switch {
		case !closed:
			return "", nil, errors.New("it has a ${ without a }")
		case !variable(name), strings.Contains(usual, "${"):
			return "", nil, fmt.Errorf("%.40q is no variable; write ${NAME} or ${NAME:-default}", "${"+inside+"}")
		}
		value, ok := lookup(name)
		if hasUsual && value == "" {
			value, ok = usual, true
		}
		if !ok && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
		b.WriteString(value)
		text = after
	}
}

// checkVariables reports what is wrong with the ${VAR}s of a text.
func checkVariables(text string) error {
	_, _, err := Expand(text, func(string) (string, bool) { return "", true })
	return err
}
