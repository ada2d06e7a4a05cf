package gitevents_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// What nobody did is not told, whatever was printed.
func TestNothing(t *testing.T) {
	const all = "[main 1234567] Subject\nTo ../bare.git\n   1234567..89abcde  main -> main\nMerge made by the 'ort' strategy.\n" +
		"Successfully rebased and updated refs/heads/main.\nSwitched to a new branch 'x'\nhttps://host.test/o/r/pull/7\n✓ Merged pull request #7 (t)\n"
	for _, command := range []string{
		"cat log", "echo git commit -m x", "git log", "git status", "git ci -m x", "$GIT commit -m x", "git $SUB", "gh pr view 7", "gh api x",
		"glab mr list", "git push --dry-run", "git push -nu origin main", "git merge --abort", "git rebase --abort", "git help commit",
		"gh pr create --dry-run", "gh pr merge 7 --auto -s", "git commit --dry-run", "git --version", "gh issue create", "PATH=/x git commit -m y",
		"git commit -m 'other subject' --short", "git cherry-pick -n x", "git commit -m \"unclosed",
	} {
		if got := brief(recognise(command, 0, all)); got != "" {
			t.Errorf("%s: %s", command, got)
		}
	}
}

// An exit status proves what it must have come from, and no more.
func TestExitStatus(t *testing.T) {
	for command, want := range map[string]string{
		"git commit -qm x":                             "commit x",
		"git add . && git commit -qm x":                "commit x",
		"git add .; git commit -qm x":                  "commit x",
		"cd d && (git add . && git commit -qm x)":      "commit x",
		"{ git commit -qm x; }":                        "commit x",
		"git commit -qm x && make":                     "commit x",
		"git commit -qm x && git branch b && git push": "commit x; branch b",
		"nice -n 5 git commit -qm x":                   "commit x",
		"/usr/bin/git commit -qm x":                    "commit x",
		"sudo -u a git commit -qm x":                   "commit x",
		"git -c user.name=n -C d commit -qm x":         "commit x",
		"git commit -qam 'x\n\nmore'":                  "commit x",
		"git commit -q -F message":                     "commit",
		"git commit -qm x > log 2>&1":                  "commit x",
		"git commit -qm \"$M\"":                        "commit",
		"git branch b origin/b":                        "branch b",
		"git checkout -qb b":                           "branch b",
		"git switch -q -c b":                           "branch b",

		"git commit -qm x; make":               "",
		"git commit -qm x || true":             "",
		"! git commit -qm x":                   "",
		"git commit -qm x | cat":               "",
		"git commit -qm x &":                   "",
		"if git commit -qm x; then make; fi":   "",
		"exit 0 && git commit -qm x":           "",
		"trap 'exit 0' EXIT; git commit -qm x": "",
		"git() { true; }; git commit -qm x":    "",
		"alias git=true; git commit -qm x":     "",
		"git commit -q $FLAGS":                 "",
		"git commit -qm x; git commit -qm x":   "",
		"setsid git commit -qm x":              "",
		"git push -q":                          "",
		"git merge -q b":                       "",
		"git branch $B":                        "",
		"git branch -m a b":                    "",
		"git branch -d b":                      "",
		"git branch":                           "",
		"git checkout b":                       "",
		"gh pr merge 7":                        "",
	} {
		if got := brief(recognise(command, 0, "")); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
		if got := brief(recognise(command, 1, "")); got != "" && command != "! git commit -qm x" {
			t.Errorf("%s with status 1: %q", command, got)
		}
	}
	if got := brief(recognise("git commit -m x", 1, "[main 1234567] x\n")); got != "" {
		t.Errorf("a commit that failed: %q", got)
	}
	if got := brief(recognise("git commit -m x", 137, "[main 1234567] x\n")); got != "commit main 1234567 x" {
		t.Errorf("a commit that was made before all was killed: %q", got)
	}
}

