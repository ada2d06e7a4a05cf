package shell

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// samples are operands with which a program has something to do; "a b" is for
// those that are not listed.
var samples = map[string]string{
	"tar": "-tf a.tar packed", "nm": "elf", "objdump": "-d elf", "size": "elf", "yq": ".foo a.json", "xmllint": "a.xml",
	"openssl x509": "-noout -in a.pem", "openssl version": "", "openssl dgst": "a", "crontab": "", "locate": "a", "plocate": "a",
	"unzip": "a.zip * a", "zipinfo": "a.zip a", "zcat": "a.gz", "gzip": "a.gz", "xz": "a.gz", "readelf": "elf", "strings": "elf",
	"go version": "elf", "sed": "p a", "awk": "1 a", "gawk": "1 a", "mawk": "1 a", "nawk": "1 a", "jq": ". a.json",
	"grep": "foo a", "egrep": "foo a", "fgrep": "foo a", "rg": "foo .", "fd": ". src", "fdfind": ". src", "find": ". -name a",
	"date": "+%s", "tac": "<(ls) a", "xxd": "a", "uniq": "a", "base64": "a", "gofmt": "a", "seq": "1 2", "printf": "%s a", "test": "-f a", "[": "-f a ]", "ps": "-e x", "tee": "/dev/null",
	"getconf": "NAME_MAX a", "findmnt": "LABEL=x", "command": "-v a", "read": "x y", "unset": "x y", "tr": "a b", "numfmt": "1000",
	"env": "", "pwd": "", "wait": "", "hostname": "", "nproc": "", "free": "", "uptime": "", "mount": "", "tree": "src", "ls": "a",
	"netstat": "-n", "ss": "", "ifconfig": "", "hash": "", "alias": "", "ulimit": "-a", "umask": "", "set": "-e",
	"timeout": "5 ls a", "time": "ls a", "nice": "ls a", "nohup": "ls a", "stdbuf": "-o0 ls a", "xargs": "ls a",
	"git log": "HEAD a", "git show": "HEAD a", "git diff": "HEAD a", "git rev-parse": "HEAD", "git cat-file": "-p HEAD",
	"git config": "core.bare", "git config get": "core.bare", "git grep": "foo a", "git ls-tree": "HEAD", "git rev-list": "HEAD",
	"git blame": "a", "git branch": "--list x", "git tag": "--list x", "go env": "GOOS", "git shortlog": "HEAD",
	"git diff-tree": "HEAD~1 HEAD", "git diff-index": "HEAD a", "git check-attr": "-a a", "git merge-base": "HEAD HEAD~1",
}

// psWords are words for ps, the row of which lists none.
var psWords = strings.Fields(`-e -A -f -F -H -L -T -l -y -j -M -Z -N -a -d -w -ef -eo -o -eHT --forest --no-headers --sort=pid --sort=e
	--sort=nosuch a x f u l h ax aux -aux 1 -p -u -g -t -C p pid,args args eww e nosuch -eT -efH -efT -efL -eLT -ely -ey`)

// sampleOf returns the operands that suit a row.
func (r toolRow) sampleOf() []string {
	if s, ok := samples[r.name]; ok {
		return strings.Fields(s)
	}
	if words := strings.Fields(r.name); words[0] == "git" || words[0] == "ip" || words[0] == "systemctl" {
		return nil
	}
	return []string{"a", "b"}
}

// form puts a command line of one row together: operands that suit it, or any
// number of others, and flags before, between and behind them, or behind a "--".
func (r toolRow) form(random *rand.Rand) string {
	var words [][]string
	sample := r.sampleOf()
	for i := range random.IntN(len(sample) + 2) {
		word := operands[random.IntN(len(operands))]
		if i < len(sample) && random.IntN(8) > 0 {
			word = literals(sample[i : i+1])
		}
		words = append(words, []string{word})
	}
	for range random.IntN(4) {
		if flag := r.anyFlag(random); flag != nil {
			words = slices.Insert(words, random.IntN(len(words)+1), flag)
		}
	}
	if random.IntN(6) == 0 {
		words = slices.Insert(words, random.IntN(len(words)+1), []string{"--"})
	}
	return r.name + " " + strings.Join(slices.Concat(words...), " ")
}

// literals writes words with a blank before each, so that the shell reads no pattern.
func literals(words []string) string {
	var out strings.Builder
	for _, word := range words {
		if strings.Contains(word, "*") {
			word = "'" + word + "'"
		}
		out.WriteString(" " + word)
	}
	return out.String()
}

// anyFlag is a flag of the row, sometimes cut short, with or without a value.
func (r toolRow) anyFlag(random *rand.Rand) []string {
	switch {
	case r.name == "ps":
		return []string{psWords[random.IntN(len(psWords))]}
	case len(r.flags) == 0:
		return nil
	}
	flag := r.flags[random.IntN(len(r.flags))]
	name := strings.TrimRight(flag, ":?<>$%^!@&")
	switch {
	case strings.HasPrefix(name, "--") && random.IntN(8) == 0:
		return []string{name[:3+random.IntN(len(name)-3)]}
	case name == flag && random.IntN(2) == 0 && strings.HasPrefix(name, "--"):
		return []string{name}
	case random.IntN(3) == 0 && !strings.HasPrefix(name, "--"):
		return []string{"-" + string(name[1+random.IntN(len(name)-1)])}
	}
	return randomFlag(random, flag)
}

