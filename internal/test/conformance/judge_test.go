package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	const requirements = `# What is required.
server:
  - ping
  - tools-list

client:
  - initialize

not_scored:
  - scenario: tasks-lifecycle
    leg: server
    reason: extension
  - scenario: auth
    leg: client
    reason: extension
`
	for role, want := range map[string][2][]string{
		"server": {{"ping", "tools-list"}, {"tasks-lifecycle"}},
		"client": {{"initialize"}, {"auth"}},
	} {
		required, others := scenarios(requirements, role)
		if !reflect.DeepEqual([2][]string{required, others}, want) {
			t.Errorf("%s: required are %v, others %v", role, required, others)
		}
	}
}

// TestVerdict judges results as the suite writes them.
func TestVerdict(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, checks := range map[string]string{
		"good": `[{"id":"a","status":"SUCCESS"},{"id":"b","status":"SKIPPED"}]`,
		"bad":  `[{"id":"a","status":"SUCCESS"},{"id":"b","status":"FAILURE","errorMessage":"no"}]`,
		"poor": `[{"id":"a","status":"WARNING"}]`,
		"none": `[]`,
		// As of a client.
		"auth/scope": `[{"id":"a","status":"SUCCESS"},{"id":"b","status":"INFO"}]`,
	} {
		folder := filepath.Join(dir, "server-"+name+"-2026-11-27T11-23-04-848Z")
		if strings.Contains(name, "/") {
			folder = filepath.Join(dir, name+"-2026-11-27T11-23-04-848Z")
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "checks.json"), []byte(checks), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	results, err := resultsIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	var total tally
	for _, name := range []string{"good", "bad", "poor", "none", "absent", "auth/scope"} {
		total.add("2026-07-28", report("2026-07-28", name, results[name]))
	}
	if got := total.String(); got != "conformance: 2026-07-28 2 of 6" || total.passed() {
		t.Errorf("%s, passed %v", got, total.passed())
	}
}
