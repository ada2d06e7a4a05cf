// Command conformance runs the conformance suite of the Model Context Protocol against host/mcp,
// as a program that embeds the host serves it (see server), and against host/mcp/servers, as one
// that uses it reaches servers (see client). It takes every scenario that the revisions
// 2025-11-25 and 2026-07-28 require of servers and of clients, and those of the Tasks extension
// for servers. Its last line says how many passed; it fails unless all did.
//
//	go run ./internal/test/conformance
//
// It needs npm, and installs the suite and its Node as testdata/package-lock.json pins them.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// here is this directory, from the root of the repository.
const here = "internal/test/conformance"

func main() {
	log.SetFlags(0)
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		log.Fatal(err)
	}
	err = run(context.Background(), dir)
	_ = os.RemoveAll(dir)
	if err != nil {
		log.Fatal(err)
	}
}

var errFailed = errors.New("not every scenario passed")

func run(ctx context.Context, dir string) error {
	modules := filepath.Join(here, "testdata", "node_modules")
	if err := install(ctx, modules); err != nil {
		return err
	}
	if err := build(ctx, dir); err != nil {
		return err
	}
	url, stop, err := start(ctx, dir)
	if err != nil {
		return err
	}
	defer stop()
	var total tally
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, side := range [][]string{{"server", "--url", url}, {"client", "--command", filepath.Join(dir, "client")}} {
			role, args := side[0], side[1:]
			s := suite{modules: modules, revision: revision, role: role, results: filepath.Join(dir, revision, role)}
			if err := s.run(ctx, args...); err != nil {
				return err
			}
			if err := s.judge(&total); err != nil {
				return err
			}
		}
	}
	fmt.Println(total.String())
	if !total.passed() {
		return errFailed
	}
	return nil
}

// install installs the suite, unless it is there as the lock file has it.
func install(ctx context.Context, modules string) error {
	lock, err := os.Stat(filepath.Join(filepath.Dir(modules), "package-lock.json"))
	if err != nil {
		return fmt.Errorf("run this in the root of the repository: %w", err)
	}
	if done, err := os.Stat(filepath.Join(modules, ".package-lock.json")); err == nil && done.ModTime().After(lock.ModTime()) {
		return nil
	}
	return command(ctx, "", nil, "npm", "ci", "--no-audit", "--no-fund", "--prefix", filepath.Dir(modules))
}

// build builds the server and its plugin, and the client.
func build(ctx context.Context, dir string) error {
	plugin := filepath.Join(dir, "plugins", "everything")
	if err := os.MkdirAll(plugin, 0o700); err != nil {
		return err
	}
	source := filepath.Join(here, "server", "plugin")
	guest := []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0"}
	if err := command(ctx, source, guest, "go", "build", "-buildmode=c-shared", "-o", filepath.Join(plugin, "everything.wasm"), "."); err != nil {
		return err
	}
	manifest, err := os.ReadFile(filepath.Join(source, "plugin.toml"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(plugin, "plugin.toml"), manifest, 0o600); err != nil {
		return err
	}
	return command(ctx, "", nil, "go", "build", "-o", dir+string(filepath.Separator), "./"+here+"/server", "./"+here+"/client")
}

func command(ctx context.Context, dir string, env []string, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// start starts the server, and returns its URL when it listens.
func start(ctx context.Context, dir string) (url string, stop func(), err error) {
	c := exec.CommandContext(ctx, filepath.Join(dir, "server"), filepath.Join(dir, "plugins"))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	}
	url, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the server told no URL: %w", err)
	}
	return strings.TrimSpace(url), stop, nil
}

// suite is a run of the suite for one revision, against a server or a client.
type suite struct{ modules, revision, role, results string }

// suiteTime is more than a run of the suite takes.
const suiteTime = 3 * time.Minute

// run has the suite write its results. How it ends says nothing: it counts what is not required
// too, and leaves out warnings.
func (s *suite) run(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, suiteTime)
	defer cancel()
	line := []string{
		filepath.Join(s.modules, "@modelcontextprotocol", "conformance", "dist", "index.js"),
		s.role, "--requirements", s.revision, "-o", s.results,
	}
	c := exec.CommandContext(ctx, filepath.Join(s.modules, "node", "bin", "node"), append(line, args...)...)
	out, err := c.CombinedOutput()
	var exited *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exited) {
		return fmt.Errorf("the suite for %s: %w\n%s", s.revision, errors.Join(ctx.Err(), err), out)
	}
	return nil
}
