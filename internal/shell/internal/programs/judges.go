package programs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// judges finds the function that a "judge" line of the table names, or nil.
func judges(name string) judge {
	return map[string]judge{
		"awk": judgeAwk, "sed": judgeSed, "jq": judgeJq, "find": judgeFind,
		"test": judgeTest, "printf": judgePrintf, "seq": judgeSeq, "ps": judgePs, "set": judgeSet,
		"copy": judgeCopy, "rmdir": judgeRmdir, "mktemp": judgeMktemp, "dd": judgeDd, "chmod": judgeChmod,
		"wrapper": judgeWrapper, "shell": judgeShell, "xargs": judgeXargs, "env": judgeEnv, "command": judgeCommand,
		"git": judgeGit, "git config": judgeGitConfig, "tac": judgeTac, "tail": judgeTail, "tar": judgeTar, "go env": judgeGoEnv, "net": judgeNet,
		"ssh": judgeSSH, "socat": judgeSocat, "git remote": judgeRemote, "git itself": judgeGitItself, "escapes": judgeEscapes, "make": judgeMake,
		"python": judgePython, "export": judgeExport, "alias": judgeAlias, "fd": judgeFd, "zip": judgeZip, "gzip": judgeGzip, "findmnt": judgeFindmnt,
		"paths": judgePaths, "yq": judgeYq, "archives": judgeArchives,
	}[name]
}

// refuse makes a finding not read-only, and not complete.
func (f *Finding) refuse(format string, args ...any) {
	f.ReadOnly, f.Complete = false, false
	f.Reason = fmt.Sprintf(format, args...)
}

// printfConversion is a conversion of printf's format, up to its letter. bash
// assigns to a variable for "n", and evaluates the subscript it is given there.
var printfConversion = lazyregexp.New(`%[^a-zA-Z%]*[hlLjztq]*n`)

// judgePrintf judges printf: the first word must not be -v, which assigns to a
// variable (and runs commands in its subscript), nor the format ask for that.
func judgePrintf(r *row, args []Arg) Finding {
	f := Finding{ReadOnly: true, Complete: true, Reason: r.why}
	if len(args) > 0 && args[0].Literal && args[0].Text == "--" {
		args = args[1:]
	} else if len(args) > 0 && args[0].Literal && strings.HasPrefix(args[0].Text, "-") && len(args[0].Text) > 1 {
		f.refuse("printf %s may assign to a variable", args[0].Text)
		return f
	}
	if len(args) == 0 {
		return f
	}
	switch format := args[0]; {
	case !format.Literal:
		f.refuse("the format of printf, %s, is not known before it runs", format.Text)
	case printfConversion.MatchString(strings.ReplaceAll(format.Text, "%%", "")):
		f.refuse("the format of printf assigns to a variable with %%n")
	}
	return f
}

// mostNumbers is how many numbers seq may print.
const mostNumbers = 10_000_000

// judgeSeq judges seq, which does not end for some operands ("inf").
func judgeSeq(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	if !f.ReadOnly {
		return f
	}
	numbers := []float64{1}
	for _, o := range l.operands() {
		n, err := strconv.ParseFloat(o.Text, 64)
		if err != nil || !o.Literal || math.IsInf(n, 0) || math.IsNaN(n) {
			f.refuse("how many numbers seq prints is not known: %s", o.Text)
			return f
		}
		numbers = append(numbers, n)
	}
	first, step, last := numbers[0], 1.0, numbers[len(numbers)-1]
	if len(numbers) > 2 {
		first = numbers[1]
	}
	if len(numbers) > 3 {
		step = numbers[2]
	}
	if count := (last - first) / step; !(math.Abs(count) <= mostNumbers) {
		f.refuse("seq would print more than %d numbers", mostNumbers)
	}
	return f
}

