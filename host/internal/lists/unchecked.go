package lists

import (
	"regexp"
	"sync"
)

// enough is how many completed items ask for a check of the work among them.
const enough = 3

// checks finds the words by which an item says that it checks the work.
var checks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:re-?)?(?:verif\w+|tests?|tested|testing|check(?:s|ed|ing)?|review(?:s|ed|ing)?|validat\w+|lint\w*|audit\w*|inspect\w*)\b`)
})

// unchecked reports whether so many items are completed that one of them should be a check
// of the work, and none is.
func unchecked(completed []string) bool {
	if len(completed) < enough {
		return false
	}
	for _, text := range completed {
		if checks().MatchString(text) {
			return false
		}
	}
	return true
}
