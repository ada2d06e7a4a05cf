package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// spoilEnv names what a child process does that compiles and was taken over by
// what it compiles.
const spoilEnv = "TOOLQUAY_ENGINE_SPOIL"

// attack is where such a child finds itself: it has compiled its module.
type attack struct {
	dir    string // to compile into
	entry  string // its result there
	victim string // the entry of another module, in the cache
}

// beside is a path next to the result.
func (a attack) beside(name string) string { return filepath.Join(filepath.Dir(a.entry), name) }

// spoiling is what a child may do instead of leaving its result, and what is then
// said of it; "" where the module is loaded all the same.
type spoiling struct {
	do   func(attack) error
	says string
}

const noCode = "is not in the cache"

var attacks = map[string]spoiling{
	"another's name": {func(a attack) error { return os.Rename(a.entry, a.beside(filepath.Base(a.victim))) }, noCode},
	"another's name too": {func(a attack) error {
		return os.Link(a.entry, a.beside(filepath.Base(a.victim)))
	}, ""},
	"a name of none":              {func(a attack) error { return os.Rename(a.entry, a.beside("code")) }, noCode},
	"a file beside the directory": {func(a attack) error { return os.WriteFile(filepath.Join(a.dir, "index"), nil, 0o600) }, ""},
	"another directory":           {func(a attack) error { return os.Rename(filepath.Dir(a.entry), filepath.Join(a.dir, "index")) }, noCode},
	"a file as directory": {func(a attack) error {
		return replace(filepath.Dir(a.entry), func(dir string) error { return os.WriteFile(dir, nil, 0o600) })
	}, "does not compile"},
	"a directory as entry": {func(a attack) error {
		return replace(a.entry, func(file string) error { return os.Mkdir(file, 0o700) })
	}, noCode},
	"nothing":      {func(a attack) error { return os.Remove(a.entry) }, noCode},
	"no directory": {func(a attack) error { return os.RemoveAll(filepath.Dir(a.entry)) }, noCode},
	"a large file": {func(a attack) error { return os.Truncate(a.entry, 1<<40) }, "is not a file of at most"},
	"large files": {func(a attack) error {
		return errors.Join(os.Truncate(a.entry, 60<<20), os.WriteFile(a.beside("more"), nil, 0o600), os.Truncate(a.beside("more"), 60<<20))
	}, "is not a file of at most"},
	"garbage": {func(a attack) error { return os.WriteFile(a.entry, []byte("native code"), 0o600) }, "does not compile"},
	"many files": {func(a attack) error {
		for i := range 1_000 {
			if err := os.WriteFile(a.beside(strconv.Itoa(i)), nil, 0o600); err != nil {
				return err
			}
		}
		return nil
	}, "left more than the module's code"},
	"deep directories": {func(a attack) error {
		dir := a.dir
		for range 500 {
			dir = filepath.Join(dir, "d")
		}
		return os.MkdirAll(dir, 0o700)
	}, "left more than the module's code"},
}

// replace makes something else of a file.
func replace(file string, with func(file string) error) error {
	if err := os.RemoveAll(file); err != nil {
		return err
	}
	return with(file)
}

