//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// writerFile is set in the environment of the process that a test kills: the file to
// write, and writerNameless how.
const (
	writerFile     = "TOOLQUAY_TEST_WRITER_FILE"
	writerNameless = "TOOLQUAY_TEST_WRITER_NAMELESS"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(writerFile); path != "" {
		writeForEver(path, os.Getenv(writerNameless) != "")
	}
	os.Exit(m.Run())
}

// wholes are the two contents that the writer puts in place in turn.
func wholes() [2][]byte {
	const size = 512 << 10
	return [2][]byte{bytes.Repeat([]byte("a"), size), bytes.Repeat([]byte("b"), size+1)}
}

// writeForEver writes in pieces, until the process is killed.
func writeForEver(path string, named bool) {
	c := system
	if named {
		nameless(&c)
	}
	contents := wholes()
	_, _ = os.Stdout.WriteString("ready\n")
	for i := 0; ; i++ {
		n, err := Resolve("/", path)
		if err != nil {
			panic(err)
		}
		s, err := stageWith(n, c)
		if err != nil {
			panic(err)
		}
		d := &Draft{target: path, staging: s}
		// Not all at once, so that it is killed while writing too.
		if _, err := io.CopyBuffer(struct{ io.Writer }{d}, struct{ io.Reader }{bytes.NewReader(contents[i%2])}, make([]byte, 16<<10)); err != nil {
			panic(err)
		}
		if _, err := d.Commit(n.Info); err != nil {
			panic(err)
		}
		_ = n.Close()
	}
}

// A killed writer leaves the one content or the other, and at most one file besides,
// which is called so that people see what it is.
func TestDraftKilled(t *testing.T) {
	t.Parallel()
	kills := testenv.Sample(30)
	for _, named := range []string{"", "yes"} {
		root := tree(t)
		path := filepath.Join(root, "f")
		contents := wholes()
		if err := os.WriteFile(path, contents[1], 0o600); err != nil {
			t.Fatal(err)
		}
		var left, partial int
		for range kills {
			killWriter(t, path, named)
			if got := []byte(text(path)); !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
				t.Fatalf("it holds %d bytes", len(got))
			}
			files := litter(t, root)
			if len(files) > 1 {
				t.Fatalf("left behind: %q", files)
			}
			for _, file := range files {
				left++
				if !strings.HasSuffix(file, "-f") {
					t.Errorf("%q does not tell what it was for", file)
				}
				if got := []byte(text(file)); !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
					partial++
				}
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Logf("killed %d times: %d files left, %d of them not whole", kills, left, partial)
		if partial > 0 && named == "" && hasNameless(t, root) {
			t.Errorf("%d files were named before they were whole", partial)
		}
	}
}

func hasNameless(t *testing.T, root string) bool {
	t.Helper()
	d, err := resolve(t, root, "f").Draft()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Discard()
	return d.temp == ""
}

// killWriter starts a writer and kills it a moment later.
func killWriter(t *testing.T, path, named string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), writerFile+"="+path, writerNameless+"="+named)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("the writer did not begin: %q, %v", line, err)
	}
	time.Sleep(time.Duration(rand.IntN(8000)) * time.Microsecond)
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
}