// judgePs judges ps, whose words without a dash are flags too: "e" among them
// shows the environment of every process, as /proc/*/environ would. So does "-e",
// which lists every process, where ps cannot make sense of all its words and takes
// those with a dash as if they had none.
func judgePs(r *row, args []Arg) Finding {
	f := Finding{ReadOnly: true, Complete: true, Reason: r.why}
	var behindDash strings.Builder
	var chosen, selected bool // which columns there are, and which processes
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.Literal {
			f.refuse("%s may turn out to be a flag of ps", a.Text)
			return f
		}
		known, value := psFlag(a.Text)
		columns := strings.HasSuffix(a.Text, "o")
		if value {
			if i++; i < len(args) && !psValue(a.Text, args[i]) {
				f.refuse("%s may turn out to be a flag of ps", args[i].Text)
			}
		}
		if !known || value && columns && (i >= len(args) || !safeColumns(args[i])) {
			f.refuse("%s is not known as a flag with which ps shows no secrets", a.Text)
		}
		if letters, ok := strings.CutPrefix(a.Text, "-"); ok && !strings.HasPrefix(letters, "-") {
			behindDash.WriteString(letters)
		}
		chosen, selected = chosen || columns, selected || value && !columns
	}
	dashed := behindDash.String()
	layout := chosen && strings.ContainsAny(dashed, "fFjlMyZ") // which columns leave no place for
	if strings.Contains(dashed, "e") && (selected || layout || strings.Contains(dashed, "T")) {
		f.refuse("ps -e with flags that it may not be able to make sense of shows environments then")
	}
	return f
}

// psValue reports whether a word is the value of the flag before it even where ps
// reads its words another way: -u and -g take none then.
func psValue(flag string, value Arg) bool {
	if value.Literal {
		return !strings.HasPrefix(value.Text, "-")
	}
	return value.Single && flag != "-u" && flag != "-g"
}

// psFlag says whether a word is one that ps may be given, and whether the next
// is its value.
func psFlag(word string) (known, value bool) {
	switch word {
	case "--no-headers", "--forest", "-aux":
		return true, false
	case "-p", "-u", "-C", "-g", "-t", "p":
		return true, true
	}
	if isNumber(word) || strings.HasPrefix(word, "--sort=") {
		return true, false
	}
	letters, dashed := strings.CutPrefix(word, "-")
	if letters == "" {
		return false, false
	}
	letters, value = strings.CutSuffix(letters, "o")
	if dashed {
		return strings.Trim(letters, "aAdefFHjlLMNTwyZ") == "", value
	}
	return strings.Trim(letters, "afhjlnrsuvwx") == "", value
}

// psColumns are names for ps -o; the environment of a process is not among them.
var psColumns = lazyregexp.New(`^((pid|ppid|pgid|sid|tid|user|uid|group|gid|comm|cmd|args|command|etime|etimes|time|cputime|start|lstart|stat|state|pcpu|%cpu|pmem|%mem|rss|vsz|nice|ni|pri|tty|tt|wchan|nlwp)(=[A-Za-z]*)?,?)+$`)

func safeColumns(a Arg) bool { return a.Literal && psColumns.MatchString(a.Text) }

// judgeSet judges the shell's set: alone it prints, and some options only make
// the rest of this command stricter.
func judgeSet(r *row, args []Arg) Finding {
	f := Finding{ReadOnly: true, Complete: true, Reason: r.why}
	for i := 0; i < len(args); i++ {
		a := args[i]
		letters, ok := strings.CutPrefix(a.Text, "-")
		if !ok {
			letters, ok = strings.CutPrefix(a.Text, "+")
		}
		option := strings.HasSuffix(letters, "o")
		if !a.Literal || !ok || letters == "" || strings.Trim(letters, "euo") != "" || strings.Count(letters, "o") > 1 {
			f.refuse("set %s changes how the shell works", a.Text)
			return f
		}
		if option && i+1 < len(args) {
			i++
			switch args[i].Text {
			case "errexit", "nounset", "pipefail":
			default:
				f.refuse("set -o %s changes how the shell works", args[i].Text)
				return f
			}
		}
	}
	return f
}

