package shell

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// pieces are what random commands are put together from. There is no slash and
// no ">" among them, so that nothing outside of an empty directory is touched
// when bash runs them.
var pieces = []string{
	"ls", "rm", "a", "b", "-x", "echo", " ", " ", " ", " ", " ", "\t", "\n", ";", ";", "; ", " && ", " || ", " | ", " & ",
	"'", "'", "\"", "\"", "\\", "`", "`", "$(", "$(", ")", ")", " (", "{", "}", " { ", "; }", "#", " #", "$x", "${x:-", "${x}", "}",
	"{a,b}", ",", "..", "$'", "\\x72", "\\'", "!", " ! ", "=", "x=1 ", "LANG=C ", "if ", "; then ", "; fi", "for i in ", "; do ", "; done",
	"case a in a) ", " esac", ";;", " <<E\n", "\nE\n", " <<'E'\n", " <<-E\n", " <<\"E\"\n", " <<< ", "$((", "1", "+", "))", "[[ ", " ]]", "-f ",
	" =~ ", " == ", "time ", "f() ", "~", "*", "[", "]", "?", "@(", "!(", "\\\n", "$\"", "coproc ", "${#x}", "${x#", "${x/", "%", "^",
	"\\\\", "f=a; ", "f=b; ", "f=a ", "f=$f", "g=$f; ", "\"$f\"", "$f", "ls $f ", "a \"$f$g\"; ", "f+=b; ", "${f%a}", "${f##*b}", "${f:=b}",
	"$(basename a)", "$(dirname b)", "for f in a b; do ", "for g in \"$f\" b; do ", "(f=b); ", "{ f=b; }", " <nosuch; ", "IFS=a; ", "local f=b; ",
	"declare f=b; ", "export f=b; ", "f=b ls; ", "time -- f=b; ", "f=(b); ", "f[0]=b; ", "if f=b; then ", "break; ", "continue; ", "rm \"$f\"; ",
}

func randomCommand(r *rand.Rand, most int) string {
	var b strings.Builder
	for range 2 + r.IntN(most) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// mutated is a line of the tables with a few letters taken out, put in, or
// replaced by pieces and by the ends of other lines.
func mutated(r *rand.Rand, lines []verdictLine) string {
	text := lines[r.IntN(len(lines))].command
	for range 1 + r.IntN(5) {
		at := r.IntN(len(text) + 1)
		from := min(at+r.IntN(2), len(text))
		switch other := lines[r.IntN(len(lines))].command; r.IntN(3) {
		case 0:
			text = text[:at] + text[from:]
		case 1:
			text = text[:at] + pieces[r.IntN(len(pieces))] + text[from:]
		default:
			text = text[:at] + other[r.IntN(len(other)+1):]
		}
	}
	return text
}

// mayRun reports whether bash may be given a text: it reaches no file outside
// of its directory, ends, and hides no command in a value that is evaluated,
// which is never read-only and for no part to name.
func mayRun(text string) bool {
	if strings.ContainsAny(text, "/>") {
		return false
	}
	for _, word := range []string{
		"..", "while", "until", "select", "kill", "suspend", "((", "-v", "-R", "-eq", "let", "eval", "trap",
		"compgen", "printf", "command", "unset", "read", "builtin", "complete", "bind", "mapfile",
	} {
		if strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// changesShell reports whether a part may run what is only known later.
func changesShell(p permissions.Part) bool {
	if len(p.Words) == 0 {
		return !p.Complete
	}
	_, shakes := shakers[p.Words[0].Text]
	return shakes && !p.ReadOnly
}

// recorder makes bash write down the words of every program it would start,
// each run as its count and its words, and start none. Names have no slash here.
const recorder = `
command_not_found_handle() { printf '%s\0' "$#" "$@" >&3; }
enable -n echo test [ pwd true false kill
basename() { [[ $1 == -- ]] && shift; printf '%s\n' "$1"; }
dirname() { printf '.\n'; }
FUNCNEST=20
`

// TestBashRunsNothingUnseen holds the parts of random commands against what
// bash makes of them: every program it starts must be one of the parts, or the
// command a fault.
func TestBashRunsNothingUnseen(t *testing.T) {
	t.Parallel()
	bash := testenv.NeedTool(t, "bash")
	rc := filepath.Join(t.TempDir(), "rc")
	if err := os.WriteFile(rc, []byte(recorder), 0o600); err != nil {
		t.Fatal(err)
	}
	count, seed := testenv.Sample(600), uint64(1)
	if n, err := strconv.Atoi(os.Getenv("TOOLQUAY_BASH_RUNS")); err == nil {
		count, seed = n, uint64(time.Now().UnixNano())
	}
	r := rand.New(rand.NewPCG(seed, 2))
	dir, judged, runs := t.TempDir(), 0, 0
	lines := verdictLines(t)
	for i := range count {
		text := randomCommand(r, 14)
		if i%2 == 0 {
			text = mutated(r, lines)
		}
		if !mayRun(text) {
			continue
		}
		c := Analyse(text, Place{Cwd: dir, Home: "/home/u"})
		if c.Fault != "" {
			continue
		}
		if slices.ContainsFunc(c.Parts, changesShell) {
			continue
		}
		judged++
		for _, argv := range bashRuns(t, bash, rc, dir, text) {
			if runs++; !seen(c.Parts, argv) {
				t.Errorf("%q runs %q, which is none of its parts (seed %d)", text, argv, seed)
			}
		}
	}
	if judged < count/20 || runs < judged/2 {
		t.Errorf("%d of %d commands were no fault, and ran %d programs: too few to tell", judged, count, runs)
	}
}

func bashRuns(t *testing.T, bash, rc, dir, text string) [][]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	cmd := exec.CommandContext(ctx, bash, "-c", text)
	cmd.Dir, cmd.Env = dir, []string{"BASH_ENV=" + rc, "PATH=/nonexistent", "HOME=/home/u", "LANG=C.UTF-8"}
	cmd.ExtraFiles = []*os.File{write}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(read)
	_ = cmd.Wait() // what it exits with is of no interest
	var runs [][]string
	fields := strings.Split(out.String(), "\x00")
	for len(fields) > 1 {
		n, err := strconv.Atoi(fields[0])
		if err != nil || n > len(fields)-1 {
			t.Fatalf("%q: the record of it is broken: %q", text, fields)
		}
		runs = append(runs, fields[1:n+1])
		fields = fields[n+1:]
	}
	return runs
}

// seen reports whether one of the parts may be this run.
func seen(parts []permissions.Part, argv []string) bool {
	for _, p := range parts {
		if mayBe(p.Words, argv) {
			return true
		}
	}
	return false
}

// mayBe reports whether words may expand to argv: any that is not literal to
// any number of words.
func mayBe(words []permissions.Word, argv []string) bool {
	for i, w := range words {
		if !w.Literal {
			return true
		}
		if i >= len(argv) || argv[i] != w.Text {
			return false
		}
	}
	return len(words) == len(argv)
}