// reads returns forms of a row that are said to be read-only, no more than most,
// and none twice.
func (r toolRow) reads(random *rand.Rand, at Place, most int) []permissions.Command {
	var out []permissions.Command
	seen := map[string]bool{}
	try := func(text string) {
		if seen[text] || len(out) == most {
			return
		}
		seen[text] = true
		if c := Analyse(text, at); c.ReadOnly && len(c.Parts) > 0 {
			out = append(out, c)
		}
	}
	for range 40 * most {
		try(r.form(random))
	}
	for _, flag := range r.eachFlag() {
		try(r.name + " " + strings.TrimRight(flag, ":?<>$%^!@&"))
	}
	return out
}

// behind returns commands that give a row's flags behind its operands, and one
// "--": of those forms that are said to be read-only, many in a command.
func (r toolRow) behind(random *rand.Rand, at Place, most int) []permissions.Command {
	operands := literals(r.sampleOf())
	var forms []string
	for _, flag := range r.eachFlag() {
		name := strings.TrimRight(flag, ":?<>$%^!@&")
		if strings.ContainsAny(flag[len(name):], ":<") {
			name += " 5"
		}
		forms = append(forms, r.name+operands+" "+name, r.name+" "+name+operands+" --")
	}
	random.Shuffle(len(forms), func(i, j int) { forms[i], forms[j] = forms[j], forms[i] })
	forms = slices.DeleteFunc(forms[:min(len(forms), most)], func(form string) bool { return !Analyse(form, at).ReadOnly })
	var out []permissions.Command
	for group := range slices.Chunk(forms, 10) {
		out = append(out, Analyse("("+strings.Join(group, ")\n(")+")", at))
	}
	return out
}

// eachFlag returns the row's flags, those of one letter apart.
func (r toolRow) eachFlag() []string {
	var out []string
	for _, flag := range r.flags {
		name := strings.TrimRight(flag, ":?<>$%^!@&")
		if strings.HasPrefix(name, "--") || slices.Contains(r.traits, "onedash") {
			out = append(out, flag)
			continue
		}
		for _, letter := range name[1:] {
			out = append(out, "-"+string(letter)+flag[len(name):])
		}
	}
	return out
}

// TestEveryRowOnlyReads makes up command lines of each row of the table, and has
// bash run those that are said to be read-only in a sandbox, as
// [TestReadOnlyCommandsOnlyRead] does.
func TestEveryRowOnlyReads(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux)
	bwrap, _ := testenv.NeedTool(t, "bwrap"), testenv.NeedTool(t, "git")
	each, seed := 2, uint64(1)
	rows := slices.DeleteFunc(installedRows(t), func(r toolRow) bool { return !r.mayOnlyRead() })
	rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	rows = rows[:testenv.Sample(len(rows))]
	if n, err := strconv.Atoi(os.Getenv("TOOLQUAY_READ_RUNS")); err == nil {
		each, seed = 1+n/len(rows), uint64(time.Now().UnixNano())
	}
	dir := readingTree(t)
	at := Place{Cwd: filepath.Join(dir, "work"), Home: filepath.Join(dir, "home")}
	var commands []permissions.Command
	for _, row := range rows {
		// A row's forms are the same whichever rows are chosen.
		name := fnv.New64a()
		_, _ = name.Write([]byte(row.name))
		random := rand.New(rand.NewPCG(seed, name.Sum64()))
		reads := row.reads(random, at, each)
		if !slices.Contains(row.traits, "plain") {
			commands = append(commands, row.behind(random, at, 3*each)...)
		}
		if commands = append(commands, reads...); len(reads) == 0 {
			t.Errorf("no form of %s is read-only", row.name)
		}
	}
	t.Logf("%d commands of %d rows (seed %d)", len(commands), len(rows), seed)
	onlyRead(t, bwrap, dir, commands)
}

// addSamples adds files that programs know, and programs that nothing is to start.
func addSamples(t *testing.T, dir string) {
	t.Helper()
	const text = `{"foo": 1}` + "\n"
	for name, writer := range map[string]func(io.Writer) error{
		// A parser that loads what a document names would print the secret.
		"a.xml": func(w io.Writer) error {
			_, err := io.WriteString(w, `<!DOCTYPE a [<!ENTITY e SYSTEM "sub/secret">]><a xmlns:xi="http://www.w3.org/2001/XInclude">&e;`+
				`<xi:include href="sub/secret" parse="text"/></a>`)
			return err
		},
		"a.json": func(w io.Writer) error { _, err := io.WriteString(w, text); return err },
		"a.gz": func(w io.Writer) error {
			z := gzip.NewWriter(w)
			_, err := io.WriteString(z, text)
			return errors.Join(err, z.Close())
		},
		"a.zip": func(w io.Writer) error {
			z := zip.NewWriter(w)
			f, err := z.Create("packed")
			if err == nil {
				_, err = io.WriteString(f, text)
			}
			return errors.Join(err, z.Close())
		},
		"a.tar": func(w io.Writer) error {
			z := tar.NewWriter(w)
			err := z.WriteHeader(&tar.Header{Name: "packed", Mode: 0o644, Size: int64(len(text))})
			if err == nil {
				_, err = io.WriteString(z, text)
			}
			return errors.Join(err, z.Close())
		},
		"elf": func(w io.Writer) error {
			b, err := os.ReadFile("/bin/true")
			if err == nil {
				_, err = w.Write(b)
			}
			return err
		},
	} {
		f, err := os.Create(filepath.Join(dir, "work", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(writer(f), f.Close()); err != nil {
			t.Fatal(name, err)
		}
	}
	for name := range strings.FieldsSeq("less more pager pr gpg ssh vi nano editor man touch rm ld xdg-open") {
		file := filepath.Join(dir, "markers", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		testenv.WriteProgram(t, file, []byte("#!/bin/bash\necho >>'"+dir+"/ran'\n"))
	}
}