// goSettings are names for go env that go finds without a compiler or its cache.
var goSettings = lazyregexp.New(`^GO(ARCH|BIN|CACHE|ENV|EXE|FLAGS|HOSTARCH|HOSTOS|MOD|MODCACHE|NOPROXY|NOSUMDB|OS|PATH|PRIVATE|PROXY|ROOT|SUMDB|TMPDIR|TOOLCHAIN|TOOLDIR|VERSION|WORK)$`)

// judgeGoEnv judges go env: only named settings are told without a trace.
func judgeGoEnv(r *row, args []Arg) Finding {
	f := r.read(args).finding()
	if len(args) == 0 {
		f.refuse("go env asks a compiler for some of its settings")
	}
	f = f.with(judgeExport(r, args))
	for _, a := range args {
		if !a.Literal || !goSettings.MatchString(a.Text) {
			f.refuse("go env %s is not known to only read", a.Text)
		}
	}
	return f
}

// netFile is a value of a flag of curl that names a file to send.
var netFile = lazyregexp.New(`^(?:[^@=<]*=)?[@<]([^;,]+)`)

// netBodies are flags of curl whose value may name a file to send or to read.
var netBodies = strings.Fields(`-d --data --data-ascii --data-binary --data-urlencode --url-query -F --form --json -H --header
	--proxy-header -w --write-out -b --cookie --variable -T --upload-file -E --cert`)

// mayNameFile reports whether a value that is expanded may begin with @ or <, or has a
// file's name behind one.
func mayNameFile(text string) bool {
	return strings.ContainsAny(text, "@<") || strings.HasPrefix(strings.TrimLeft(text, `"`), "$")
}

// judgeNet judges curl and wget: where they go, and what they send along.
func judgeNet(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	for _, it := range l.items {
		if slices.Contains(netBodies, it.flag) && !it.arg.Literal && mayNameFile(it.arg.Text) {
			f.Unknown |= permissions.UnknownRead
		}
		if m := netFile.FindStringSubmatch(it.arg.Text); m != nil && it.flag != "" && it.arg.Literal {
			f.Effects = append(f.Effects, Effect{Kind: permissions.AccessRead, Name: m[1]})
		}
		switch it.flag {
		case "--url":
			if e, ok := (item{arg: it.arg, kind: kindURL}).effect(false); ok {
				f.Effects = append(f.Effects, e)
			}
		case "--resolve", "--connect-to":
			if it.arg.Literal { // nothing but a person's yes has another host dialled than the URL's
				f.Effects = append(f.Effects, Effect{Kind: permissions.AccessNet, Name: it.arg.Text})
			}
		case "--execute":
			f = f.with(wgetSetting(it.arg))
		case "-e":
			if r.name == "wget" {
				f = f.with(wgetSetting(it.arg))
			}
		}
	}
	return f
}

// judgePaths judges programs that may take the name of a file for a URI, or unescape it:
// xmllint, openssl.
func judgePaths(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	for _, it := range l.items {
		if it.kind.path() && (!it.arg.Literal || strings.ContainsAny(it.arg.Text, ":%")) {
			f.refuse("%s may be more than the name of a file to %s", it.arg.Text, r.name)
		}
	}
	return f
}

// judgeFindmnt judges findmnt, which looks for labels (LABEL=x) on devices, and keeps
// what it finds.
func judgeFindmnt(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	for _, it := range l.items {
		if it.flag == "" && (!it.arg.Literal || strings.Contains(it.arg.Text, "=")) {
			f.refuse("findmnt may keep a list of devices to find %s", it.arg.Text)
		}
	}
	return f
}

// judgeTac judges tac, which copies what it cannot seek in to a file of its own.
func judgeTac(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	pipe := len(l.operands()) == 0 || slices.ContainsFunc(l.operands(), func(o Arg) bool {
		device := strings.HasPrefix(o.Text, "/dev/") || strings.HasPrefix(o.Text, "/proc/")
		return o.Text == "-" || device || !o.Literal && !o.Glob
	})
	if pipe {
		f.refuse("tac keeps its input in a temporary file")
	}
	return f
}

