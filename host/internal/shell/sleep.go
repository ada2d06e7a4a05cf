package shell

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// SleepTool is the tool that waits without holding a process.
const SleepTool = "Sleep"

// longSleep is how long a command may sleep before it does anything, where there is
// something better.
const longSleep = 2 * time.Second

// mostSleep is the most that [SleepTool] takes.
const mostSleep = time.Hour

// OnlyWaits refuses a command whose first statement only waits, for where there is
// something better: [SleepTool], and perhaps the background. That needs nobody's
// permission to find out, so hosts ask it before they ask a person.
func OnlyWaits(command *permissions.Command, background bool) error {
	if command.Fault != "" || len(command.Parts) == 0 {
		return nil
	}
	first := &command.Parts[0]
	if first.Again || first.Beside {
		return nil
	}
	d := slept(first)
	if d < longSleep {
		return nil
	}
	instead := ""
	if background {
		instead = "; or run in the background what is to wait"
	}
	most := ""
	if d > mostSleep {
		d, most = mostSleep, ", the most it takes"
	}
	return abi.Errorf(abi.CodeInvalidInput, "%s at the beginning of a command only holds it up: call %s with a duration_ms of %d%s, which can be interrupted, and then run the rest%s",
		strings.Join(literal(first.Words), " "), SleepTool, d.Milliseconds(), most, instead)
}

// slept is how long a simple command sleeps: 0 where it does something else.
func slept(part *permissions.Part) time.Duration {
	if len(part.Words) < 2 || slices.ContainsFunc(part.Words, func(w permissions.Word) bool { return !w.Literal }) {
		return 0
	}
	words := literal(part.Words)
	module := strings.LastIndexByte(words[0], '\\') + 1
	if strings.EqualFold(words[0][module:], "Start-Sleep") {
		return durationOf(startSleep(words[1:]))
	}
	if !strings.EqualFold(filepath.Base(words[0]), "sleep") {
		return 0
	}
	if strings.HasPrefix(words[1], "-") { // the alias for Start-Sleep, on Windows
		if d := durationOf(startSleep(words[1:])); d > 0 {
			return d
		}
	}
	var all float64
	for _, word := range words[1:] {
		all += seconds(word)
	}
	return durationOf(all)
}

func durationOf(seconds float64) time.Duration {
	return time.Duration(min(seconds*float64(time.Second), math.MaxInt64/2))
}

// startSleep is how many seconds PowerShell's Start-Sleep takes its arguments to be: a
// parameter, which may be shortened, and its value behind a space or a colon, or seconds
// alone. What is something else is 0.
func startSleep(args []string) float64 {
	parameter, value, joined := strings.Cut(args[0], ":")
	parameter = strings.ToLower(strings.TrimPrefix(parameter, "-"))
	switch {
	case !strings.HasPrefix(args[0], "-"):
		parameter, value = "seconds", args[0]
	case !joined && len(args) > 1:
		value = args[1]
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(n) || n < 0 || parameter == "" {
		return 0
	}
	for _, unit := range []struct {
		name    string
		seconds float64
	}{{"seconds", 1}, {"milliseconds", 1e-3}, {"ms", 1e-3}} {
		if strings.HasPrefix(unit.name, parameter) {
			return n * unit.seconds
		}
	}
	return 0
}

// seconds is what sleep takes a word to be. What it takes for none is 0.
func seconds(word string) float64 {
	factor := 1.0
	for suffix, f := range map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400} {
		if rest, ok := strings.CutSuffix(word, suffix); ok {
			word, factor = rest, f
			break
		}
	}
	n, err := strconv.ParseFloat(word, 64)
	if err != nil && !math.IsInf(n, 1) || math.IsNaN(n) || n < 0 {
		return 0
	}
	return n * factor
}

// onlySleeps reports whether a command only sleeps.
func onlySleeps(command *permissions.Command) bool {
	other := func(part permissions.Part) bool {
		return len(part.Words) == 0 || filepath.Base(part.Words[0].Text) != "sleep"
	}
	return command.Fault == "" && len(command.Parts) > 0 && !slices.ContainsFunc(command.Parts, other)
}
