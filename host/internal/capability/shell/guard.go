package shell

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/sandbox"
	"github.com/toolquay/toolquay/permissions"
)

// maxCommand is the longest command, in bytes: systems give a program no longer
// argument.
const maxCommand = 128<<10 - 1

// guard refuses what could not run as it stands, and finds out what the rest is.
func (p *plan) guard() error {
	text := p.args.Command
	switch at := strings.IndexByte(text, 0); {
	case at >= 0:
		return abi.Errorf(abi.CodeInvalidInput, "the command holds a NUL at byte %d, which no shell can be given", at)
	case len(text) > maxCommand:
		return abi.Errorf(abi.CodeInvalidInput, "the command has %d bytes; a shell takes at most %d, so write it to a file and run that", len(text), maxCommand)
	case p.args.Timeout < 0:
		return abi.Errorf(abi.CodeInvalidInput, "timeout_ms is %d; it is a number of milliseconds", p.args.Timeout)
	case p.args.Background && p.scope.Tasks == nil:
		return abi.Errorf(abi.CodeUnsupported, "nothing can go on in the background here; run the command without run_in_background, and give it the timeout that it needs")
	}
	if err := p.findShell(); err != nil {
		return err
	}
	if p.c.opts.Mode == sandbox.Required && p.c.opts.Sandbox == nil && !p.args.Unsandboxed {
		return abi.Errorf(abi.CodeUnsupported, "commands must run in a sandbox here, and there is none: %s", p.c.opts.Missing)
	}
	command := p.scope.Shell.Analyse(text)
	p.command = command
	if p.isPowerShell() {
		p.command = permissions.Command{Text: text} // what is known of it is for its judges
	}
	if p.args.Background || !p.scope.Shell.Offers(SleepTool) {
		return nil
	}
	return OnlyWaits(&command, p.scope.Tasks != nil)
}

func (p *plan) isPowerShell() bool { return p.args.Shell == abi.ShellPowerShell }

// findShell finds the program of the shell that is asked for.
func (p *plan) findShell() (err error) {
	switch p.args.Shell {
	case "", abi.ShellBash:
		p.program, err = p.c.bash()
	case abi.ShellPowerShell:
		p.program, err = p.c.powerShell()
		if n := len(encoded(p.args.Command)); err == nil && n > maxCommand {
			return abi.Errorf(abi.CodeInvalidInput, "the command has %d bytes as PowerShell takes it; at most %d are possible, so write it to a file and run that", n, maxCommand)
		}
	default:
		return abi.Errorf(abi.CodeInvalidInput, "%q is no shell; there are %s and %s", p.args.Shell, abi.ShellBash, abi.ShellPowerShell)
	}
	return err
}

// programDirs are where systems keep programs that nobody but their administrator
// changes.
var programDirs = []string{"/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/opt/homebrew/bin", "/opt/microsoft/powershell/7"}

// find returns the path of a program: the one that was given, by its path or another
// name, or the usual one.
func find(given, usual string) (string, error) {
	name := cmp.Or(given, usual)
	switch {
	case runtime.GOOS == "windows":
		return "", abi.Errorf(abi.CodeUnsupported, "no %s runs on this system yet", usual)
	case filepath.IsAbs(name):
		if !executable(name) {
			return "", abi.Errorf(abi.CodeUnsupported, "%s, which the settings name for %s, is no program that can be run", name, usual)
		}
		return name, nil
	case strings.ContainsRune(name, filepath.Separator):
		return "", abi.Errorf(abi.CodeUnsupported, "%s, which the settings name for %s, is neither a name nor an absolute path", name, usual)
	}
	for _, dir := range programDirs {
		if path := filepath.Join(dir, name); executable(path) {
			return path, nil
		}
	}
	return "", abi.Errorf(abi.CodeUnsupported, "%s is not installed in any of %s", name, strings.Join(programDirs, ", "))
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Look finds the program of a shell as commands get it: what was given, or what systems
// have where they keep their programs.
func Look(shell, given string) (string, error) {
	if shell == abi.ShellPowerShell {
		return find(given, powerShellProgram)
	}
	path, err := find(given, shell)
	if err == nil && given != "" {
		err = isBash(path)
	}
	if err != nil {
		return "", err
	}
	return path, nil
}

// Installed reports why the program of a shell is not there, or nil. Unlike [Look] it does
// not start the program that was given to see whether it is the shell that it should be.
func Installed(shell, given string) error {
	if shell == abi.ShellPowerShell {
		return LookForPowerShell(given)
	}
	_, err := find(given, shell)
	return err
}

// LookForPowerShell says why there is no PowerShell, or nil.
func LookForPowerShell(given string) error {
	_, err := Look(abi.ShellPowerShell, given)
	return err
}

// powerShellProgram is PowerShell's on every system but Windows.
const powerShellProgram = "pwsh"

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
		written(first), SleepTool, d.Milliseconds(), most, instead)
}

// written is a simple command as it was written, or nearly so.
func written(part *permissions.Part) string {
	words := make([]string, len(part.Words))
	for i, w := range part.Words {
		words[i] = w.Text
	}
	return strings.Join(words, " ")
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

// onlySleeps reports whether a command does nothing but wait: nobody needs that in the
// background.
func (p *plan) onlySleeps() bool {
	if p.command.Fault != "" || len(p.command.Parts) == 0 {
		return false
	}
	for i := range p.command.Parts {
		if words := p.command.Parts[i].Words; len(words) == 0 || filepath.Base(words[0].Text) != "sleep" {
			return false
		}
	}
	return true
}

// title is a line for people about a command.
func (p *plan) title() string {
	if p.args.Description != "" {
		return p.args.Description
	}
	line, _, more := strings.Cut(strings.TrimSpace(p.args.Command), "\n")
	if more {
		return fmt.Sprint(line, " ...")
	}
	return line
}
