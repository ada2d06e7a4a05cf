//go:build unix

package compat

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// args are those of a command line without spaces in them.
func args(line string) []string { return strings.Fields(line) }

// TestState opens what an earlier command kept, and goes on with it. Each part has a copy
// of its own.
func TestState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(h *home){
		"plugins":   plugins,
		"trust":     trust,
		"grants":    grants,
		"approvals": approvals,
		"decisions": decisions,
		"history":   history,
		"reads":     reads,
		"results":   results,
		"loaded":    loaded,
		"stage":     stage,
		"tasks":     tasks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(open(t, "home"))
		})
	}
}

// plugins runs both of the user's with the grants they had, and tells all of their manifest.
func plugins(h *home) {
	h.says(args("--allow Read(//**/outside.txt) call Outside"), "above\n")
	h.says(args("--allow Read(//**/outside.txt) call Packed"), "above\n")
	h.says(args("plugins info outside"),
		"version 1.0.0, ABI toolquay:host/1", "by Ada <ada@example.com>", "Apache-2.0", "https://example.com/outside",
		"It asks for (granted):\n  fs.read, in //**/outside.txt: to read the file above",
		"memory 1MiB, time 30s, output 1MiB, 100 log lines, 10 capability calls",
		`Configuration greeting: "hello"`, "Configuration times: 1", "Outside (read-only, parallel): Reads ../outside.txt")
	h.says(args("plugins check"), "outside", "packed", "helper")
}

// trust has the project's settings and plugin count, with nothing new to show.
func trust(h *home) {
	h.says(args("trust"), "brings nothing new")
	h.says(args("call Helper"), "ok\n")
	h.says([]string{"permissions", "explain", "Read", `{"file_path": "/usr/share/doc/x"}`}, "allow  reading", ".toolquay/settings.toml:3")
	h.says([]string{"permissions", "explain", "Read", `{"file_path": "secret.txt"}`}, "deny  reading", ".toolquay/settings.toml:2")
}

func grants(h *home) {
	h.says(args("permissions grants"), "Read(//srv/granted/**)", "project")
	h.says([]string{"permissions", "explain", "Read", `{"file_path": "/srv/granted/x"}`}, "allow  reading")
}

// approvals answers the question that waits, and has the other's answer count.
func approvals(h *home) {
	ids := make(map[string]string) // by session
	for _, found := range regexp.MustCompile(`"id":"([A-Z0-9]+)".*"session":"(\w+)"`).FindAllStringSubmatch(h.run(args("approvals --json")...), -1) {
		ids[found[2]] = found[1]
	}
	h.says(args("approvals"), "pending", "Outside", "allowed", "Packed")
	h.says(args("approvals show "+ids["asked"]), "Outside", recorded+"/outside.txt", "It is outside the working directories.")
	h.run("approvals", "allow", ids["asked"])
	h.says([]string{"approvals", "resume", ids["asked"]}, "above\n")
	h.says([]string{"approvals", "resume", ids["answered"]}, "above\n")
	h.says(args("approvals"), "Nothing waits")
}

// decisions verifies the log, adds to it, and verifies it again.
func decisions(h *home) {
	found := regexp.MustCompile(`(\d+) lines, (\d+) decisions in 1 segments; 0 torn, 0 entries lost`)
	before := found.FindString(h.run(args("permissions log --verify")...))
	if before == "" || !strings.HasPrefix(before, "25 lines, 24 decisions") {
		h.Errorf("the log has %q", before)
	}
	h.says(args("permissions log --session writes"), "allow", "Edit", recorded+"/project/a.txt")
	h.run("call", "Read", `{"file_path": "a.txt"}`)
	h.says(args("permissions log --verify"), "27 lines, 26 decisions", "Nothing is wrong with it")
}

// history lists what was written, and gives it back.
func history(h *home) {
	got := h.run(args("history list --session writes --json")...)
	for _, want := range []string{
		`"kind":"write","time":"2026-11-`,
		`"call":"t2","tool":"Edit","path":"` + recorded + `/project/a.txt","before":{"hash":"c3f9c8c283a2b1f2f1896f27a01cbe3cddc0c9d93f752e4639035a0f5b36f6e8","size":8,"mode":420},"after":{"hash":"c9b0fb1fa00b3a5ce714c876c35bb18f21eed970d33d9093a3cbd7cf0c9db3dc","size":10},"state":"done","kept":true}`,
		`"call":"t3","tool":"Write","path":"` + recorded + `/project/made.txt","after":{"hash":"9ccbd3f1b19a1cdfd8d7c6ae48e9e822e2345f5be1a6187b19e41486c6941004","size":5},"state":"done","kept":true}`,
	} {
		if !strings.Contains(got, want) {
			h.Errorf("the history is %s without %s", got, want)
		}
	}
	h.says(args("history restore --all --session writes"), "restored a.txt", "removed made.txt")
	h.holds("a.txt", "one\ntwo\n")
	if _, err := os.Lstat(h.path("project/made.txt")); !os.IsNotExist(err) {
		h.Errorf("made.txt is still there, %v", err)
	}
}

// reads edits what the session wrote before, and so has read.
func reads(h *home) {
	h.says([]string{"--session", "writes", "call", "Edit", `{"file_path": "a.txt", "old_string": "three", "new_string": "four"}`}, "Edited a.txt")
	h.holds("a.txt", "one\nfour\n")
}

// results reads what a result was too long for, in its session.
func results(h *home) {
	dir := ".local/state/toolquay/sessions/writes/tool-results"
	kept, err := filepath.Glob(h.path(dir + "/t4-*.txt"))
	if err != nil || len(kept) != 1 {
		h.Fatal(kept, err)
	}
	h.says([]string{"--session", "writes", "call", "Read", `{"file_path": "` + kept[0] + `", "offset": 50}`}, "long.txt:50:line 50")
}

// loaded has the tool that the session loaded, and not the other.
func loaded(h *home) {
	h.says(args("tools --session loaded -f anthropic"),
		`{"name":"Nothing","description":"May do nothing","input_schema":{"type":"object"},"defer_loading":true}`)
	h.says([]string{"--session", "loaded", "call", "ToolSearch", `{"query": "select:Nothing,PackedNothing"}`}, "PackedNothing")
}

func stage(h *home) {
	h.says(args("stage list --json"),
		`{"path":"`+recorded+`/project/long.txt","content":{"hash":"0ee09a9c2429eac95c0ec6b61314bdab07e9355d2e968aa1eef3be4953e78770","size":395,`,
		`{"path":"`+recorded+`/project/staged.txt","content":{"hash":"9ac007af3de930baf647288da0c843b26a5f046a3fe1351f1bb039b242d22cdf","size":7,`)
	h.says(args("stage diff"), "-line 25\n+line 5 by 5\n", "+staged\n")
	h.says(args("stage apply"), "wrote long.txt", "made staged.txt")
	h.holds("staged.txt", "staged\n")
	h.says(args("history restore --all --session staged"), "restored long.txt", "removed staged.txt")
}

func tasks(h *home) {
	h.says(args("--session tasks tasks --json"), `"kind":"bash","state":"killed","call":"b1","tool":"Bash","title":"Sleep"`, `"reason":"the session ended"`)
}
