package ui

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// stage plays a script to a board, with a clock that the script moves.
type stage struct {
	script
	b          *board
	start, now time.Time
}

func newStage(p *Printer, verbose bool) *stage {
	s := &stage{b: newBoard(p, verbose), start: time.Unix(0, 0)}
	s.b.find, s.b.soft, s.now = contracts, func() bool { return true }, s.start
	s.tell = func(e host.Event) { s.b.apply(&e, s.now) }
	return s
}

func (s *stage) wait(d time.Duration) { s.now = s.now.Add(d) }

// scenes are what frames show.
var scenes = map[string]func(s *stage){
	"parallel": func(s *stage) {
		s.queue("Read", "a/very/long/path/to/some/file/in/the/project.go").starts()
		s.wait(300 * time.Millisecond)
		s.queue("Bash", "make all").starts().reports(host.Progress{Tail: "cc -o a.o a.c\ncc -o b.o b.c\n", Lines: 2, Bytes: 28})
		s.queue("mcp__web__fetch", "https://example.org").starts().reports(host.Progress{
			Progress: abi.Progress{Message: "downloading", Done: 30, Total: 120}, Bytes: 3 << 20,
		})
		s.wait(75 * time.Second)
	},
	"waiting": func(s *stage) {
		s.queue("Edit", "main.go").starts()
		s.queue("Bash", "rm -r build").is(host.EventQuestion)
		for i := range 20 {
			s.queue("Read", fmt.Sprintf("file%d", i))
		}
		s.wait(2 * time.Hour)
	},
	"nested": func(s *stage) {
		outer := s.queue("Bash", "agent").starts()
		for i := range 6 {
			outer.makes([]string{"Read", "Bash"}[i%2], fmt.Sprintf("thing%d", i)).starts().answers(time.Millisecond, 10)
		}
		outer.makes("Read", "gone").starts().fails(time.Millisecond, abi.CodeNotFound, "gone does not exist")
		deeper := outer.makes("mcp__web__fetch", "x").starts()
		deeper.makes("Bash", "deepest").starts()
		deeper.makes("Bash", "later")
		s.wait(time.Second)
	},
	"nested done": func(s *stage) {
		outer := s.queue("Bash", "agent").starts()
		inner := outer.makes("Bash", "inner").starts()
		inner.makes("Read", "innermost").starts().answers(time.Millisecond, 10)
		behind := outer.makes("Bash", "left behind").starts()
		for i := range 6 {
			outer.makes("Read", fmt.Sprintf("file%d", i)).starts().answers(time.Millisecond, 10)
		}
		inner.answers(2*time.Millisecond, 20)
		outer.answers(time.Second, 30)
		s.wait(time.Second)
		behind.reports(host.Progress{Progress: abi.Progress{Message: "still here"}})
	},
	"ends": func(s *stage) {
		s.queue("Bash", "a").starts().answers(time.Second, 2000)
		s.queue("Bash", "b").starts().fails(time.Second, "", "exit code 1\n\n  of many lines")
		s.queue("Bash", "c").fails(0, abi.CodeDenied, "the deny rule Bash(c)")
		s.queue("Bash", "d").fails(0, abi.CodeCancelled, "Cancelled: parallel tool call Bash(b) errored")
		s.queue("Bash", "e").starts().fails(time.Second, abi.CodeInterrupted, "The user interrupted before Bash(e) had ended")
		s.queue("Bash", "f").starts().with(host.EventDiscarded, func(e *host.Event) { e.Effects = make([]permissions.Access, 2) })
		g := s.queue("Bash", "g").starts().answers(time.Second, 5)
		g.is(host.EventDiscarded)
		g.is(host.EventAbandoned)
		s.tell(host.Event{Kind: host.EventStop, Reason: "a hook\nsaid so"})
	},
	"kept": func(s *stage) {
		stored := func(e *host.Event) {
			e.Stored = &host.StoredResult{Path: "/state/sessions/s1/tool-results/c0-1f.txt", Bytes: 3 << 20}
		}
		s.queue("Bash", "a").starts().with(host.EventPersisted, stored).answers(time.Second, 2000)
		s.queue("Bash", "b").starts().answers(time.Second, 60_000).with(host.EventReplaced, stored)
		for range 5 {
			s.queue("Read", "a").starts().answers(time.Second, 10).with(host.EventPersisted, stored)
		}
	},
	"gathered": func(s *stage) {
		for i := range 3 {
			s.queue("Read", fmt.Sprintf("file%d", i)).starts().answers(time.Millisecond, 100)
		}
		s.queue("Read", "gone").fails(time.Millisecond, abi.CodeNotFound, "gone does not exist")
		for i := range 6 {
			u := s.queue([]string{"Read", "Glob", "Grep"}[i%3], fmt.Sprintf("thing%d", i)).starts()
			s.wait(time.Second)
			u.answers(time.Second, 1000)
		}
		s.queue("Bash", "make").starts().answers(time.Second, 1)
		s.queue("Read", "waits for others").starts().answers(time.Millisecond, 1)
	},
	"hostile": func(s *stage) {
		u := s.queue("Ba\x1b[31msh", "a\nb\u202ec\x07").starts()
		u.reports(host.Progress{Tail: "ok\n\x1b[2J\x1b]0;t\x07\u009b1A", Bytes: 9})
		s.queue("Bash", strings.Repeat("日本", 40)).starts()
		s.queue("Bash", strings.Repeat("🦀👨‍👩‍👧", 20)).starts()
		s.queue("Bash", strings.Repeat("e\u0301", 70)).starts()
		s.queue("Bash", "z"+strings.Repeat("\u0301", 100)).starts()
		s.queue("Bash", "\xff\xfe").fails(0, "", "<tool_use_error>\x1b[1A\x1b[2K✓ Bash fake  1s</tool_use_error>")
		s.tell(host.Event{Kind: host.EventMessage, Reason: "hook\x1b[2K\r\nsays"})
	},
	"blocked": func(s *stage) {
		s.queue("mcp__web__fetch", "x").starts()
		s.tell(host.Event{Kind: host.EventInterruptible})
	},
	"interrupted": func(s *stage) {
		s.queue("Edit", "x").starts()
		s.queue("Bash", "y").starts().fails(time.Second, abi.CodeInterrupted, "The user interrupted before Bash(y) had ended")
		s.b.soft = func() bool { return false } // the first one was taken
	},
	"interrupted many": func(s *stage) {
		s.queue("Edit", "x").starts()
		s.queue("Read", "a").starts().answers(time.Second, 10)
		for i := range 12 {
			s.queue("Bash", strconv.Itoa(i)).fails(0, abi.CodeInterrupted, fmt.Sprintf("The user interrupted before Bash(%d) began.", i))
		}
		s.b.soft = func() bool { return false } // the first one was taken
	},
	"cancelled many": func(s *stage) {
		outer := s.queue("Bash", "agent").starts()
		for i := range 6 {
			outer.makes("Read", strconv.Itoa(i)).fails(0, abi.CodeCancelled, "Cancelled: parallel tool call Bash(b) errored")
		}
		outer.makes("Read", "a").starts().answers(time.Second, 10)
		outer.makes("Read", "b").fails(0, abi.CodeInterrupted, "The user interrupted before Read(b) began.")
		outer.answers(time.Second, 10)
		for i := range 5 {
			s.queue("Work", "").fails(0, abi.CodeCancelled, fmt.Sprintf("Work(%d) was cancelled before it ended: the host ends", i))
		}
		s.queue("Bash", "z").starts().fails(0, abi.CodeCancelled, "Bash(z) was cancelled before it ended: the host ends")
		for i := range 2 {
			s.queue("Read", strconv.Itoa(i)).fails(0, abi.CodeCancelled, fmt.Sprintf("Cancelled: parallel tool call Bash(%d) errored", i))
		}
	},
	"lines": func(s *stage) {
		says := func(line string) func(*host.Event) { return func(e *host.Event) { e.Line = line } }
		ends := func(r abi.ToolResult, line string) func(*host.Event) {
			return func(e *host.Event) { e.Elapsed, e.Result, e.Line = time.Second, &r, line }
		}
		text := abi.ToolResult{Content: []abi.Block{abi.TextBlock("found")}}
		s.queue("Grep", "TODO").with(host.EventStarted, says("TODO in src")).with(host.EventFinished, ends(text, "3 matches in 2 files"))
		s.queue("Edit", "a.go").with(host.EventStarted, says("a.go: 2 lines for 1")).with(host.EventFinished, ends(text, ""))
		s.queue("Edit", "b.go").with(host.EventStarted, says("b.go\x1b[2J\u202e")).with(host.EventFinished, ends(text, "+1 \x1b[1A"))
		s.queue("Bash", "make").with(host.EventStarted, says("make (in the background)")).
			with(host.EventFinished, ends(abi.ErrorResult("", abi.Errorf(abi.CodeIO, "exit code 2\n\nof many lines")), "exit code 2"))
		s.queue("Bash", "rm x").with(host.EventQuestion, says("rm x, outside the sandbox")).
			with(host.EventFinished, ends(abi.ErrorResult("", abi.Errorf(abi.CodeDenied, "a person says no")), "not run: a person says no"))
		s.queue("Bash", "c").with(host.EventFinished, ends(abi.ErrorResult("", abi.Errorf(abi.CodeCancelled, "Cancelled: parallel tool call Bash(b) errored")), "not run"))
		u := s.queue("Bash", "make all").with(host.EventQueued, says("make all, later")).with(host.EventStarted, says("make all"))
		u.with(host.EventProgress, func(e *host.Event) { e.Progress, e.Line = &host.Progress{Tail: "cc\n", Bytes: 3}, "1 line of output" })
		s.queue("Bash", "make none").with(host.EventQueued, says("make none, later"))
	},
	"hard": func(s *stage) {
		s.b.soft = func() bool { return false }
		s.queue("Edit", "x").starts()
	},
	"verbose": func(s *stage) {
		s.b.verbose = true
		u := s.queue("Read", "a").starts()
		u.with(host.EventCapability, func(e *host.Event) { e.Capability, e.Err = "fs.read", errors.New("no such file") })
		u.with(host.EventLog, func(e *host.Event) { e.Log = &abi.Log{Level: "warn", Message: "hm"} })
		u.reports(host.Progress{Progress: abi.Progress{Message: "half", Done: 1, Total: 2}})
		u.with(host.EventChanged, func(e *host.Event) { e.Change = &abi.Change{Kind: "session.cwd", Value: []byte(`"/x"`)} })
		for range 6 {
			s.queue("Read", "b").starts().answers(time.Millisecond, 1)
		}
	},
}

// TestFrames compares what scenes look like with golden files: at a usual size,
// at small ones, and as plain lines.
func TestFrames(t *testing.T) {
	t.Parallel()
	for name, play := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, size := range [][2]int{{100, 24}, {44, 6}, {20, 3}} {
				s := newStage(&Printer{Terminal: true, Live: true}, false)
				play(s)
				fmt.Fprintf(&got, "== %d columns, %d rows\n%s", size[0], size[1], s.b.above.take(size[0], false))
				got.WriteString("-- live\n")
				for _, line := range s.b.frame(s.start, s.now, size[0], size[1]) {
					got.WriteString(style(layout(line, size[0]), size[0], false) + "\n")
				}
			}
			s := newStage(&Printer{}, false)
			play(s)
			fmt.Fprintf(&got, "== plain\n%s", s.b.above.take(0, false))
			golden(t, filepath.Join("testdata", "frames", strings.ReplaceAll(name, " ", "_")+".golden"), got.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}
