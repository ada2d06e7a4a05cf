//go:build unix

package locks

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
	"github.com/toolquay/toolquay/permissions/grants"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/plugins"
)

// locked is something that processes do one after the other: once, in a directory.
type locked func(dir string) error

// locks has one entry for each kind of lock that the host takes between processes.
var locks = map[string]locked{
	"file": func(dir string) error {
		unlock, err := filelock.Path(filepath.Join(dir, "x.lock"), testenv.Patience)
		if err == nil {
			time.Sleep(time.Millisecond)
			unlock()
		}
		return err
	},
	"plugins' grants": func(dir string) error {
		list, err := plugins.OpenGrants(filepath.Join(dir, "plugins.json"))
		if err == nil {
			_, err = list.Revoke("a")
		}
		return err
	},
	"trust": func(dir string) error {
		trust, err := config.OpenTrust(filepath.Join(dir, "trust.json"))
		if err == nil {
			err = trust.TrustProject(dir, nil, time.Now())
		}
		return err
	},
	"grants": func(dir string) error {
		list, err := grants.Open(filepath.Join(dir, "grants", "grants.json"))
		if err != nil {
			return err
		}
		g, err := list.Add(grants.Grant{Rule: "Grep", Scope: grants.ScopeUser}, time.Now())
		if err == nil {
			err = list.Revoke(g.ID)
		}
		return err
	},
	"settings": func(dir string) error {
		user := settings.Target{Kind: permissions.SourceUser, Path: filepath.Join(dir, "settings.toml")}
		if _, err := settings.AddRule(user, permissions.Allow, settings.Rule{Text: "Grep"}); err != nil {
			return err
		}
		_, err := settings.RemoveRule(user, permissions.Allow, "Grep")
		return err
	},
	"log": func(dir string) error {
		log, err := audit.Open(filepath.Join(dir, "log"), audit.Options{})
		if err != nil {
			return err
		}
		if err := log.Append(audit.Entry{Subject: audit.Subject{Tool: "Grep"}}); err != nil {
			return err
		}
		return log.Close()
	},
	"history": func(dir string) error {
		s := history.Open(filepath.Join(dir, "history"), history.Options{Make: make0700(dir, "history")})
		_, err := s.Keep(context.Background(), capability.Write{
			Path: filepath.Join(dir, "a"), Before: strings.NewReader("a"), BeforeSize: 1, Mode: 0o600,
			AfterHash: sha256.Sum256([]byte("b")), AfterSize: 1,
		})
		if err != nil {
			return err
		}
		return s.Close()
	},
	"stage": func(dir string) error {
		s := stage.Open(filepath.Join(dir, "stage"), stage.Options{Make: make0700(dir, "stage")})
		place, err := s.Place()
		if err == nil {
			err = os.WriteFile(place, []byte("a"), 0o600)
		}
		if err != nil {
			return err
		}
		w := capability.StagedWrite{Path: filepath.Join(dir, rand.Text()), Place: place, Hash: sha256.Sum256([]byte("a")), Size: 1}
		if err := s.Put(context.Background(), w); err != nil {
			return err
		}
		_, err = s.Discard(context.Background(), stage.Selection{Paths: []string{w.Path}})
		return err
	},
	"session": func(dir string) error {
		f, err := sessiondir.Open(filepath.Join(dir, "sessions"), "s", slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		return f.Close()
	},
	"approvals": func(dir string) error {
		s, err := approvals.OpenStore(filepath.Join(dir, "approvals"), approvals.Options{})
		if err == nil {
			err = s.Sweep()
		}
		return err
	},
}

// make0700 makes a private directory.
func make0700(dir, name string) func() error {
	return func() error { return os.MkdirAll(filepath.Join(dir, name), 0o700) }
}

// timely is how long one turn may wait for a dead process.
const timely = time.Second

// victim is the variable that makes the test binary the process that is killed: it holds
// a directory, and the kind of lock.
const victim = "LOCKS_TEST_VICTIM"

// TestMain is the victim, where it is to be: it takes its lock for ever.
func TestMain(m *testing.M) {
	dir, kind, is := strings.Cut(os.Getenv(victim), "\n")
	if !is {
		os.Exit(m.Run())
	}
	for {
		if err := locks[kind](dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("done")
	}
}

// TestKilled is the law that no lock outlives its process: processes that take a lock over
// and over are killed at many moments, and the next one has the lock within a second.
func TestKilled(t *testing.T) {
	t.Parallel()
	for kind, take := range locks {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for round := range 8 {
				testenv.InTime(t, timely, func() time.Duration {
					kill(t, dir, kind, time.Duration(round)*137*time.Microsecond)
					return testenv.Took(func() {
						if err := take(dir); err != nil {
							t.Fatalf("after kill %d: %v", round, err)
						}
					})
				})
			}
		})
	}
}

// kill starts a victim, and kills it a moment after its third turn.
func kill(t *testing.T, dir, kind string, moment time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), victim+"="+dir+"\n"+kind, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if text := lines.Text(); text != "done" {
			t.Fatal(text)
		}
		if n == 2 {
			time.Sleep(moment)
			_ = cmd.Process.Kill() // it takes the lock until it is dead
		}
	}
	_ = cmd.Wait() // it was killed
}
