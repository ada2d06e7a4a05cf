package lists

// AtStep has a function told of each step of a change.
func AtStep(t *Tasks, step func(string)) { t.step = step }

// Unchecked is what a list says whose completed items have these texts.
func Unchecked(completed ...string) bool { return unchecked(completed) }
