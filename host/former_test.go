package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// makeHistory makes a repository p with two commits, a branch and a tag.
const makeHistory = `git init -q -b main p && cd p && mkdir sub && echo a > a && echo b > sub/b && git add . && git commit -qm first && git tag v1.0 &&
git checkout -qb dev && echo dev >> a && git commit -qam dev && git checkout -q main && echo more >> a && git commit -qam second && `

// TestFormerContent holds what git prints to what the repository has and had. A row says, of a
// command, whether it is refused in a sandbox and without one.
func TestFormerContent(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	base := t.TempDir()
	script(t, base, makeHistory+"true")
	hosts := make(map[sandbox.Mode]*shelled)
	for _, mode := range []sandbox.Mode{sandbox.WhenAvailable, sandbox.Off} {
		hosts[mode] = newShelled(t, searchesIn(mode, permissions.SourceProject, "Read(.env)", "", ""))
	}
	const add = "echo CANARY > .env && git add -f .env && git commit -qm env && "
	for name, test := range map[string]struct {
		script, command string
		confined, open  bool
	}{
		"never":                      {"true", "git diff HEAD~1", false, false},
		"never, pages":               {"true", "git log -p | head -3; git show v1.0:a; git stash list -p; git grep more || true", false, false},
		"revisions":                  {"true", "git diff main..dev; git diff v1.0...dev; git show dev~1 ^main; git diff v1.0 dev -- sub; git show HEAD^!", false, false},
		"by its sum":                 {"git rev-parse --short dev > .git/sum", "git show $SUM", false, false},
		"a file by its sum":          {"git rev-parse HEAD:a > .git/sum", "git show $SUM", true, true},
		"a tree by its sum":          {"git rev-parse HEAD:sub > .git/sum", "git show $SUM:b", true, true},
		"in a directory":             {"true", "cd sub && git diff HEAD~1", false, false},
		"in a directory, perhaps":    {"true", "(cd sub; git diff HEAD~1); git log -p -1", false, false},
		"no commit yet":              {"cd .. && rm -rf p && git init -q p", "git diff; git grep a || true", false, false},
		"no repository":              {"rm -rf .git", "git diff --no-index a sub/b || true", false, false},
		"not tracked":                {"echo CANARY > .env", "git diff HEAD~1", false, true},
		"staged":                     {"echo CANARY > .env && git add -f .env", "git diff HEAD~1", true, true},
		"tracked":                    {add + "true", "git diff HEAD~1", true, true},
		"removed":                    {add + "git rm -q .env && git commit -qm gone", "git show HEAD", true, true},
		"renamed":                    {add + "git mv .env env && git commit -qm renamed", "git log -p -- env", false, false},
		"renamed, followed":          {add + "git mv .env env && git commit -qm renamed", "git log -p --follow -- env", true, true},
		"renamed, followed as set":   {add + "git mv .env env && git commit -qm renamed && git config log.follow true", "git log -p -- env", false, false},
		"what is being merged":       {"true", "git log -p --merge --full-diff || true", true, true},
		"chosen by a path":           {add + "echo more >> a && git commit -q --amend -am both && git rm -q .env && git commit -qm gone", "git log -p --full-diff -- a", true, true},
		"elsewhere":                  {"echo CANARY > sub/.env && git add -f . && git commit -qm env", "git log -p -- sub", true, true},
		"named in another case":      {add + "true", "git --icase-pathspecs log -p -- .ENV", true, true},
		"elsewhere, not named":       {"echo CANARY > sub/.env && git add -f . && git commit -qm env", "git diff HEAD~1 -- a", false, false},
		"another branch":             {"git checkout -q dev && " + add + "git checkout -q main", "git log -p", true, true},
		"a stash":                    {"echo CANARY > .env && git stash -qu", "git stash list -p", true, true},
		"a stash that was dropped":   {"echo CANARY > .env && git stash -qu && git rev-parse stash > .git/sum && git stash drop -q", "git diff HEAD~1", false, false},
		"a dropped stash by its sum": {"echo CANARY > .env && git stash -qu && git rev-parse stash > .git/sum && git stash drop -q", "git show $SUM", true, true},
		"a dropped stash, searched":  {"echo CANARY > .env && git stash -qu && git rev-parse stash > .git/sum && git stash drop -q", "git grep a $SUM^3", true, true},
		"a dropped stash by a text":  {"echo CANARY > .env && git stash -qu && git rev-parse stash > .git/sum && git stash drop -q", "git show '$SUM^{/main:}'", true, true},
		"the log of references":      {add + "git reset -q --hard HEAD~1", "git log -g -p", true, true},
		"a merge alone":              {"git merge -q --no-commit -X ours dev; " + add + "git branch kept && git reset -q --hard HEAD~1", "git log -p --branches --cc", true, true},
		"a tag of a file":            {"git tag blob HEAD:a", "git show HEAD", true, true},
		"a replaced commit":          {"git replace HEAD HEAD~1", "git show HEAD", true, true},
		"a grafted commit":           {"git rev-parse HEAD > .git/info/grafts", "git show HEAD", true, true},
		"shared objects":             {"git clone -q . ../q && echo ../../../q/.git/objects > .git/objects/info/alternates", "git show HEAD", true, true},
		"another work tree":          {"git worktree add -q ../q && rm -rf ../p/.env", "git show HEAD", false, false},
		"in another work tree":       {"git worktree add -q sub/q", "cd sub/q && git show HEAD", true, true},
		"a submodule":                {"git -c protocol.file.allow=always submodule --quiet add $PWD mod && git commit -qm mod && cd mod && " + add + "true", "git show HEAD", false, true},
		"in a submodule":             {"git -c protocol.file.allow=always submodule --quiet add $PWD mod && git commit -qm mod", "cd mod && git show HEAD", false, false},
		"in one that has it":         {"git -c protocol.file.allow=always submodule --quiet add $PWD mod && git commit -qm mod && cd mod && " + add + "true", "cd mod && git show HEAD", true, true},
		"objects from elsewhere":     {"true", "echo HEAD:a | git cat-file --batch", true, true},
		"an unknown word":            {"true", "git show \"$(git rev-parse HEAD)\"", true, true},
		"another directory":          {"git init -q sub", "git -C sub show HEAD", true, true},
		"a name that is denied":      {"true", "git diff .env", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, os.CopyFS(dir, os.DirFS(base)))
			dir = filepath.Join(dir, "p")
			script(t, dir, test.script)
			sum, _ := os.ReadFile(filepath.Join(dir, ".git/sum"))
			text := strings.ReplaceAll(test.command, "$SUM", strings.TrimSpace(string(sum)))
			for mode, refuse := range map[sandbox.Mode]bool{sandbox.WhenAvailable: test.confined, sandbox.Off: test.open} {
				if mode != sandbox.Off && test.confined == test.open && !testenv.Thorough() {
					continue // the sandbox makes no difference
				}
				s := session(t, hosts[mode].Host, host.SessionOptions{Cwd: dir, Mode: permissions.ModeDontAsk})
				result, _ := one(t, s, "Bash", fmt.Sprintf(`{"command":%q}`, text))
				if refused(result) != refuse || strings.Contains(result.Text(), "CANARY") && name != "renamed, followed as set" && name != "renamed" {
					t.Errorf("%s: refused %v: %s", mode, refused(result), result.Text())
				}
				if strings.Contains(result.Text(), "+CANARY") && strings.Contains(result.Text(), "b/.env") {
					t.Errorf("%s: it prints %s", mode, result.Text())
				}
			}
		})
	}
}

