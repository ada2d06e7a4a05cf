//go:build linux && (amd64 || arm64)

package host_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// printers are ways to print the file F, or the one at its end of a link that is made, whatever
// its words tell of that.
var printers = map[string]string{
	"cat":                    `cat FILE`,
	"by a variable":          `f=FILE; cat "$f"`,
	"pieced together":        `f=$(printf %s FILE); cat $f`,
	"a redirection":          `f=$(printf %s FILE); while read -r l; do echo "$l"; done < $f`,
	"copied":                 `cp FILE copy; cat copy`,
	"copied unseen":          `x=$(printf %s FILE); cp $x copy; cat copy`,
	"a link":                 `ln -s FILE l; cat l`,
	"a link by a script":     `echo 'ln -s "$1" l; cat l/. l' > s.sh; sh s.sh FILE`,
	"a hard link":            `ln FILE l; cat l`,
	"a hard link by python":  `python3 -c 'import os, sys; os.link(sys.argv[1], "l"); print(open("l").read())' FILE`,
	"moved":                  `sh -c 'mv "$1" here; cat here' - FILE`,
	"tar":                    `sh -c 'tar -cPf x.tar "$1"; tar -xPOf x.tar' - FILE`,
	"tar of what is above":   `sh -c 'tar -cf x.tar -C "$(dirname "$1")" . ; tar -xOf x.tar' - FILE`,
	"python":                 `python3 -c 'import sys; print(open(sys.argv[1]).read())' FILE`,
	"python, from below":     `python3 -c 'import os; d = os.path.dirname("FILE"); [print(open(os.path.join(p, n), errors="replace").read()) for p, _, ns in os.walk(d) for n in ns]'`,
	"perl":                   `perl -e 'open F, shift; print <F>' FILE`,
	"awk":                    `awk '{ print }' FILE`,
	"a script of sed":        `echo 'r FILE' > s; echo | sed -f s`,
	"git":                    `git init -q r; git -C r hash-object -w FILE | xargs git -C r cat-file -p`,
	"git, without an index":  `git diff --no-index /dev/null FILE`,
	"git, by configuration":  `git init -q r; git -C r -c include.path=FILE config -l 2>&1`,
	"what a message says":    `sh -c '. "$1"' - FILE 2>&1; bash FILE 2>&1`,
	"the root of a process":  `cat /proc/self/root/FILE /proc/1/root/FILE /proc/$$/root/FILE`,
	"a root, unseen":         `for p in /proc/[0-9]*; do sh -c 'cat "$1/root/$2"' - $p FILE; done`,
	"the working directory":  `sh -c 'cat /proc/self/cwd/../../../../../../../../..FILE' 2>&1`,
	"descriptors":            `sh -c 'for f in /proc/*/fd/*; do head -c 99 "$f" < /dev/null; done' 2>/dev/null & sleep 0.3; cat FILE`,
	"find":                   `sh -c 'find / -xdev -name "$(basename "$1")" -exec cat {} +' - FILE 2>/dev/null`,
	"grep":                   `sh -c 'grep -rh . "$(dirname "$1")"' - FILE 2>/dev/null`,
	"a mount":                `sh -c 'unshare -rm sh -c "mount --bind $(dirname "$1") . && cat $(basename "$1")"' - FILE 2>&1`,
	"a loop over a pattern":  `for f in $(dirname FILE)/* $(dirname FILE)/.*; do cat "$f" 2>/dev/null; done`,
	"names that are read":    `echo FILE > list; while read -r f; do head -1 "$f"; done < list`,
	"names that are fed":     `echo FILE | xargs cat`,
	"an archive of names":    `sh -c 'echo "$1" | cpio -o 2>/dev/null' - FILE`,
	"dd":                     `sh -c 'dd if="$1" 2>/dev/null' - FILE`,
	"in the background":      `sh -c 'cat "$1" > out' - FILE & wait; cat out`,
	"a shell's history":      `bash -c 'history -r "$1"; history' - FILE`,
	"a shell's completion":   `bash -c 'mapfile -t x < "$1"; echo "${x[@]}"' - FILE`,
	"a function":             `p() { cat "$@"; }; p FILE`,
	"evaluated":              `eval "cat FILE"`,
	"encoded":                `echo Y2F0ICIkMSI= | base64 -d > s.sh; sh s.sh FILE`,
	"a place for temporary":  `sh -c 'cp "$1" "$TMPDIR/x"; cp "$1" /tmp/x; cat "$TMPDIR/x" /tmp/x' - FILE`,
	"the environment of one": `sh -c 'cat /proc/*/environ' | tr '\0' '\n'; cat FILE`,
	"make":                   `printf 'include %s\nall:\n\t@cat $(F)\n' FILE > Makefile; make -s all F=FILE 2>&1`,
	"an interpreter":         `sh -c 'printf "#!/bin/cat\n" > t; chmod +x t; ./t "$1"' - FILE`,
	"diff":                   `sh -c 'diff "$1" /dev/null' - FILE`,
	"a race of links": `python3 -c 'import os, threading, time
def flip():
    for i in range(400):
        for to in ("ok", "FILE"):
            try:
                os.symlink(to, "t%d" % i); os.rename("t%d" % i, "race")
            except OSError: pass
open("ok", "w").write("fine")
threading.Thread(target=flip).start()
for i in range(400):
    try: print(open("race").read())
    except OSError: pass'`,
}

