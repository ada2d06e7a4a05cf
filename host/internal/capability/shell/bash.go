package shell

import (
	"context"
	"os/exec"
	"regexp"
	"time"

	"github.com/toolquay/toolquay/abi"
)

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