// TestMovedHistory holds what git prints behind parts of the same confined line that may have moved
// it elsewhere in the repository, or have brought something into that: what nothing leads to counts
// then, too. Nobody is asked about what could only bring in files that are in sight.
func TestMovedHistory(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	testenv.NeedTool(t, "python3")
	base := t.TempDir()
	script(t, base, makeHistory+"true")
	h := newShelled(t, searchesIn(sandbox.WhenAvailable, permissions.SourceUser, "Read(.env)", "", ""))
	const (
		add     = "echo CANARY > .env && git add -f .env && git commit -qm env && "
		drop    = "git rev-parse HEAD > .git/sum && git reset -q --hard HEAD~1 && "
		forget  = "git reflog expire --expire=now --all"
		dropped = add + drop + forget
		python  = `python3 -c "open(\'a\', \'a\').write(\'x\')"; `
	)
	for name, test := range map[string]struct {
		script, command string
		refused         bool
	}{
		"a program before":            {"true", python + "git diff", false},
		"a program, and all":          {"true", python + "git commit -qam x && git log -p --all | head", false},
		"stashed":                     {"echo x > new", "git stash -u -q && git stash show -p --include-untracked; git stash pop -q", false},
		"stashed alone":               {"echo CANARY > .env", "git stash -u; git stash list; git stash drop", false},
		"stashed what is hidden":      {"echo CANARY > .env", "git add -A -f; git stash -u; git stash show -p --include-untracked; git diff HEAD", false},
		"added what is hidden":        {"echo CANARY > .env", "git add -f .env; git diff --cached", false},
		"amended":                     {"echo x >> a", "git commit -qa --amend --no-edit && git log -p -1", false},
		"moved":                       {"true", "git checkout -q dev && git diff HEAD~1; git reset -q --hard main~1 && git show", false},
		"merged":                      {"true", "git merge -q -X ours dev -m merged && git show -m", false},
		"made a branch":               {"true", "git switch -qc new && git commit -q --allow-empty -m new && git log -p main..new", false},
		"a program, it was there":     {add + "git rm -q .env && git commit -qm gone", python + "git diff", true},
		"a program, it is staged":     {"echo CANARY > .env && git add -f .env", python + "git diff HEAD", true},
		"another branch":              {"git checkout -q dev && " + add + "git checkout -q main", "git merge -q dev; git show", true},
		"a stash":                     {"echo CANARY > .env && git stash -qu", "git stash pop -q; git stash; git log -p", true},
		"the log of references":       {add + drop + "true", python + "git log -g -p", true},
		"nothing leads to it":         {dropped, python + "git diff", true},
		"it is reset to":              {dropped, "git reset -q --hard $SUM && git show", true},
		"it is reset to, by a flag":   {dropped, "git restore -s$SUM .; git diff", true},
		"it is picked":                {dropped, "git cherry-pick $SUM; git show", true},
		"it is given a name":          {dropped, "git branch back $SUM && git log -p back", true},
		"it is given a name, unseen":  {dropped, `python3 -c "import subprocess as s; s.run([\'git\', \'update-ref\', \'refs/heads/back\', \'$SUM\'])"; git log -p --all`, true},
		"a dropped stash":             {"echo CANARY > .env && git stash -qu && git rev-parse stash > .git/sum && git stash drop -q", "git stash apply $SUM; git log -p -1", true},
		"a tree of no commit":         {"echo CANARY > .env && git add -f .env && git write-tree > .git/sum && git rm -q --cached .env", "git checkout $SUM -- .; git diff --cached", true},
		"a file of no commit":         {"echo CANARY > .env && git hash-object -w .env > .git/sum", "git add a; git show $SUM", true},
		"a word that is not known":    {dropped, "git reset -q --hard $(cat .git/sum) && git show", true},
		"a plain word, not known":     {"true", "git reset -q --hard $(echo dev) && git show", true},
		"a store that is shared":      {"git clone -q . ../q && echo ../../../q/.git/objects > .git/objects/info/alternates", "git commit -q --allow-empty -m x && git log -p", true},
		"fetched from beside":         {"git init -q q && cd q && " + add + "true", "git fetch -q ./q && git log -p FETCH_HEAD", true},
		"pulled from a remote":        {"git init -q q && (cd q && " + add + "true) && git remote add o ./q", "git pull -q --allow-unrelated-histories o main; git show", true},
		"fetched, behind a program":   {"git init -q q && (cd q && " + add + "true)", python + "git fetch -q ./q; git diff", true},
		"another repository, by flag": {"git init -q q && (cd q && " + add + "true)", "git -C q checkout -q main; git diff", true},
		"plumbing":                    {dropped, "git update-ref refs/heads/back $SUM; git log -p --all", true},
		"what was replaced":           {dropped, "git replace HEAD $SUM; git show", true},
		"a bundle":                    {"git bundle create -q b HEAD", "git bundle unbundle b; git diff", true},
		"a work tree":                 {"true", "git worktree add -q w; git diff", true},
		"asked about each change":     {add + "echo x >> .env", "yes | git add -p", true},
		"with the status":             {"echo CANARY > .env && git add -f .env", "git status -v", true},
		"with what would be done":     {"echo CANARY > .env && git add -f .env", "git commit -m x -v --dry-run", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, os.CopyFS(dir, os.DirFS(base)))
			dir = filepath.Join(dir, "p")
			script(t, dir, test.script)
			sum, _ := os.ReadFile(filepath.Join(dir, ".git/sum"))
			text := strings.ReplaceAll(strings.ReplaceAll(test.command, `\'`, "'"), "$SUM", strings.TrimSpace(string(sum)))
			s := session(t, h.Host, host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits})
			result, _ := one(t, s, "Bash", fmt.Sprintf(`{"command":%q}`, text))
			if refused(result) != test.refused || strings.Contains(result.Text(), "CANARY") {
				t.Errorf("%s: refused %v: %s", text, refused(result), result.Text())
			}
		})
	}
}

