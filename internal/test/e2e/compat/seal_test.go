//go:build unix

package compat

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// recorded is the home directory in which the fixtures were made.
const recorded = "/home/ada"

// move is the content of a fixture's file with another home directory in the place of the
// recorded one. What has checksums gets new ones. The log of decisions stays as it is: its
// lines are chained, and nothing opens the paths in it.
func move(name string, content []byte, home string) []byte {
	if strings.Contains(name, "/decisions/") || strings.HasSuffix(name, ".wasm") {
		return content
	}
	content = bytes.ReplaceAll(content, []byte(recorded), []byte(home))
	switch {
	case strings.HasSuffix(name, "/journal.jsonl"):
		return sealChain(content, filepath.Base(filepath.Dir(name)))
	case strings.HasSuffix(name, "/log.jsonl"):
		return sealLines(content)
	case strings.HasSuffix(name, ".question"):
		return sealQuestion(content)
	}
	return content
}

// sum matches the checksum that ends a line.
var sum = regexp.MustCompile(`,"sum":"([0-9a-f]+)"}$`)

// sealChain seals a session's journal: 16 bytes of SHA-256 over the sum of the line
// before and the line up to its sum. The first line follows the sum of the session's id.
func sealChain(content []byte, session string) []byte {
	last := make([]byte, 16)
	next := func(text []byte) {
		full := sha256.Sum256(append(bytes.Clone(last), text...))
		last = full[:16]
	}
	next([]byte(session))
	return eachLine(content, func(open []byte) string {
		next(open)
		return hex.EncodeToString(last)
	})
}

// sealLines seals the log of a history or a stage: the first 16 digits of SHA-256 over the
// line up to its sum.
func sealLines(content []byte) []byte {
	return eachLine(content, func(open []byte) string {
		full := sha256.Sum256(open)
		return hex.EncodeToString(full[:])[:16]
	})
}

func eachLine(content []byte, seal func(open []byte) string) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(content) {
		open := sum.ReplaceAll(bytes.TrimSuffix(line, []byte("\n")), nil)
		fmt.Fprintf(&out, "%s,\"sum\":%q}\n", open, seal(open))
	}
	return out.Bytes()
}

// sealQuestion gives a question's accesses their digests: SHA-256 over the access as Go
// wrote it. The question gets times at which it can be answered.
func sealQuestion(content []byte) []byte {
	content = regexp.MustCompile(`\{"Kind":[^{}]*\}`).ReplaceAllFunc(content, func(text []byte) []byte {
		var a struct {
			Kind, Target, Real string
			Tree               bool
			Glob               string
			Links              bool
			Former, Objects    string
			Removal            bool
		}
		if err := json.Unmarshal(text, &a); err != nil {
			panic(err)
		}
		digest := sha256.Sum256(fmt.Appendf(nil,
			"permissions.Access{Kind:%q, Target:%q, Real:%q, Tree:%t, Glob:%q, Links:%t, Former:%q, Objects:%q, Removal:%t}",
			a.Kind, a.Target, a.Real, a.Tree, a.Glob, a.Links, a.Former, a.Objects, a.Removal))
		return regexp.MustCompile(`"digest":"[0-9a-f]+"`).ReplaceAll(text, fmt.Appendf(nil, `"digest":"%x"`, digest))
	})
	for key, at := range map[string]time.Duration{"asked": -time.Minute, "expires": time.Hour} {
		said := fmt.Appendf(nil, `"%s":%q`, key, time.Now().Add(at).UTC().Format(time.RFC3339Nano))
		content = regexp.MustCompile(`"`+key+`":"[^"]*"`).ReplaceAll(content, said)
	}
	return content
}

// TestSeals seals the fixtures' files where they were made: they are what the command
// wrote, so the seals are those of the command.
func TestSeals(t *testing.T) {
	t.Parallel()
	times := regexp.MustCompile(`"(asked|expires)":"[^"]*"`)
	for _, name := range files(t, month) {
		content, err := os.ReadFile(filepath.Join(month, name))
		if err != nil {
			t.Fatal(err)
		}
		want, got := times.ReplaceAll(content, nil), times.ReplaceAll(move(name, content, recorded), nil)
		if !bytes.Equal(got, want) {
			t.Errorf("%s is sealed as\n%s\nand was\n%s", name, got, want)
		}
	}
}

// files lists the files below a directory, as names in it.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	return names
}
