package shell

import (
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

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// secret is what no read-only command prints that is not known to read the file
// it is in.
const secret = "the canary sings"

// toolRow is a program, or sub-command, of the table of programs with its flags,
// the marks behind them included.
type toolRow struct {
	name, program string
	flags, traits []string
}

// mayOnlyRead reports whether the row has forms that are read-only. Those of export
// the shell's own grammar has.
func (r toolRow) mayOnlyRead() bool {
	return r.name != "export" && !slices.ContainsFunc(r.traits, func(trait string) bool {
		return trait == "never" || trait == "changes" || trait == "opaque"
	})
}

// notInCI are programs with read-only forms that CI need not have.
var notInCI = strings.Fields(`fd gawk node ruby perl php lua python python2 gcc cc g++ clang cmake ninja make gmake gsed md5 nawk
	systemctl journalctl locate`)

// installedRows returns the rows of the table whose programs are on this machine.
// Those with read-only forms must be in CI.
func installedRows(t *testing.T) []toolRow {
	t.Helper()
	var installed []toolRow
	missing := map[string]bool{}
	for _, row := range tableRows(t) {
		if _, err := exec.LookPath(row.program); err == nil || shellsOwn[row.program] {
			installed = append(installed, row)
		} else if row.mayOnlyRead() && !missing[row.program] {
			missing[row.program] = true
			t.Logf("not tested, as it is not installed: %s", row.program)
			if testenv.InCI() && !slices.Contains(notInCI, row.program) {
				t.Errorf("CI must have %s", row.program)
			}
		}
	}
	return installed
}

// tableRows reads the table of programs.
func tableRows(t *testing.T) []toolRow {
	t.Helper()
	files, err := filepath.Glob("internal/programs/table/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no table", err)
	}
	var rows []toolRow
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first := 0
		for line := range strings.Lines(string(text)) {
			names, _, heading := strings.Cut(line, ": ")
			switch words := strings.Fields(line); {
			case len(words) == 0, line[0] == '#':
			case line[0] != ' ' && heading:
				first = len(rows)
				for name := range strings.SplitSeq(names, ", ") {
					program, _, _ := strings.Cut(name, " ")
					rows = append(rows, toolRow{name: name, program: program})
				}
			default:
				for i := first; i < len(rows); i++ {
					switch {
					case words[0][0] == '-':
						rows[i].flags = append(rows[i].flags, words...)
					case words[0] == "is":
						rows[i].traits = append(rows[i].traits, words[1:]...)
					}
				}
			}
		}
	}
	return rows
}

// shellsOwn are programs of the table that are built into bash alone.
var shellsOwn = map[string]bool{
	"read": true, "set": true, "type": true, "unset": true, "export": true, "umask": true, "hash": true, "alias": true,
	"shopt": true, "times": true, "jobs": true, "ulimit": true, "exit": true, "return": true, "break": true, "continue": true,
	"shift": true, "wait": true, ":": true,
}

// operands are words for programs: files, numbers, scripts that read, and what
// makes a program do more than read.
var operands = strings.Fields(`
	a b src src/x.go list @list sums out - -- . .. a.gz + +1f +5 1 5 0 -1 x=1 c*  *.txt src/* "$x" $x "$(echo a)" HEAD HEAD~1 main HEAD:a :0:a
	/dev/stdin <(ls) f e -cf -5 -l -p -oout -o -w -i -f -r -R -v -x -O -e -d -L --output=out --output --o=out
	--files0-from=- --files0-from=list --out=out -T --follow
	--ext-diff --textconv --pre=touch --hostname-bin=touch -delete -exec -fprint --recurse-submodules --help recurse all e
	--compress-program=touch --dereference --directories=recurse --contents=list --edit --unset --add --no-index --cached
	'p' 's/f/g/' 's/f/g/w' '{print}' '{print>"out"}' .a '.[]|input' 'NR==1' '1!d' touch rm sh`)

// randomCall puts a command together: a program, flags of its row, and words.
func randomCall(r *rand.Rand, rows []toolRow) string {
	row := rows[r.IntN(len(rows))]
	words := []string{row.name}
	for range r.IntN(4) {
		if len(row.flags) == 0 || r.IntN(3) == 0 {
			words = append(words, operands[r.IntN(len(operands))])
			continue
		}
		words = append(words, randomFlag(r, row.flags[r.IntN(len(row.flags))])...)
	}
	for range r.IntN(3) {
		words = append(words, operands[r.IntN(len(operands))])
	}
	return strings.Join(words, " ")
}

// randomFlag is a flag as the table has it: alone, in a bunch, with a value that
// is attached, or in the next word.
func randomFlag(r *rand.Rand, flag string) []string {
	name := strings.TrimRight(flag, ":?<>$%^!@&")
	value := operands[r.IntN(len(operands))]
	if !strings.HasPrefix(name, "--") {
		var bunch strings.Builder
		bunch.WriteByte('-')
		for range 1 + r.IntN(2) {
			bunch.WriteByte(name[1+r.IntN(len(name)-1)])
		}
		name = bunch.String()
	}
	switch r.IntN(4) {
	case 0:
		return []string{name}
	case 1:
		return []string{name + "=" + value}
	case 2:
		return []string{name + value}
	}
	return []string{name, value}
}