// TestGitFlagsHideNothing holds git to rules on reading behind flags of its own, where a rule
// allows every command.
func TestGitFlagsHideNothing(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	base := t.TempDir()
	script(t, base, makeHistory+"echo CANARY > .env && git add -f .env && git commit -qm env")
	s := searching(t, filepath.Join(base, "p"), sandbox.Off, permissions.SourceUser, "Read(.env)", "", "Bash")
	for text, refuse := range map[string]bool{
		"git -C sub log -p": true, "git --no-pager log -p": true, "git -c a.b=c log -p": true, "git --git-dir .git show": true,
		"git --work-tree=. log -p": true, "git --unheard log -p": true,
		"git -C sub log -p -- ../.env": true, "git -C sub -c a.b=c blame ../.env": true, "git -c a.b=c show HEAD -- .env": true,
		"git -c alias.x='log -p' x": true, "git -c Alias.status='log -p' -c alias.x=log x status": true,
		"git -C sub log --oneline": false, "git --no-pager status": false, "git -c color.ui=always status": false,
		"git -C sub -c user.name=a commit -qm more --allow-empty": false,
	} {
		result, _ := one(t, s, "Bash", fmt.Sprintf(`{"command":%q}`, text))
		if refused(result) != refuse || strings.Contains(result.Text(), "CANARY") {
			t.Errorf("%s: refused %v: %s", text, refused(result), result.Text())
		}
	}
}

