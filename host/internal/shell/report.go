package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// report is how a shell tells where it was at its end. Its prologue comes through a
// pipe and not from a file: what a shell reads first must be nothing that an earlier
// command, perhaps one in a sandbox, could have written.
//
// The report itself comes back in a file that commands can write: it is a claim, of a
// place that is looked at before it is believed.
type report struct {
	// file is the report's path for the command, at its path for this process, and start the
	// real directory at the beginning.
	file, at, start string
	// fifo is our end of file where that is a FIFO: one can be written to where no file
	// can. It is nil otherwise.
	fifo *os.File
}

// prologue is what bash reads before the command: it has the report written at the end
// of the shell, and leaves everything else as it would be without it. The descriptor is
// the one that it is read through.
//
// At its end a command may have left tracing on, or traps: what those print is nobody's
// business. And it may have functions in the place of built-ins.
func (r *report) prologue(argv0 string, descriptor int) string {
	end := fmt.Sprintf(`{ set +x; trap - DEBUG ERR RETURN; builtin cd -P . && [[ $PWD = %s ]] || builtin printf '\0%%s' "$PWD" >|%s; } >/dev/null 2>&1`,
		quoted(r.start), quoted(r.file))
	closing := ""
	if descriptor > 2 {
		closing = fmt.Sprintf("exec %d<&-; ", descriptor)
	}
	return fmt.Sprintf("unset -v BASH_ENV; trap %s EXIT; %s: %s\n", quoted(end), closing, quoted(argv0))
}

// quoted is a text as one word of bash.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// inDoubleQuotes is a text that stands for itself where bash expands it as it does
// between double quotes, as it does the name of its first file.
func inDoubleQuotes(s string) string {
	return strings.NewReplacer(`\`, `\\`, `$`, `\$`, "`", "\\`", `"`, `\"`).Replace(s)
}

// pipeOf returns the reading end of a pipe that holds a text. It must be shorter than
// pipes are everywhere, so that nobody has to wait to write it.
func pipeOf(text string) (*os.File, error) {
	const least = 16 << 10
	if len(text) > least {
		return nil, errors.New("the path of the directory for temporary files is too long")
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return nil, errors.Join(err, r.Close(), w.Close())
	}
	return r, w.Close()
}

// maxPath is the longest path that is believed, in bytes: systems have no longer ones.
const maxPath = 4 << 10

// read returns the reported directory, and removes the report; empty is the one where
// the shell began, or one that is not known.
func (r *report) read() string {
	defer func() { _ = os.Remove(r.at) }() // most commands write none
	f := r.fifo
	if f == nil {
		var err error
		if f, err = os.OpenFile(r.at, os.O_RDONLY|carefully, 0); err != nil {
			return ""
		}
	}
	defer func() { _ = f.Close() }() // it was only read
	content := make([]byte, maxPath)
	n, err := readNow(f, content)
	if err != nil {
		return ""
	}
	_, path, found := bytes.Cut(content[:n], []byte{0})
	if !found {
		return ""
	}
	return string(path)
}