// joints stand between the commands of a list.
var joints = []string{" | ", " && ", "; ", " || ", "\n", " 2>&1 | ", " >/dev/null; ", " <list | ", " && cd src && "}

// feeders print names, and feedings have xargs take them.
var (
	feeders  = []string{"ls", "ls -1a", "ls -t", "find . -print0", "find src -type f -print0", "find . -name 'a*' -print0 2>/dev/null", "cat list", "echo a b"}
	feedings = []string{"", "-0", "-0 -n 1", "-0 -r -P 2", "-n 2 -t", "-0 -I{}", "-I %", "--null -L1"}
)

// knowing is a command with a word of it in a variable, in a loop, or put in its place by
// another program.
func knowing(r *rand.Rand, call string, rows []toolRow) string {
	words := strings.Fields(call)
	if r.IntN(3) == 0 {
		inner := strings.Replace(randomCall(r, rows), " ", []string{" ", " {} ", " % "}[r.IntN(3)], 1)
		return feeders[r.IntN(len(feeders))] + " | xargs " + feedings[r.IntN(len(feedings))] + " " + inner
	}
	at := r.IntN(len(words))
	word := words[at]
	if strings.ContainsAny(word, "\"'$<(*") {
		return call
	}
	words[at] = []string{`"$f"`, "$f", "${f}", `"${f%x}"`}[r.IntN(4)]
	changed := strings.Join(words, " ")
	switch r.IntN(5) {
	case 0:
		return "for f in b " + word + "; do " + changed + "; done"
	case 1:
		return "for f in a*; do " + changed + "; done"
	case 2:
		words[at] = "$(dirname " + word + "/x)"
		return strings.Join(words, " ")
	case 3:
		return "while read -r f; do " + changed + "; done < list"
	}
	return "f=" + word + "; " + changed
}

func randomReading(r *rand.Rand, rows []toolRow) string {
	var list strings.Builder
	call := randomCall(r, rows)
	if r.IntN(3) == 0 {
		call = knowing(r, call, rows)
	}
	list.WriteString(call)
	for range max(0, r.IntN(5)-2) {
		list.WriteString(joints[r.IntN(len(joints))] + randomCall(r, rows))
	}
	text := list.String()
	if r.IntN(20) == 0 {
		text = "echo $(" + text + ")"
	}
	return text
}

// TestReadOnlyCommandsOnlyRead makes up commands, and has bash run those that are
// said to be read-only, in a sandbox: they end, change nothing, start nothing
// hidden, and print no file that they are not known to read.
func TestReadOnlyCommandsOnlyRead(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux)
	bwrap, _ := testenv.NeedTool(t, "bwrap"), testenv.NeedTool(t, "git")
	want, seed := testenv.Sample(120), uint64(1)
	if n, err := strconv.Atoi(os.Getenv("TOOLQUAY_READ_RUNS")); err == nil {
		want, seed = n, uint64(time.Now().UnixNano())
	}
	dir := readingTree(t)
	at := Place{Cwd: filepath.Join(dir, "work"), Home: filepath.Join(dir, "home")}
	rows, r := installedRows(t), rand.New(rand.NewPCG(seed, 5))
	var commands []permissions.Command
	for len(commands) < want {
		if c := Analyse(randomReading(r, rows), at); c.ReadOnly && len(c.Parts) > 0 {
			commands = append(commands, c)
		}
	}
	t.Logf("seed %d", seed)
	onlyRead(t, bwrap, dir, commands)
}

// together is how many commands run in one sandbox: starting it takes longest.
const together = 50

// onlyRead has bash run commands in a sandbox. None may do more than read.
func onlyRead(t *testing.T, bwrap, dir string, commands []permissions.Command) {
	t.Helper()
	hidden := filepath.Join(dir, "work/sub/secret")
	for group := range slices.Chunk(commands, together) {
		runs, changed := runReadings(t, bwrap, dir, group)
		for i, c := range group {
			for _, fault := range runs[i].faults(c, hidden) {
				t.Errorf("%q %s", c.Text, fault)
			}
		}
		if len(changed) == 0 {
			continue
		}
		t.Errorf("one of %d commands changes its tree: %s", len(group), changed)
		for _, c := range group {
			if _, changed := runReadings(t, bwrap, readingTree(t), []permissions.Command{c}); len(changed) > 0 {
				t.Errorf("%q does", c.Text)
			}
		}
	}
}

// reading is how a command ended, and what it printed.
type reading struct{ code, out string }