// TestUnaskedPrintsNothing is the law: no confined command that ran unasked prints a file that
// Read would ask for, whichever way it looks.
func TestUnaskedPrintsNothing(t *testing.T) {
	t.Parallel()
	const canary = "CANARY-7f3a"
	var printed atomic.Int32
	for name, command := range printers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{".env": canary, "keys/k": canary, "asked/a": canary, "plain": "plain text\n"})
			h := newShelled(t, func(o *host.Options) {
				o.Permissions.Rules = rules("Read(.env) | Read(keys/**) | Read(~/go/private/**)", "Read(asked/**) | Read(~/.cache/pip/asked)", "")
			})
			secrets := []string{filepath.Join(t.TempDir(), "file")}
			for _, file := range []string{
				"notes.txt", ".ssh/id", ".npmrc", ".config/some/conf", ".bash_history", "go/private/x", ".cache/pip/asked", ".cargo/credentials.toml", "state/grants.json",
			} {
				secrets = append(secrets, filepath.Join(h.home, file))
			}
			for _, file := range secrets {
				must(t, os.MkdirAll(filepath.Dir(file), 0o700))
				must(t, os.WriteFile(file, []byte(canary+"\n"), 0o600))
			}
			secrets = append(secrets, filepath.Join(dir, ".env"), filepath.Join(dir, "keys/k"), filepath.Join(dir, "asked/a"), ".env", "keys/k")
			s := session(t, h.Host, host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits})
			for i, file := range secrets {
				if !testenv.Thorough() && i%4 != len(name)%4 {
					continue // the others by other ways
				}
				if got := told(t, s, strings.ReplaceAll(command, "FILE", file)); strings.Contains(got, canary) {
					t.Errorf("%s is printed: %q", file, got)
				}
			}
			if got := told(t, s, strings.ReplaceAll(command, "FILE", filepath.Join(dir, "plain"))); strings.Contains(got, "plain text") {
				printed.Add(1)
			} else {
				t.Logf("a plain file is not printed: %q", got)
			}
		})
	}
	t.Cleanup(func() {
		if got := int(printed.Load()); got < len(printers)/2 {
			t.Errorf("only %d of %d ways print a file of the working directory unasked", got, len(printers))
		}
	})
}