// lost are ways in which content that is withheld lies beside the history of the repository p,
// as the file secrets/x that has the sum in .git/sum, and the directory in which git runs then.
var lost = []struct {
	name, in, script string
	mode             sandbox.Mode
}{
	{"nothing leads to it", ".", `mkdir secrets && echo CANARY > secrets/x && git stash -qu && git stash drop -q && mkdir secrets && echo CANARY > secrets/x &&
		git add -f secrets && git commit -qm lost && git reset -q --soft HEAD~1 && git rm -rq --cached secrets && git reflog expire --expire=now --all`, sandbox.WhenAvailable},
	{"in no tree", ".", "echo CANARY | git hash-object -w --stdin && git notes add -m note && git tag -a -m annotated v2", sandbox.Off},
	{"in a store that is shared", ".", "git clone -q . ../q && cd ../q && mkdir secrets && echo CANARY > secrets/x && git add . && git commit -qm q && cd ../p && echo ../../../q/.git/objects > .git/objects/info/alternates", sandbox.Off},
	{"staged in another tree", "sub/q", "git worktree add -q sub/q && cd sub/q && mkdir secrets && echo CANARY > secrets/x && git add secrets && rm -r secrets", sandbox.Off},
	{"in a submodule", "mod", "git -c protocol.file.allow=always submodule --quiet add $PWD mod && cd mod && mkdir secrets && echo CANARY > secrets/x && git add secrets && git commit -qm x && git rm -rq secrets && git commit -qm gone", sandbox.Off},
}

// TestGitPrintsNothingWithheld runs the forms of git that only read, as far as nobody is asked,
// where what is withheld is in no history: it prints nothing of it.
func TestGitPrintsNothingWithheld(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	data, err := os.ReadFile("../internal/shell/testdata/repository.txt")
	must(t, err)
	for i, test := range lost {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			script(t, base, makeHistory+test.script)
			script(t, base, "echo CANARY | git hash-object --stdin > sum")
			sum, err := os.ReadFile(filepath.Join(base, "sum"))
			must(t, err)
			s, ran := searching(t, filepath.Join(base, "p"), test.mode, permissions.SourceUser, "Read(secrets)", "", ""), []string{}
			for j, line := range slices.Collect(strings.Lines(string(data))) {
				text, guess := strings.CutPrefix(strings.TrimSpace(line), "? ")
				if text == "" || text[0] == '#' || os.Getenv("TOOLQUAY_READ_RUNS") == "" && (j+i)%5 != 0 {
					continue // the others by turns
				}
				text = "(cd " + test.in + " && " + strings.ReplaceAll(text, "SUM", strings.TrimSpace(string(sum))) + ")"
				result, _ := one(t, s, "Bash", fmt.Sprintf(`{"command":%q}`, text))
				if refused(result) {
					continue
				}
				ran = append(ran, text)
				if said := result.Text(); strings.Contains(said, "CANARY") || guess && strings.Contains(said, "secrets") {
					t.Errorf("%s prints %s", text, said)
				}
			}
			probe, _ := one(t, s, "Bash", `{"command":"(cd `+test.in+` && git log -p)"}`)
			if clean := i < 2; refused(probe) == clean || clean && len(ran) < 5 {
				t.Errorf("refused %v; these ran: %q", refused(probe), ran)
			}
		})
	}
}