func (r reading) faults(c permissions.Command, hidden string) (faults []string) {
	if r.code == "137" || r.code == "" {
		faults = append(faults, "does not end")
	}
	if strings.Contains(r.out, "Read-only file system") || strings.Contains(r.out, "Network is unreachable") {
		faults = append(faults, "tries more than to read: "+r.out[:min(len(r.out), 300)])
	}
	if strings.Contains(r.out, secret) && !slices.ContainsFunc(c.Accesses(), func(a permissions.Access) bool {
		return a.Kind == permissions.AccessRead && (a.Target == hidden || a.Tree && within(hidden, a.Target))
	}) {
		faults = append(faults, "prints a file, or the environment of a process, that it is not known to read")
	}
	return faults
}

// driver runs the scripts of a directory in one bash, or in another where one of them
// does not end, while processes with and without a terminal have the secret in their
// environment.
const driver = `CANARY=$(<sub/secret) sleep 1000 &
CANARY=$(<sub/secret) script -qc "exec sleep 1000" /dev/null <&- >/dev/null 2>&1 &
scripts=("$1"/*)
while ((${#scripts[@]})); do
	timeout -s KILL 300 bash --noprofile --norc -c 'for i; do
		(. "$i") <names >"$0/${i##*/}" 2>&1
		echo $? >"$0/${i##*/}.code"
	done' "$2" "${scripts[@]}"
	while [[ -s $2/${scripts[0]##*/}.code ]]; do scripts=("${scripts[@]:1}"); done
	scripts=("${scripts[@]:1}")
done 2>/dev/null`

// runReadings has one sandbox run commands one after the other, and returns what
// they changed below the directory. /tmp and /run are below it, too.
func runReadings(t *testing.T, bwrap, dir string, commands []permissions.Command) (runs []reading, changed []string) {
	t.Helper()
	scripts, out := t.TempDir(), t.TempDir()
	for i, c := range commands {
		if err := os.WriteFile(filepath.Join(scripts, strconv.Itoa(i)), []byte(`x=b`+"\n"+c.Text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, mounted := range []string{dir, scripts, out} {
		if err := os.MkdirAll(filepath.Join(dir, mounted), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*testenv.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all",
		"--die-with-parent", "--bind", filepath.Join(dir, "tmp"), "/tmp", "--bind", filepath.Join(dir, "run"), "/run",
		"--bind", dir, dir, "--ro-bind", scripts, scripts, "--bind", out, out, "--chdir", filepath.Join(dir, "work"),
		"bash", "--noprofile", "--norc", "-c", driver, "driver", scripts, out)
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "markers") + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + filepath.Join(dir, "home"), "TERM=dumb", "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1"}
	for _, v := range programs.Environment() {
		if strings.Contains(v, "=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	before := treeState(t, dir)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the sandbox: %v\n%s", err, text)
	}
	for i := range commands {
		name := filepath.Join(out, strconv.Itoa(i))
		text, _ := os.ReadFile(name)
		code, _ := os.ReadFile(name + ".code")
		runs = append(runs, reading{strings.TrimSpace(string(code)), string(text)})
	}
	return runs, changes(before, treeState(t, dir))
}

// readingTree makes a repository with a file that only lists, a directory and the
// repository lead to, and a program for git to start.
func readingTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "work", "evil")
	for name, text := range map[string]string{
		"work/a": "foo 1\nbar 2\n", "work/b": "foo 1\nbaz 3\n", "work/c.txt": "c\n", "work/src/x.go": "package src\n",
		"work/list": "sub/secret\x00", "work/@list": "x\n", "work/sums": "d41d8cd98f00b204e9800998ecf8427e  sub/secret\n",
		"work/names": "sub/secret\x00a\x00", "work/sub/secret": secret + "\n", "work/1": "1\n", "work/a.gz": "none",
		"work/.gitattributes": "* diff=evil filter=evil\n", "work/evil": "#!/bin/sh\ntouch '" + dir + "/ran'\ncat\n",
		"work/build.ninja": "rule r\n command = touch ran\nbuild ran: r\n", "home/.jq": "def foo: .;", "tmp/used": "", "run/used": "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		testenv.WriteProgram(t, file, []byte(text))
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "first"}, {"commit", "-q", "--allow-empty", "-m", "second"},
		{"config", "diff.evil.textconv", program}, {"config", "diff.evil.command", program}, {"config", "filter.evil.clean", program},
		{"config", "core.fsmonitor", program}, {"config", "core.pager", program}, {"config", "alias.x", "!" + program},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = filepath.Join(dir, "work")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	addSamples(t, dir)
	return dir
}

// treeState lists all names below a directory with what tells that they changed:
// the time of the last change of any attribute is one that no program can set.
func treeState(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command("find", dir, "-printf", `%p %M %U %n %i %s %T@ %C@\n`).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// changes are the lines that one of two states has and the other has not.
func changes(before, after string) []string {
	var out []string
	for line := range strings.Lines(before) {
		if !strings.Contains(after, line) {
			out = append(out, "-"+line)
		}
	}
	for line := range strings.Lines(after) {
		if !strings.Contains(before, line) {
			out = append(out, "+"+line)
		}
	}
	return out
}
