//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// A file that is shown as a copy can be read and changed by what follows links, as git does,
// and by nothing else; the file itself stays as it is.
func TestCopies(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	root := tree(t, "w/.git/objects/", "w/.git/refs/", "w/.git/HEAD", "w/.git/config", "t/own/config")
	for name, content := range map[string]string{"w/.git/HEAD": "ref: refs/heads/main\n", "w/.git/config": "[core]\n\tbare = false\n", "t/own/config": "[core]\n\tbare = false\n"} {
		if err := os.WriteFile(root+"/"+name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := find(t, sandbox.Options{State: root + "/state"})
	if !s.Copies() {
		testenv.Missing(t, "this machine lets nobody make namespaces but bubblewrap")
	}
	spec := sandbox.Spec{
		Writable: under(root, "w"), Temp: root + "/t", Cwd: root + "/w",
		Copies: []sandbox.Copy{{Path: root + "/w/.git/config", Private: root + "/t/own/config"}},
	}
	out, err := run(t, s, spec, []string{"PATH=/usr/bin:/bin", "HOME=/nowhere", "LC_ALL=C"}, `git config user.name A && git remote add o /x && git config user.name
rm -f .git/config; mv .git/config c; ln -sf /etc/passwd .git/config; mv .git g; echo x > .git/new && mv -f .git/new .git/config; chmod 777 /dev/.copies; rm -rf /dev/.copies/0; git config user.name`)
	if err != nil || !strings.HasPrefix(out, "A\n") || !strings.HasSuffix(out, "\nA\n") {
		t.Errorf("got %v:\n%s", err, out)
	}
	if content, _ := os.ReadFile(root + "/w/.git/config"); string(content) != "[core]\n\tbare = false\n" {
		t.Errorf("the file is %q", content)
	}
	if content, _ := os.ReadFile(root + "/t/own/config"); !strings.Contains(string(content), "name = A") || !strings.Contains(string(content), "url = /x") {
		t.Errorf("the copy is %q", content)
	}
}