// spoil is the whole life of the child.
func spoil() int {
	if err := runAttack(os.Getenv(spoilEnv), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runAttack(name, dir, victim string) error {
	if err := CompileInto(context.Background(), dir, attacker()); err != nil {
		return err
	}
	entries, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(entries) != 1 {
		return fmt.Errorf("compiling left %q, %w", entries, err)
	}
	return attacks[name].do(attack{dir: dir, entry: entries[0], victim: victim})
}

// spoiled is a compiler of which an attack has taken hold.
type spoiled struct{ attack, victim string }

func (c spoiled) Compile(_ context.Context, dir string, wasm []byte) error {
	if !bytes.Equal(wasm, attacker()) {
		return errors.New("this is not the attacker's module")
	}
	child := exec.Command(os.Args[0], dir, c.victim)
	child.Env = append(os.Environ(), spoilEnv+"="+c.attack)
	if out, err := child.CombinedOutput(); err != nil {
		return fmt.Errorf("the attack failed: %w: %s", err, out)
	}
	return nil
}

// attackerSource is the module that takes its compiler over, attacker the same as
// the pre-pass writes it, and victimSource a module that would be spoiled.
func attackerSource() Source { return fixtureSource("state_3") }
func victimSource() Source   { return fixtureSource("wasi") }

func fixtureSource(name string) Source {
	wasm, err := os.ReadFile(filepath.Join("testdata", name+".wasm"))
	if err != nil {
		panic(err)
	}
	return sourceOf(wasm)
}

func attacker() []byte {
	s := attackerSource()
	re, err := rewrite(&s, DefaultMaxModule)
	if err != nil {
		panic(err)
	}
	return re.Wasm
}

// TestACompilerSpoilsItsOwnModuleAlone: whatever a compiler that was taken over
// leaves, another module's entry stays as it was, the host compiles nothing itself,
// and nothing is left behind.
func TestACompilerSpoilsItsOwnModuleAlone(t *testing.T) {
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "cache")
			var honest elsewhere
			if err := compileOnce(t, Options{CacheDir: dir, Compiler: &honest}, victimSource()); err != nil {
				t.Fatal(err)
			}
			before := contents(t, dir)
			var log bytes.Buffer
			hostile := spoiled{name, codeIn(t, dir)[0]}
			o := Options{CacheDir: dir, Compiler: hostile, Logger: slog.New(slog.NewTextHandler(&log, nil))}
			err := compileOnce(t, o, attackerSource())
			if attack.says == "" {
				if err != nil || log.Len() > 0 {
					t.Errorf("got %v, and in the log %q", err, log.String())
				}
			} else if abi.CodeOf(err) != abi.CodeLoad || !strings.Contains(err.Error(), attack.says) {
				t.Errorf("got %v; want one that says %q", err, attack.says)
			} else if refused := strings.Contains(err.Error(), "is refused"); refused != strings.Contains(log.String(), "may have broken out") {
				t.Errorf("logged %q for %v", log.String(), err)
			}
			own := attackerSource()
			key := own.key()
			after := contents(t, dir)
			for file, was := range before {
				if after[file] != was {
					t.Errorf("%s was changed", file)
				}
				delete(after, file)
			}
			for file := range after {
				if attack.says != "" || !strings.HasPrefix(file, hex.EncodeToString(key[:])) {
					t.Errorf("%s is left", file)
				}
			}
		})
	}
}

// TestNamesCannotBeTakenInAdvance: a module that is compiled later is not affected
// either.
func TestNamesCannotBeTakenInAdvance(t *testing.T) {
	elsewhereDir := filepath.Join(t.TempDir(), "other")
	var honest elsewhere
	if err := compileOnce(t, Options{CacheDir: elsewhereDir, Compiler: &honest}, victimSource()); err != nil {
		t.Fatal(err)
	}
	victim := codeIn(t, elsewhereDir)[0]
	dir := filepath.Join(t.TempDir(), "cache")
	if err := compileOnce(t, Options{CacheDir: dir, Compiler: spoiled{"another's name too", victim}}, attackerSource()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Source{victimSource(), attackerSource()} {
		if err := compileOnce(t, Options{CacheDir: dir, Compiler: &honest}, s); err != nil {
			t.Error(err)
		}
	}
	if n := honest.compiled.Load(); n != 2 {
		t.Errorf("%d modules were compiled", n)
	}
	own := victimSource()
	key := own.key()
	have := filesIn(t, dir, filepath.Join(hex.EncodeToString(key[:]), codeDir, "*", "*"))
	if len(have) != 1 || sumOf(t, have[0]) != sumOf(t, victim) {
		t.Errorf("the victim's code is not what it compiles to: %q", have)
	}
}

// holding is a compiler that keeps a hand on its result.
type holding struct{ hand string }

func (c holding) Compile(ctx context.Context, dir string, wasm []byte) error {
	if err := CompileInto(ctx, dir, wasm); err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(left) != 1 {
		return fmt.Errorf("compiling left %q, %w", left, err)
	}
	return os.Link(left[0], c.hand)
}

// TestNobodyElseHoldsAnEntry: what is written to the compiler's result later does
// not reach the cache.
func TestNobodyElseHoldsAnEntry(t *testing.T) {
	dir, hand := filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "hand")
	if err := compileOnce(t, Options{CacheDir: dir, Compiler: holding{hand}}, attackerSource()); err != nil {
		t.Fatal(err)
	}
	entry := codeIn(t, dir)[0]
	before := sumOf(t, entry)
	if err := os.WriteFile(hand, []byte("other code"), 0o600); err != nil {
		t.Fatal(err)
	}
	if sumOf(t, entry) != before {
		t.Error("the entry was changed")
	}
}

// contents are the sums of all files below a cache, by their names in it.
func contents(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	root := filesIn(t, dir, ".")[0]
	sums := make(map[string][32]byte)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || e.IsDir() {
			sums[filepath.ToSlash(name)+"/"] = [32]byte{}
			return err
		}
		sums[filepath.ToSlash(name)] = sumOf(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func sumOf(t *testing.T, file string) [32]byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}
