package audit_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
)

// FuzzLog reads, verifies and continues logs of any content.
func FuzzLog(f *testing.F) {
	dir := logDir(f)
	l := open(f, dir, audit.Options{})
	add(f, l, "A", "B", "C")
	good, head := slurp(f, segment(dir, 1)), slurp(f, filepath.Join(dir, "head"))
	f.Add(good, head)
	f.Add(append(bytes.Clone(good), `{"prev":"`...), head)
	f.Add(good[:len(good)-20], head)
	f.Add(bytes.Replace(good, []byte(`"B"`), []byte(`"X"`), 1), []byte("{}"))
	f.Add([]byte("\n\n\x00"), []byte{})
	f.Add([]byte(`{"prev":"`+strings.Repeat("0", 64)+`","seq":18446744073709551615,"kind":"torn"`), []byte(`{"version":1,"seq":18446744073709551615}`))
	f.Fuzz(func(t *testing.T, content, head []byte) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		spill(t, segment(dir, 1), content)
		spill(t, filepath.Join(dir, "head"), head)
		before := verify(t, dir, "")
		forward, backward := count(t, dir, true), count(t, dir, false)
		if forward != backward {
			t.Errorf("%d records forward, %d backward", forward, backward)
		}
		l, err := audit.Open(dir, audit.Options{Sync: audit.SyncNever})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.Append(audit.Entry{Subject: audit.Subject{Tool: "T"}, Finding: audit.Finding{Verdict: permissions.Deny}}); err != nil {
			t.Fatal(err)
		}
		after := verify(t, dir, "")
		if !before.OK() && after.OK() {
			t.Errorf("going on hid that %s", before.Fault)
		}
		if !bytes.HasPrefix(slurp(t, segment(dir, 1)), content) {
			t.Error("what was there was changed")
		}
		if got := count(t, dir, true); got < forward+1 {
			t.Errorf("%d records after %d", got, forward)
		}
	})
}

// count counts the records that can be read.
func count(tb testing.TB, dir string, oldest bool) int {
	tb.Helper()
	n := 0
	for _, err := range audit.Read(dir, audit.Filter{Marks: true, OldestFirst: oldest}) {
		if _, ok := errors.AsType[*audit.LineError](err); err != nil && !ok {
			tb.Fatal(err)
		}
		if err == nil {
			n++
		}
	}
	return n
}

func BenchmarkAppend(b *testing.B) {
	for name, sync := range map[string]audit.Sync{"never": audit.SyncNever, "batch": audit.SyncBatch} {
		b.Run(name, func(b *testing.B) {
			l := open(b, logDir(b), audit.Options{Sync: sync})
			e := audit.Entry{
				Subject: audit.Subject{Session: "01234567", Call: "toolu_01", Tool: "Bash", Plugin: "shell"},
				Finding: audit.Finding{
					Verdict: permissions.Allow, Layer: permissions.LayerRule,
					Rule: "Bash(git *)", Source: "project, /ws/proj/.toolquay/settings.toml:7", Reason: "the allow rule Bash(git *)",
				},
				Mode: permissions.ModeDefault, Binding: strings.Repeat("ab", 32),
				Accesses: []audit.Access{{Kind: permissions.AccessExec, Target: "git status"}, {Kind: permissions.AccessRead, Target: "/ws/proj"}},
			}
			for b.Loop() {
				if err := l.Append(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
