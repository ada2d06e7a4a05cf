package host_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// warned is a log that several write and one reads.
type warned struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (l *warned) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(p)
}

// warnings are the lines of that level.
func (l *warned) warnings() (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.log.String()) {
		if strings.Contains(line, "level=WARN") {
			lines = append(lines, line)
		}
	}
	return lines
}

// reloads counts those that found a change.
func (l *warned) reloads() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(l.log.Bytes(), []byte("plugins were reloaded"))
}

// packed is a module with its manifest inside, and so much that does nothing.
func packed(t *testing.T, tool, fixture string, padding int) []byte {
	t.Helper()
	dir := t.TempDir()
	putPlugin(t, dir, tool, fixture, "")
	manifest, err := os.ReadFile(filepath.Join(dir, "one", "plugin.toml"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(filepath.Join(dir, "one", "one.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range []struct {
		name string
		data []byte
	}{{"padding", make([]byte, padding)}, {"toolquay.manifest", bytes.Replace(manifest, []byte("module = \"one.wasm\"\n"), nil, 1)}} {
		if module, err = plugins.AppendCustomSection(module, section.name, section.data); err != nil {
			t.Fatal(err)
		}
	}
	return module
}

// A module that is copied slowly, with breaks longer than those that a change has to
// settle in, is taken when it is whole, and nobody is told of each step.
func TestFollowASlowCopy(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"one file", "a folder"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			dir, told, log := t.TempDir(), make(news, 1000), &warned{}
			h, s := reloadable(t, dir, func(o *host.Options) { o.Observe.Events, o.Observe.Logger = told.observe, textLogger(log) })
			defer h.Follow(t.Context())()
			module, at := packed(t, "Show", "ok", 1<<20), filepath.Join(dir, "one.wasm")
			if form == "a folder" {
				putPlugin(t, dir, "Show", "ok", "")
				at = filepath.Join(dir, "one", "one.wasm")
			}
			file, err := os.Create(at)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			const steps = 6
			for i := range steps {
				read := log.reloads()
				if _, err := file.Write(module[len(module)*i/steps : len(module)*(i+1)/steps]); err != nil {
					t.Fatal(err)
				}
				soon(t, "the step is read", func() bool { return log.reloads() > read })
			}
			told.want(t, "it is whole", func() bool {
				r := callOnce(t.Context(), t, s, "Show")
				return r.Text() == "ok"
			})
			if lines := log.warnings(); len(lines) > 1 {
				t.Errorf("%d warnings: %s", len(lines), strings.Join(lines, ""))
			}
		})
	}
}

// What is wrong with a plugin is told when it is news.
func TestReloadTellsOfProblemsOnce(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), &warned{}
	h, _ := reloadable(t, dir, func(o *host.Options) { o.Observe.Logger = textLogger(log) })
	for _, step := range []struct {
		more string
		want int
	}{
		{"timeout_1 = 1\n", 1},
		{"timeout_2 = 1\n", 1}, // the same but for a figure
		{"colour = 1\n", 2},
		{"", 2},
		{"colour = 1\n", 3},
	} {
		putPlugin(t, dir, "Show", "ok", step.more)
		if _, err := h.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := log.warnings(); len(got) != step.want {
			t.Errorf("%q: warned %d times, want %d: %s", step.more, len(got), step.want, got)
		}
	}
}

// Where the system does not tell of changes, the log does, once.
func TestFollowTellsThatItIsLate(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux) // elsewhere watching needs no right to read
	dir, log := filepath.Join(t.TempDir(), "plugins"), &warned{}
	if err := os.Mkdir(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	h, _ := reloadable(t, filepath.Join(dir, "inner"), func(o *host.Options) { o.Observe.Logger = textLogger(log) })
	testenv.BoundByPermissions(t)
	defer h.Follow(t.Context())()
	for deadline := time.Now().Add(testenv.Patience); len(log.warnings()) == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if got := log.warnings(); len(got) != 1 || !strings.Contains(got[0], "does not tell of every change") {
		t.Errorf("got %q", got)
	}
}
