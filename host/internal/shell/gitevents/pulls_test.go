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

func TestPullRequests(t *testing.T) {
	const created = "\nCreating pull request for topic into main in o/r\n\nhttps://github.com/o/r/pull/12\n"
	const answer = "{\n  \"url\": \"https://api.github.com/repos/o/r/pulls/12\",\n  \"html_url\": \"https://github.com/o/r/pull/12\",\n}\n"
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
		{"glab mr note 4 -m x", 0, merge + "#note_7\n", "pull_request_commented " + merge, 4},
		{"glab mr update 4 --ready", 0, "✓ marked as ready\n\n!4 T (a)\n " + merge + "\n", "pull_request_ready " + merge, 4},
		{"gh pr comment --body x 12", 0, "https://github.com/o/r/pull/12#issuecomment-1\n", "pull_request_commented https://github.com/o/r/pull/12", 12},
		{"gh pr ready", 0, "✓ Pull request o/r#12 is marked as \"ready for review\"\n", "pull_request_ready", 12},
		{"gh pr ready 12 --undo", 0, "✓ Pull request o/r#12 is converted to \"draft\"\n", "", 0},
		{"gh pr ready", 0, "! Pull request o/r#12 is already \"ready for review\"\n", "", 0},
		{"gh pr close 1; gh pr close 2", 1, "✓ Closed pull request o/r#2 (B)\n", "pull_request_closed B", 2},
		{"gh pr close 1; gh pr close 2; true", 0, "✓ Closed pull request o/r#1 (A)\n✓ Closed pull request o/r#2 (B)\n", "pull_request_closed A; pull_request_closed B", 1},
		{"for n in 1 2; do gh pr close $n; done", 0, "✓ Closed pull request o/r#1 (A)\n✓ Closed pull request o/r#2 (B)\n", "pull_request_closed A; pull_request_closed B", 1},
		{"cd x; gh pr merge -s 12", 0, "", "pull_request_merged", 12},
		{"timeout 60 gh pr merge 12 -s && git pull -q", 0, "", "pull_request_merged", 12},
		{"# it's time\ngh pr merge 12 \\\n  -s -b 'a; b' > /dev/null 2>&1 # now", 0, "", "pull_request_merged", 12},
		{"gh pr merge \"$N\" -s -t \"it's; ${A}\"", 0, "", "pull_request_merged", 0},
		{"gh pr merge 12 -s; true", 0, "", "", 0},
		{"gh pr merge 12 -s || true", 0, "", "", 0},
		{"gh pr merge 12 -s | cat", 0, "", "", 0},
		{"! gh pr merge 12 -s", 0, "", "", 0},
		{"gh pr merge 12 -s &", 0, "", "", 0},
		{"if gh pr merge 12 -s; then true; fi", 0, "", "", 0},
		{"echo $(gh pr merge 12 -s)", 0, "", "", 0},
		{"exit 0 && gh pr merge 12 -s", 0, "", "", 0},
		{"gh() { true; }\ngh pr merge 12 -s", 0, "", "", 0},
		{"gh pr merge 12 -s", -1, "", "", 0},
		{"gh pr merge 12 -s", 1, "✓ Merged pull request #12 (A)\n", "", 0},

		{"curl -sX POST -H \"Authorization: token $T\" https://api.github.com/repos/o/r/pulls -d '{\"title\": \"T\"}'", 0, answer, "pull_request T https://github.com/o/r/pull/12", 12},
		{"curl --json @body \"https://api.github.com/repos/$O/$R/pulls\"", 0, answer, "pull_request https://github.com/o/r/pull/12", 12},
		{"curl https://api.github.com/repos/o/r/pulls", 0, answer, "", 0},
		{"curl -G -d state=open https://api.github.com/repos/o/r/pulls", 0, answer, "", 0},
		{"curl -d @b https://api.github.com/repos/o/r/pulls", 0, "{\"message\": \"Validation Failed\"}", "", 0},
		{"curl -f -d @b https://api.github.com/repos/o/r/pulls/12/comments", 0, "", "pull_request_commented", 12},
		{"curl -d @b https://api.github.com/repos/o/r/pulls/12/reviews", 0, "", "", 0},
		{"curl -f -d @b https://api.github.com/repos/o/r/issues/12/comments", 0, "", "", 0},
		{"curl -d @b https://api.github.com/repos/o/r/issues/12/comments", 0, "  \"html_url\": \"https://github.com/o/r/issues/12#issuecomment-1\",\n", "", 0},
		{"curl -d @b https://api.github.com/repos/o/r/issues/12/comments", 0, "  \"html_url\": \"https://github.com/o/r/pull/12#issuecomment-1\",\n", "pull_request_commented https://github.com/o/r/pull/12", 12},
		{"curl -XPUT https://api.github.com/repos/o/r/pulls/12/merge", 0, "{\"merged\": true}", "pull_request_merged", 12},
		{"curl -XPUT https://api.github.com/repos/o/r/pulls/12/merge", 0, "{\"message\": \"Not mergeable\"}", "", 0},
		{"curl -sSfX PUT https://api.github.com/repos/o/r/pulls/12/merge -o /dev/null", 0, "", "pull_request_merged", 12},
		{"curl -X PATCH https://api.github.com/repos/o/r/pulls/12 -d '{\"state\":\"closed\"}'", 0, "\"state\": \"closed\",", "pull_request_closed", 12},
		{"curl -X PATCH https://api.github.com/repos/o/r/pulls/12 -d '{\"state\":\"open\"}'", 0, "\"state\": \"closed\",", "", 0},
		{"gh api -X PUT repos/o/r/pulls/12/merge", 0, "", "pull_request_merged", 12},
		{"gh api -X PUT repos/o/r/pulls/12/merge", 1, "{\"message\": \"Not mergeable\"}", "", 0},
		{"gh api repos/{owner}/{repo}/pulls -f title=T -f head=x", 0, answer, "pull_request T https://github.com/o/r/pull/12", 12},
		{"gh api graphql -f query='mutation { markPullRequestReadyForReview(input: {}) { x } }'", 0, "", "pull_request_ready", 0},
		{"glab api --method PUT projects/1/merge_requests/4 -f state_event=close", 0, "", "pull_request_closed", 4},
		{"curl -d body=x https://gitlab.com/api/v4/projects/g%2Fr/merge_requests/4/notes", 0, "{\"note" + "able_type\":\"MergeRequest\"}", "pull_request_commented", 4},
		{"curl -d source_branch=a https://gitlab.com/api/v4/projects/1/merge_requests", 0, "{\"id\":1,\"web_url\":\"" + merge + "\"}", "pull_request " + merge, 4},
	} {
		events := recognise(c.command, c.exit, c.output)
		if got := brief(events); got != c.want || len(events) > 0 && events[0].Number != c.number {
			t.Errorf("%s (%d): %q, want %q, %d: %+v", c.command, c.exit, got, c.want, c.number, events)
		}
	}
}

func FuzzRecognise(f *testing.F) {
	f.Add("git commit -m x && git push", 0, "[main 1234567] x\nTo /b\n   1234567..89abcde  main -> main\n")
	f.Add("gh pr create -t x; glab mr merge 3", 1, "https://h.test/o/r/pull/1\n✓ Merged!\n")
	f.Add("for i in 1 2; do git cherry-pick a; done", 0, strings.Repeat("[a b 1234567] x\n", 100))
	f.Add("git pull; git rebase x; git switch -c y", -1, "Updating 1234567..89abcde\nFast-forward\n")
	f.Fuzz(func(t *testing.T, command string, exit int, output string) {
		events := recognise(command, exit, output)
		if len(events) > 0 && !strings.Contains(command, "g") {
			t.Errorf("%q made %+v", command, events)
		}
		if len(events) > 64 {
			t.Errorf("%d events", len(events))
		}
		for _, d := range events {
			for _, text := range []string{d.Commit, d.Branch, d.Remote, d.Subject, d.URL} {
				if len(text) > 512 || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%q is not fit to be shown", text)
				}
			}
		}
	})
}