// tailFrom is the old way to say where tail starts. An f at its end makes it go on
// for ever.
var tailFrom = lazyregexp.New(`^\+[0-9]*[bcl]?$`)

// judgeTail judges tail, whose first operand may be flags: +1f. So may the value of
// -c: "tail -cf FILE" does not end.
func judgeTail(r *row, args []Arg) Finding {
	l := r.read(args)
	f := l.finding()
	if v, ok := l.value("-c"); ok && strings.HasSuffix(v.Text, "f") {
		f.refuse("-c%s are two flags of tail, with which it does not end", v.Text)
	}
	for _, o := range l.operands() {
		if strings.HasPrefix(o.Text, "+") && (!o.Literal || !tailFrom.MatchString(o.Text)) {
			f.refuse("%s may be a flag of tail, with which it does not end", o.Text)
		}
	}
	return f
}

// testUnary are the operators of test with one operand, and whether that is a
// file. -v and -R evaluate the subscript of a variable, commands in it included.
var testUnary = map[string]bool{
	"-n": false, "-z": false, "-t": false, "-o": false, "-a": true,
	"-b": true, "-c": true, "-d": true, "-e": true, "-f": true, "-g": true, "-h": true, "-k": true, "-p": true,
	"-r": true, "-s": true, "-u": true, "-w": true, "-x": true, "-G": true, "-L": true, "-N": true, "-O": true, "-S": true,
}

// testBinary is the same for operators between two operands.
var testBinary = map[string]bool{
	"=": false, "==": false, "!=": false, "<": false, ">": false,
	"-eq": false, "-ne": false, "-lt": false, "-le": false, "-gt": false, "-ge": false,
	"-nt": true, "-ot": true, "-ef": true,
}

// judgeTest judges test and [. bash reads them by the number of their words, so
// each must be one word, and the operator must be known.
func judgeTest(r *row, args []Arg) Finding {
	f := Finding{ReadOnly: true, Complete: true, Reason: r.why}
	if n := len(args) - 1; r.name == "[" && n >= 0 && args[n].Text == "]" {
		args = args[:n]
	}
	f.test(args)
	return f
}

// test judges an expression, its parts between -a and -o each alone.
func (f *Finding) test(args []Arg) {
	for len(args) > 1 && args[0].Literal && args[0].Text == "!" {
		args = args[1:]
	}
	n := len(args)
	for _, a := range args {
		if !a.Literal && !a.Single {
			f.refuse("%s may become any number of words for test", a.Text)
			f.Unknown |= permissions.UnknownRead
			return
		}
	}
	switch {
	case n <= 1:
	case n == 2 && args[0].Literal && hasKey(testUnary, args[0].Text):
		f.testFiles(testUnary[args[0].Text], args[1])
	case n == 3 && args[1].Literal && hasKey(testBinary, args[1].Text):
		f.testFiles(testBinary[args[1].Text], args[0], args[2])
	default:
		f.testJoined(args)
	}
}

// testJoined judges "A -a B": only where all words are literal, since any other
// could be an operator.
func (f *Finding) testJoined(args []Arg) {
	for i, a := range args {
		if !a.Literal || a.Text == "-v" || a.Text == "-R" {
			f.refuse("test is not understood at %s", a.Text)
			f.Unknown |= permissions.UnknownRead
			return
		}
		if i > 0 && testUnary[args[i-1].Text] && args[i-1].Text != "-a" {
			f.testFiles(true, a)
		}
	}
}

// testFiles adds the files that an operator looks at.
func (f *Finding) testFiles(files bool, args ...Arg) {
	for _, a := range args {
		switch {
		case files && a.Literal:
			f.Effects = append(f.Effects, Effect{Kind: permissions.AccessRead, Name: a.Text})
		case files:
			f.Unknown, f.Complete = f.Unknown|permissions.UnknownRead, false
		}
	}
}

func hasKey(m map[string]bool, key string) bool {
	_, ok := m[key]
	return ok
}
