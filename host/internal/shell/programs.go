package shell

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/toolquay/toolquay/abi"
)

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
	path, err := find(given, programOfShell(shell))
	if err == nil && given != "" && shell == abi.ShellBash {
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
	_, err := find(given, programOfShell(shell))
	return err
}

func programOfShell(shell string) string {
	if shell == abi.ShellPowerShell {
		return "pwsh" // on every system but Windows
	}
	return shell
}

// askedVersion prints the version of a bash, and nothing in another shell, or in a bash
// that was started as sh, which reads commands in another way.
const askedVersion = `if ! shopt -qo posix; then echo "$BASH_VERSION"; fi`

var bashVersion = regexp.MustCompile(`^[0-9]+\.[0-9]`)

// isBash refuses a program that is another shell: commands are judged by bash's syntax,
// and what runs must be what was judged. It is asked once, for all calls, so that no call's
// end ends it.
func isBash(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-c", askedVersion)
	cmd.Env = []string{} // and not this process's own
	cmd.WaitDelay = time.Second
	version, err := cmd.Output()
	if err == nil && bashVersion.Match(version) {
		return nil
	}
	return abi.Errorf(abi.CodeUnsupported, "%s, which the settings name for bash, is another shell; commands are judged by bash's syntax, so only bash may run them", path)
}

// encoded is a command as PowerShell takes it without reading it as an argument first:
// UTF-16 in base64.
func encoded(command string) string {
	var units []byte
	for _, u := range utf16.Encode([]rune(command)) {
		units = binary.LittleEndian.AppendUint16(units, u)
	}
	return base64.StdEncoding.EncodeToString(units)
}

// powerShellArgs are the arguments of a PowerShell that runs one command. Without the
// format it would tell of errors in XML.
func powerShellArgs(program, command string) []string {
	return []string{program, "-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand", encoded(command)}
}