// readers are ways to print the file F that only read, if they can read no other files than
// these, write nothing and reach no host.
var readers = map[string]string{
	"by a variable":      `f=$(printf %s FILE); cat "$f"`,
	"unquoted":           `f=$(printf %s FILE); cat $f`,
	"a redirection":      `f=$(printf %s FILE); while read -r l; do echo "$l"; done < "$f"`,
	"names fed":          `echo FILE | xargs cat`,
	"names fed, one":     `echo FILE | xargs -n1 head -5`,
	"names in a place":   `echo FILE | xargs -I{} tail -3 {}`,
	"names that end":     `printf 'FILE\0' | xargs -0 grep -h .`,
	"a loop over names":  `for f in $(printf %s FILE); do sed -n 1,9p "$f"; done`,
	"a loop of lines":    `echo FILE | while read -r f; do head -3 "$f"; done`,
	"find":               `find "$(dirname FILE)" -maxdepth 1 -type f -exec cat {} +`,
	"find and xargs":     `find "$(dirname FILE)" -maxdepth 1 -type f -print0 | xargs -0 cat`,
	"grep":               `grep -rh . "$(dirname FILE)"`,
	"grep through links": `grep -Rh . "$(dirname FILE)"`,
	"awk":                `awk '{ print }' "$(printf %s FILE)"`,
	"an option":          `o=$(printf %s -fFILE); grep $o plain; cat $(printf %s FILE)`,
	"another root":       `cat $(printf %s /proc/self/root)FILE; cat $(printf %s /proc/1/cwd)/FILE; cat $(printf %s FILE)`,
	"a process":          `cat $(echo /proc/[0-9]*/environ); cat $(printf %s FILE)`,
	"git":                `git diff --no-index /dev/null "$(printf %s FILE)"; cat "$(printf %s FILE)"`,
}

// TestReadsUnaskedPrintNothing is the law for commands that ran unasked in a mode that asks
// before others do, as they only read: they print no file that Read would ask for.
func TestReadsUnaskedPrintNothing(t *testing.T) {
	t.Parallel()
	const canary = "CANARY-7f3a"
	for name, command := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{".env": canary, "keys/k": canary, "asked/a": canary, "plain": "plain text\n"})
			h := newShelled(t, func(o *host.Options) {
				o.Permissions.Rules = rules("Read(.env) | Read(keys/**)", "Read(asked/**)", "")
			})
			secrets := []string{
				filepath.Join(t.TempDir(), "file"), filepath.Join(h.home, "notes.txt"), filepath.Join(h.home, ".ssh/id"), filepath.Join(h.home, "state/grants.json"),
				filepath.Join(h.home, "go/pkg/mod/m/x"), filepath.Join(h.home, ".cache/pip/x"), filepath.Join(h.home, ".npm/x"),
			}
			for _, file := range secrets {
				must(t, os.MkdirAll(filepath.Dir(file), 0o700))
				must(t, os.WriteFile(file, []byte(canary+"\n"), 0o600))
			}
			must(t, os.Symlink(secrets[0], filepath.Join(dir, "link")))
			secrets = append(secrets, filepath.Join(dir, ".env"), filepath.Join(dir, "keys/k"), filepath.Join(dir, "asked/a"), filepath.Join(dir, "link"), ".env", "keys/k")
			for _, mode := range []permissions.Mode{permissions.ModeDefault, permissions.ModePlan} {
				s := session(t, h.Host, host.SessionOptions{Cwd: dir, Mode: mode})
				for _, file := range secrets {
					if got := told(t, s, strings.ReplaceAll(command, "FILE", file)); strings.Contains(got, canary) {
						t.Errorf("%s in the mode %s: %s is printed: %q", command, mode, file, got)
					}
				}
				plain := told(t, s, strings.ReplaceAll(command, "FILE", filepath.Join(dir, "plain")))
				if asks := name == "git"; strings.Contains(plain, "plain text") == asks { // as rules are about reading
					t.Errorf("%s in the mode %s: a plain file: %q", command, mode, plain)
				}
			}
		})
	}
}