// What git prints in other languages counts as far as it is the same.
func TestOutput(t *testing.T) {
	for _, c := range []struct{ command, output, want string }{
		{"git commit", "[main (Basis-Commit) 1234567] Betreff\n", "commit main 1234567 Betreff"},
		{"git commit", "[losgelöster HEAD 1234567] Betreff\n", "commit 1234567 Betreff"},
		{"git commit -m a; git commit -m b; true", "nothing to commit\n[main 1234567] b\n", "commit main 1234567 b"},
		{"git pull", "From ../bare\n   1234567..89abcde  main       -> origin/main\nUpdating 1234567..89abcde\nFast-forward\n", "merge 89abcde"},
		{"git pull --rebase && git push", "From ../bare\n   1234567..89abcde  main       -> origin/main\nRebasing (1/1)\r\r\x1b[KSuccessfully rebased and updated refs/heads/x.\nTo ../bare\n   89abcde..abcdef0  x -> x\n", "rebase x; push ../bare x abcdef0"},
		{"git pull; git push 2>&1 | tail -1", "   1234567..89abcde  main       -> origin/main\n", ""},
		{"git push https://me:secret@host.test/r main", "To https://host.test/r\n   1234567..89abcde  main -> main\n", "push https://host.test/r main 89abcde"},
		{"git push a; git push b; true", "fatal: no a\nTo /b\n * [new branch]      main -> main\n", "push /b main"},
		{"git push --all", "To /b\n ! [rejected]        main -> main (fetch first)\n * [new branch]      x -> x\nerror: failed to push some refs\n", "push /b x"},
		{"git push", "remote: To /evil\nremote:    1234567..89abcde  main -> main\nEverything up-to-date\n", ""},
		{"git checkout b", "branch 'b' set up to track 'origin/b'.\nSwitched to a new branch 'b'\n", "branch b"},
		{"git commit -m x", "[ma\x1b[31min 1234567] x\x07y\u202e\n", "commit main 1234567 xy"},
	} {
		exit := 0
		if strings.Contains(c.output, "error:") {
			exit = 1
		}
		if got := brief(recognise(c.command, exit, c.output)); strings.TrimSpace(got) != c.want {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
}

func TestPullRequests(t *testing.T) {
	const created = "\nCreating pull request for topic into main in o/r\n\nhttps://github.com/o/r/pull/12\n"
	const merge = "https://gitlab.com/g/s/r/-/merge_requests/4"
	for _, c := range []struct {
		command string
		exit    int
		output  string
		want    string
		number  int
	}{
		{"gh pr create --title 'A title' --body b", 0, created, "pull_request A title https://github.com/o/r/pull/12", 12},
		{"gh pr -R o/r create -t T -b \"$(cat body)\"", 0, created, "pull_request T https://github.com/o/r/pull/12", 12},
		{"git push && gh pr create --fill && false", 1, created, "pull_request https://github.com/o/r/pull/12", 12},
		{"gh pr create --fill; true", 0, "a pull request for branch \"x\" into branch \"main\" already exists:\nhttps://github.com/o/r/pull/3\n", "", 0},
		{"gh pr create --fill", 1, created, "", 0},
		{"gh pr merge 12 --squash --delete-branch", 0, "", "pull_request_merged", 12},
		{"gh pr merge https://github.com/o/r/pull/12 -m", 0, "", "pull_request_merged https://github.com/o/r/pull/12", 12},
		{"gh pr merge -s 12", 0, "! Pull request #12 was already merged\n", "", 0},
		{"gh pr merge -s 12", 0, "! The merge strategy for main is set by the merge queue\n", "", 0},
		{"gh pr merge 12 -r; true", 0, "✓ Rebased and merged pull request #12 (A title)\n", "pull_request_merged A title", 12},
		{"gh pr close 12", 0, "✓ Closed pull request o/r#12 (A title)\n", "pull_request_closed A title", 12},
		{"gh pr close 12", 0, "! Pull request o/r#12 (A title) is already closed\n", "", 0},
		{"gh pr edit 12 --title New", 0, "https://github.com/o/r/pull/12\n", "pull_request_edited New https://github.com/o/r/pull/12", 12},
		{"gh pr edit 12", 0, "https://github.com/o/r/pull/13\n", "", 0},
		{"glab mr create -t T -d D -y", 0, "\nCreating merge request for a into main in g/r\n\n!4 T (a)\n " + merge + "\n", "pull_request T " + merge, 4},
		{"glab mr merge 4", 0, "- Merging merge request !4\n✓ Merged!\n!4 T (a)\n " + merge + "\n", "pull_request_merged " + merge, 4},
		{"glab mr merge 4", 0, "✓ Merge request will be merged automatically.\n " + merge + "\n", "", 0},
		{"glab mr close 4", 0, "- Closing merge request...\n✓ Closed merge request !4.\n\n", "pull_request_closed", 4},
		{"glab mr update 4 --title New", 0, "- Updating merge request !4\n✓ updated title to \"New\"\n\n!4 New (a)\n " + merge + "\n", "pull_request_edited New " + merge, 4},
		{"glab mr note 4 -m x", 0, merge + "\n", "", 0},
	} {
		deeds := recognise(c.command, c.exit, c.output)
		if got := brief(deeds); got != c.want || len(deeds) > 0 && deeds[0].Number != c.number {
			t.Errorf("%s (%d): %q, want %q, %d: %+v", c.command, c.exit, got, c.want, c.number, deeds)
		}
	}
}

func FuzzRecognise(f *testing.F) {
	f.Add("git commit -m x && git push", 0, "[main 1234567] x\nTo /b\n   1234567..89abcde  main -> main\n")
	f.Add("gh pr create -t x; glab mr merge 3", 1, "https://h.test/o/r/pull/1\n✓ Merged!\n")
	f.Add("for i in 1 2; do git cherry-pick a; done", 0, strings.Repeat("[a b 1234567] x\n", 100))
	f.Add("git pull; git rebase x; git switch -c y", -1, "Updating 1234567..89abcde\nFast-forward\n")
	f.Fuzz(func(t *testing.T, command string, exit int, output string) {
		deeds := recognise(command, exit, output)
		if len(deeds) > 0 && !strings.Contains(command, "g") {
			t.Errorf("%q made %+v", command, deeds)
		}
		if len(deeds) > 64 {
			t.Errorf("%d deeds", len(deeds))
		}
		for _, d := range deeds {
			for _, text := range []string{d.Commit, d.Branch, d.Remote, d.Subject, d.URL} {
				if len(text) > 512 || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%q is not fit to be shown", text)
				}
			}
		}
	})
}
