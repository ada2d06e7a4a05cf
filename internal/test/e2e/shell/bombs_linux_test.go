//go:build amd64 || arm64

package shell_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// net catches bombs that nothing else holds: each process takes no more than so much
// memory, and an ordinary user has no more than so many. What multiplies does so for a
// while only, as the system bounds no processes of root's.
const net = "ulimit -Su 4000 -v 4000000\n"

// bombs are commands that take all there is of something, and what is said of them.
var bombs = map[string]struct{ command, limit, says string }{
	"forks":          {`f() { if (($1)); then f $(($1 - 1)) | f $(($1 - 1)) & fi; sleep 20; }; f 10`, "processes", "it had more than 200 processes"},
	"sessions":       {multiplied("", "for i in 1 2; do setsid"), "processes", "it had more than 200 processes"},
	"unheeding":      {multiplied("trap '' TERM;", "for i in 1 2; do"), "processes", "it had more than 200 processes"},
	"10,000 at once": {`for i in {1..10000}; do sleep 20 & done; wait`, "processes", "it had more than 200 processes"},
	"memory": {python(`x = []
while True: x.append(bytearray(16 << 20))`), "memory", "it took more than 256 MiB of memory"},
	"memory of many": {`for i in {1..50}; do ` + python(`import time; x = bytearray(32 << 20); time.sleep(20)`) + ` & done; wait`, "memory", "it took more than 256 MiB of memory"},
	"lines":          {`yes`, "output", "it wrote more than 64 MiB"},
	"no lines":       {python(`import shutil, sys; shutil.copyfileobj(open("/dev/zero", "rb"), sys.stdout.buffer)`), "output", "it wrote more than 64 MiB"},
	"both streams":   {`yes & yes >&2 & yes no >&2`, "output", "it wrote more than 64 MiB"},
	"time":           {`for i in 1 2 3 4; do (while :; do :; done) & done; wait`, "cpu", "it took more than 1s of processor time"},
	"100,000 files": {python(`import os
n = 0
try:
    while n < 100000: os.dup(0); n += 1
except OSError as e: print(e)
print("more than enough" if n > 1024 else "few")`), "", "Too many open files\nfew"},
	"memory as files": {python(`import os
f = open("/dev/shm/x", "wb", 0)
try:
    for i in range(1000): f.write(bytes(1 << 20))
except OSError as e: print(e)
print("more than enough" if os.stat("/dev/shm/x").st_size > 300 << 20 else "little")`), "", "No space left on device\nlittle"},
	"one after the other": {`for i in {1..1000}; do /bin/true; done; echo all`, "", "all"},
}

// multiplied is a command of which each process begins two of its kind, ten times.
func multiplied(first, begin string) string {
	return `export D=10 B='` + strings.ReplaceAll(first, "'", `'\''`) + ` if ((D)); then D=$((D - 1)); ` + begin + ` bash -c "$B" & done; fi; sleep 20; : MARK'; eval "$B"`
}

// python is a command that runs a program, which others than root can run too.
func python(program string) string { return "/usr/bin/python3 -c '" + program + " # MARK'" }

// some are bombs enough to see that each bound holds.
var some = []string{"unheeding", "memory", "lines", "time", "100,000 files", "memory as files"}

// TestBombs sets them off: each is ended for what it took, while others are served.
func TestBombs(t *testing.T) {
	most := time.Second
	if testenv.Race { // when other packages are tested beside it, and all takes longer
		most = testenv.Patience
	}
	for name, bomb := range bombs {
		if !testenv.Thorough() && !slices.Contains(some, name) {
			continue
		}
		t.Run(name, func(t *testing.T) { // one after the other: they leave nothing for each other
			d := newDesk(t, func(s *setup) {
				s.host.Shell.Time.AtLimit = host.AtLimitKill
				s.host.Shell.MaxOutput = 64 << 20
				s.host.Shell.Limits = host.CommandLimits{Processes: 200, Memory: 256 << 20, OpenFiles: 1024, CPU: cpu(name)}
			})
			d.put("main.txt", "is served\n")
			testenv.InTime(t, most, func() time.Duration { return d.setOff(bomb.command, bomb.limit, bomb.says) })
		})
	}
}

// cpu bounds the processor time for the one bomb that is to be ended for it.
func cpu(name string) time.Duration {
	if name == "time" {
		return time.Second
	}
	return 20 * time.Second
}

// setOff sets a bomb off, and returns how long another session waited for a file at
// most.
func (d *desk) setOff(command, limit, says string) time.Duration {
	d.Helper()
	other, err := d.host.NewSession(host.SessionOptions{Cwd: d.dir})
	if err != nil {
		d.Fatal(err)
	}
	defer func() {
		if err := other.Close(context.Background()); err != nil {
			d.Error(err)
		}
	}()
	text, m := marked(net + command)
	d.put("../bomb.sh", text)
	ended := make(chan answer, 1)
	go func() { ended <- d.bash(". "+filepath.Dir(d.dir)+"/bomb.sh "+string(m), input{"timeout": 30_000}) }()
	var longest time.Duration
	for {
		longest = max(longest, testenv.Took(func() {
			r := other.Results(context.Background(), []abi.ToolUse{use(1, "Read", input{"file_path": "main.txt"})})[0]
			if r.IsError {
				d.Errorf("%s", r.Text())
			}
		}))
		select {
		case a := <-ended:
			if a.Limit != limit || !strings.Contains(a.Text(), says) || !a.Sandboxed {
				d.Errorf("%.500q, for %q; want %q, for %q", a.Text(), a.Limit, says, limit)
			}
			m.none(d, nil, gone)
			return longest
		case <-time.After(20 * time.Millisecond):
		}
	}
}
