//go:build unix

package compat

import (
	"strings"
	"testing"
)

// TestSettings has every key taken, and mean what it meant.
func TestSettings(t *testing.T) {
	t.Parallel()
	h := open(t, "settings")
	for _, name := range []string{"notes", "project/docs", "project/lib"} {
		h.make(name)
	}
	c := h.toolquay("doctor")
	said, err := c.Output() // it fails where the machine lacks a sandbox, say
	got := h.recorded(string(said))
	for _, want := range lines(t, "doctor.txt") {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if strings.Contains(got, "left out") || strings.Contains(got, "wrong  settings") {
		t.Errorf("doctor remarks something: %v", err)
	}
	if t.Failed() {
		t.Logf("doctor says, %v:\n%s", err, got)
	}
	for input, want := range map[string]string{
		`{"file_path": ".env"}`:             "deny  reading",
		`{"file_path": "secret.txt"}`:       "deny  reading",
		`{"file_path": "/usr/share/doc/x"}`: "allow  reading",
		`{"file_path": "../notes/x"}`:       "allow  reading",
		`{"file_path": "../x"}`:             "deny  reading", // which only a person could allow
	} {
		h.says([]string{"--approval", "never", "permissions", "explain", "Read", input}, want)
	}
}

// TestFlags gives every command all the flags it had.
func TestFlags(t *testing.T) {
	t.Parallel()
	h := open(t, "settings")
	known := lines(t, "flags.txt")
	for _, line := range known {
		command := strings.Fields(line)
		if line != known[0] {
			command = append(command, strings.Fields(known[0])...)
		}
		h.says(append(command, "--help"), "Usage:")
	}
}
