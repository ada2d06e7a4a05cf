package gitconfig

import (
	"fmt"
	"strconv"
	"strings"
)

// Note tells the model what did not come of its changes to a configuration, whose path is as
// the model knows it; empty is that all did.
func (o *Outcome) Note(path string) string {
	var b strings.Builder
	if len(o.Refused) > 0 {
		fmt.Fprintf(&b, "Not taken over into %s: %s. Commands may not set what can name programs or files, or say where an existing remote is; the user can, with git config.", path, listed(o.Refused))
	}
	if len(o.Kept) > 0 {
		fmt.Fprintf(&b, " Somebody else changed %s in %s meanwhile: that stays.", listed(o.Kept), path)
	}
	if b.Len() > 0 && len(o.Taken) > 0 {
		fmt.Fprintf(&b, " Taken over: %s.", listed(o.Taken))
	}
	return strings.TrimSpace(b.String())
}

// listed names the first of several keys, which commands may have chosen.
func listed(keys []string) string {
	const most, longest = 8, 100
	shown := make([]string, 0, most)
	for _, key := range keys[:min(len(keys), most)] {
		if len(key) > longest {
			key = key[:longest] + "..."
		}
		if quoted := strconv.Quote(key); quoted != `"`+key+`"` {
			key = quoted
		}
		shown = append(shown, key)
	}
	text := strings.Join(shown, ", ")
	if more := len(keys) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
