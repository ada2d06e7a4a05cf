package shell

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSearching(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, link := filepath.Join(root, "work"), filepath.Join(root, "link")
	if err := os.MkdirAll(filepath.Join(work, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(work, "bin"), link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"PATH=/usr/bin:/bin":                           "PATH=/usr/bin:/bin",
		"PATH=/usr/bin:.:bin:../bin:./x::/bin:":        "PATH=/usr/bin:/bin",
		"PATH=" + work + ":" + work + "/bin:/usr/bin":  "PATH=/usr/bin",
		"PATH=" + root + "/x/../work/nosuch:/bin":      "PATH=/bin",
		"PATH=" + link + ":" + root + "/workshop:/bin": "PATH=" + root + "/workshop:/bin",
		"PATH=":                  "PATH=/usr/bin:/bin",
		"PATH=" + work + "/bin:": "PATH=/usr/bin:/bin",
		"XPATH=.":                "XPATH=.",
	} {
		got := searching([]string{"A=1", path, "B=2"}, []string{work})
		if want := []string{"A=1", want, "B=2"}; path == "XPATH=." && !slices.Equal(got, append(want, "PATH=/usr/bin:/bin")) || path != "XPATH=." && !slices.Equal(got, want) {
			t.Errorf("%q: got %q", path, got)
		}
	}
}
