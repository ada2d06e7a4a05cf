package lang

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// scratch is a directory in which real tools run.
type scratch struct {
	dir    string
	before map[string]string
}

var scratchFiles = map[string]string{
	"in":       "one 1 a,b\n\ntwo 2 1e300\nthree\tinf nan\\\n- -delete\n",
	"in.json":  `[{"a":1,"b":[1,[2]],"name":"one two"},null,"a,b","",1e300,{"a":null,"b":[]}]` + "\n",
	"tree/x":   "x\n",
	"tree/d/y": "y\n",
}

func newScratch(t *testing.T) *scratch {
	t.Helper()
	s := &scratch{dir: t.TempDir()}
	for name, text := range scratchFiles {
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.before = s.snapshot(t)
	return s
}

// snapshot tells mode, time and content of everything in the directory.
func (s *scratch) snapshot(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(s.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var content []byte
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		found[path] = fmt.Sprint(info.Mode(), info.ModTime(), sha256.Sum256(content))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (s *scratch) changed(t *testing.T) bool {
	t.Helper()
	return !maps.Equal(s.before, s.snapshot(t))
}

// The limits of runEach: of what may never end, and of what must have acted, however
// busy the machine is.
const (
	aMoment = "exec timeout -s KILL 0.2"
	toEnd   = "ulimit -t 2; exec"
)

// runEach runs a command once for each list of arguments, within a limit. Nothing but the directory can be written where there is a working bubblewrap.
func (s *scratch) runEach(t *testing.T, limit string, command []string, lists [][]string) {
	t.Helper()
	const each = `
		ulimit -c 0; ulimit -v 2000000; ulimit -f 1000
		IFS=
		while read -r count; do
			set --
			while [ $# -lt "$count" ]; do read -r word; set -- "$@" "$(printf '%b' "$word")"; done
			( %s "$@" <in >/dev/null 2>&1 ) || :
		done`
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = "'" + word + "'"
	}
	cmd := exec.Command("sh", "-c", strings.Replace(each, "%s", limit+" "+strings.Join(quoted, " "), 1))
	if bubblewrap() != "" {
		args := []string{
			"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
			"--bind", s.dir, s.dir, "--chdir", s.dir, "--unshare-all", "--die-with-parent", "--",
		}
		cmd = exec.Command(bubblewrap(), append(args, cmd.Args...)...)
	}
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "LC_ALL=C.UTF-8"}
	cmd.Stdin = strings.NewReader(encodeLists(lists))
	cmd.Stderr = io.Discard // the shell tells whom it killed
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v", command, err)
	}
}

// encodeLists writes lists of words as the loop of runEach reads them: the
// number of words, then each in a line, with escapes for printf.
func encodeLists(lists [][]string) string {
	var text strings.Builder
	for _, words := range lists {
		fmt.Fprintln(&text, len(words))
		for _, word := range words {
			for i := range len(word) {
				fmt.Fprintf(&text, `\0%03o`, word[i])
			}
			fmt.Fprintln(&text)
		}
	}
	return text.String()
}

// bubblewrap is the program, or empty where it is missing or cannot work.
var bubblewrap = sync.OnceValue(func() string {
	path, err := exec.LookPath("bwrap")
	if err != nil || exec.Command(path, "--ro-bind", "/", "/", "--unshare-all", "true").Run() != nil {
		return ""
	}
	return path
})

// language is one of the four, with the real tools that speak it.
type language struct {
	judge  func(script string) Finding
	tools  [][]string
	script func(script string) []string
}

var languages = map[string]language{
	"awk": {
		judge:  func(script string) Finding { return Awk(script) },
		tools:  [][]string{{"awk"}, {"gawk"}, {"mawk"}, {"original-awk"}, {"busybox", "awk"}},
		script: func(script string) []string { return []string{script, "in", "in"} },
	},
	"sed": {
		judge:  Sed,
		tools:  [][]string{{"sed"}, {"sed", "-n", "-E"}, {"sed", "-s"}, {"sed", "--posix"}, {"busybox", "sed"}},
		script: func(script string) []string { return []string{"-e", script, "in", "in"} },
	},
	"jq": {
		judge:  Jq,
		tools:  [][]string{{"jq"}},
		script: func(script string) []string { return []string{script, "in.json", "in.json"} },
	},
	"find": {
		judge: func(script string) Finding {
			f := Find(findWords(script))
			return Finding{ReadOnly: f.ReadOnly, Reason: f.Reason}
		},
		tools: [][]string{{"find"}, {"busybox", "find"}},
		script: func(script string) []string {
			var words []string
			for _, word := range findWords(script) {
				words = append(words, word.Text)
			}
			return words
		},
	},
}

// findWords cuts a line of the table into words: 'x' is quoted, $x expands to
// anything, and * unquoted is a pattern.
func findWords(line string) []Arg {
	var words []Arg
	for word := range strings.FieldsSeq(line) {
		quoted := len(word) > 1 && word[0] == '\'' && word[len(word)-1] == '\''
		glob := !quoted && strings.Contains(word, "*")
		words = append(words, Arg{
			Text:    strings.Trim(word, "'"),
			Literal: quoted || !glob && !strings.Contains(word, "$"),
			Glob:    glob,
		})
	}
	return words
}

// installed returns the tools of a language that are there. The first has to be; where tests
// are not to be thorough, it is the only one, as scripts that do not end take their time with each.
func (l language) installed(t *testing.T) [][]string {
	t.Helper()
	testenv.NeedTool(t, l.tools[0][0])
	testenv.NeedTool(t, "timeout")
	var found [][]string
	for _, tool := range l.tools {
		if len(found) > 0 && !testenv.Thorough() {
			break
		}
		if path, err := exec.LookPath(tool[0]); err == nil {
			found = append(found, append([]string{path}, tool[1:]...))
		}
	}
	return found
}