// TestReadsUnaskedChangeNothing has words that are only known when a command runs be what it
// may not do: where it was not asked about, as it only reads, it can write nothing and reach
// nothing.
func TestReadsUnaskedChangeNothing(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"a": "1\n", "in-place": "-i a", "output": "-o made a", "delete": "a -delete", "start": "a -exec touch made ;",
		"address": "",
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = listener.Close() }()
	reached := make(chan struct{}, 1)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
			reached <- struct{}{}
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	must(t, os.WriteFile(filepath.Join(dir, "address"), []byte("/dev/tcp/127.0.0.1/"+port), 0o600))
	h := newShelled(t, func(o *host.Options) { o.Permissions.Rules = rules("", "", "") })
	s := session(t, h.Host, host.SessionOptions{Cwd: dir, Mode: permissions.ModeDefault})
	before, err := os.ReadDir(dir)
	must(t, err)
	for _, command := range []string{
		"sed -n 1p $(cat in-place)", "sort $(cat output)", "find $(cat delete)", "find $(cat start)", `cat < "$(cat address)"`,
		`xargs sort < output`, `xargs -n 9 find < delete`,
	} {
		got := told(t, s, command+"; cat $(echo a)")
		if !strings.HasSuffix(got, "1") {
			t.Errorf("%s: %q", command, got)
		}
	}
	now, err := os.ReadDir(dir)
	if must(t, err); len(now) != len(before) {
		t.Errorf("there is %v, and was %v", now, before)
	}
	select {
	case <-reached:
		t.Error("a host was reached")
	default:
	}
}

// TestReadsRunTogether has commands that only read as they are confined run in parallel, as others
// that only read do; and one at a time where they may write.
func TestReadsRunTogether(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) { o.Permissions.Rules = rules("", "", "") })
	for mode, together := range map[permissions.Mode]bool{permissions.ModeDefault: true, permissions.ModeAcceptEdits: false} {
		s := session(t, h.Host, host.SessionOptions{Cwd: t.TempDir(), Mode: mode})
		wait := 200 * time.Millisecond
		if together {
			wait = testenv.Patience
		}
		var running atomic.Int32
		both := make(chan struct{})
		feed := func(fifo string) {
			to, err := os.OpenFile(fifo, os.O_WRONLY, 0) // a command reads it by then
			if err != nil {
				t.Error(err)
				return
			}
			defer to.Close()
			if running.Add(1) == 2 {
				close(both)
			}
			select {
			case <-both:
			case <-time.After(wait):
			}
			running.Add(-1)
			_, _ = to.WriteString("plain text\n") // the command says so
		}
		var calls []abi.ToolUse
		for _, name := range []string{"one", "two"} {
			fifo := filepath.Join(s.Cwd(), name)
			must(t, syscall.Mkfifo(fifo, 0o600))
			go feed(fifo)
			calls = append(calls, bash(name, `cat "$(echo `+name+`)"`))
		}
		for _, r := range s.Results(t.Context(), calls) {
			if r.Text() != "plain text\n" {
				t.Errorf("%s: %s", mode, r.Text())
			}
		}
		select {
		case <-both:
			if !together {
				t.Errorf("%s: they ran at once", mode)
			}
		default:
			if together {
				t.Errorf("%s: they did not run at once", mode)
			}
		}
	}
}

// TestReadsAsked holds where such commands ask as all others do.
func TestReadsAsked(t *testing.T) {
	t.Parallel()
	const command = `cat "$(echo plain)"`
	for name, test := range map[string]struct {
		change func(o *host.Options)
		more   map[string]any
	}{
		"never unasked":          {change: func(o *host.Options) { o.Shell.Sandbox.Unasked = permissions.UnaskedNever }},
		"no sandbox":             {change: func(o *host.Options) { o.Shell.Sandbox.Mode = host.SandboxOff }},
		"out of the sandbox":     {more: map[string]any{"dangerouslyDisableSandbox": true}},
		"a rule":                 {change: func(o *host.Options) { o.Permissions.Rules = rules("", "Bash(cat:*)", "") }},
		"everything may be read": {change: func(o *host.Options) { o.Permissions.Rules = rules("", "", "Read(//**)") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{"plain": "plain text\n"})
			h := newShelled(t, func(o *host.Options) {
				o.Permissions.Rules = rules("", "", "")
				if test.change != nil {
					test.change(o)
				}
			})
			s := session(t, h.Host, host.SessionOptions{Cwd: dir, Mode: permissions.ModeDefault})
			if got := told(t, s, command, test.more); strings.Contains(got, "plain text") {
				t.Errorf("it ran unasked: %q", got)
			}
		})
	}
}
