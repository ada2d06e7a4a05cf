package gitconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// entry is a setting, and entries are a file of them in its order.
type (
	entry   struct{ key, value string }
	entries []entry
)

// keys lists the keys.
func (e entries) keys() []string {
	out := make([]string, 0, len(e))
	for _, each := range e {
		out = append(out, each.key)
	}
	return out
}

// values lists the values of a key.
func (e entries) values(key string) []string {
	var out []string
	for _, each := range e {
		if each.key == key {
			out = append(out, each.value)
		}
	}
	return out
}

// maxListed bounds what git may print, in bytes, and patience how long all its work may take.
const (
	maxListed = 16 << 20
	patience  = 10 * time.Second
)

// git runs the system's git, which reads no configuration of its own.
type git struct {
	program string
	// dir is an empty directory of the caller's.
	dir string
}

// list reads a configuration.
func (g *git) list(ctx context.Context, content []byte) (entries, error) {
	out, err := g.config(ctx, content, "--file", "-", "--no-includes", "--null", "--list")
	if err != nil {
		return nil, err
	}
	var all entries
	for text := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if text == "" {
			continue
		}
		key, value, given := strings.Cut(text, "\n")
		if !given {
			value = "true" // as git takes it
		}
		all = append(all, entry{key, value})
	}
	return all, nil
}

// apply returns a configuration with changes.
func (g *git) apply(ctx context.Context, content []byte, all []change) ([]byte, error) {
	file := filepath.Join(g.dir, "config")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return nil, err
	}
	for _, c := range all {
		if err := g.put(ctx, file, c); err != nil {
			return nil, err
		}
	}
	return os.ReadFile(file)
}

// put changes one key in a file.
func (g *git) put(ctx context.Context, file string, c change) error {
	if len(c.before) == 1 && len(c.after) == 1 {
		_, err := g.config(ctx, nil, "--file", file, "--replace-all", "--", c.key, c.after[0])
		return err
	}
	if len(c.before) > 0 {
		if _, err := g.config(ctx, nil, "--file", file, "--unset-all", "--", c.key); err != nil {
			return err
		}
	}
	for _, value := range c.after {
		if _, err := g.config(ctx, nil, "--file", file, "--add", "--", c.key, value); err != nil {
			return err
		}
	}
	return nil
}

// config runs git config.
func (g *git) config(ctx context.Context, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.program, append([]string{"config"}, args...)...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = g.dir, bytes.NewReader(input), time.Second
	cmd.Env = []string{
		"HOME=/", "PATH=/usr/bin:/bin", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(g.dir),
	}
	var out limited
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git config: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return out.String(), nil
}

// limited takes a bounded output.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxListed {
		return 0, errors.New("it printed too much")
	}
	return l.Buffer.Write(p)
}
