package proof

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// script is a file of the specification's tests, as the tool wast2json writes it:
// commands, and the modules they name beside it.
type script struct {
	dir      string
	Commands []command `json:"commands"`
}

type command struct {
	Type       string  `json:"type"`
	Line       int     `json:"line"`
	Name       string  `json:"name"`
	Filename   string  `json:"filename"`
	ModuleType string  `json:"module_type"`
	As         string  `json:"as"`
	Text       string  `json:"text"`
	Action     action  `json:"action"`
	Expected   []value `json:"expected"`
}

type action struct {
	Type   string  `json:"type"`
	Module string  `json:"module"`
	Field  string  `json:"field"`
	Args   []value `json:"args"`
}

func readScript(t *testing.T, file string) script {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := script{dir: filepath.Dir(file)}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return s
}

// module reads the module a command names.
func (s script) module(t *testing.T, c command) []byte {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join(s.dir, c.Filename))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// expectedTraps are the classes of traps by the specification's texts for them,
// which begin with these.
var expectedTraps = []struct {
	prefix string
	class  class
}{
	{"out of bounds memory access", "out of bounds memory access"},
	{"out of bounds table access", "invalid table access"},
	{"undefined", "invalid table access"},
	{"uninitialized", "invalid table access"},
	{"indirect call", "indirect call type mismatch"},
	{"integer overflow", "integer overflow"},
	{"integer divide by zero", "integer divide by zero"},
	{"invalid conversion to integer", "invalid conversion"},
	{"unreachable", "unreachable"},
	{"call stack exhausted", exhausted},
	{"uncaught exception", "uncaught exception"},
	{"null", "null reference"},
}
