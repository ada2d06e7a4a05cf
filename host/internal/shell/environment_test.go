package shell_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// A program of the project is none of those that a command was judged by.
func TestReadingCommandsRunNoProgramOfTheProject(t *testing.T) {
	t.Parallel()
	for name, confined := range map[string]bool{"without a sandbox": false, "in one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			bin := filepath.Join(s.dir, "bin")
			if err := os.Mkdir(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"ls", "bin/ls"} {
				testenv.WriteProgram(t, filepath.Join(s.dir, file), []byte("#!/bin/sh\necho evil\n"))
			}
			s.environ[0] = "PATH=" + bin + ":.:bin::" + os.Getenv("PATH")
			c := newShell(t)
			if confined {
				c = newShell(t, s.sandboxed())
			}
			for range 2 {
				if r := s.bash(c, "ls"); r.out != "bin\nls\n" {
					t.Errorf("got %+v", r)
				}
			}
			if r := s.bash(c, ": >made; ls"); r.out != "bin\nls\nmade\n" {
				t.Errorf("beside a change of files: got %+v", r)
			}
			if r := s.bash(c, "sh -c :; ls"); r.out != "evil\n" {
				t.Errorf("what was judged for what it is has no PATH of its own: got %+v", r)
			}
		})
	}
}
