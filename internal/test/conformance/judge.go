package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tally counts scenarios by what requires them.
type tally struct {
	groups []group
}

type group struct {
	name           string
	passed, wanted int
}

func (t *tally) add(name string, passed bool) {
	i := slices.IndexFunc(t.groups, func(g group) bool { return g.name == name })
	if i < 0 {
		i = len(t.groups)
		t.groups = append(t.groups, group{name: name})
	}
	t.groups[i].wanted++
	if passed {
		t.groups[i].passed++
	}
}

func (t *tally) passed() bool {
	return !slices.ContainsFunc(t.groups, func(g group) bool { return g.passed < g.wanted })
}

func (t *tally) String() string {
	counts := make([]string, len(t.groups))
	for i, g := range t.groups {
		counts[i] = fmt.Sprintf("%s %d of %d", g.name, g.passed, g.wanted)
	}
	return "conformance: " + strings.Join(counts, ", ")
}

// judge prints what came of the scenarios, and counts those that are required, and those of the
// Tasks extension.
func (s *suite) judge(total *tally) error {
	text, err := os.ReadFile(filepath.Join(s.modules, "@modelcontextprotocol", "conformance", "requirements", s.revision+".yaml"))
	if err != nil {
		return err
	}
	results, err := resultsIn(s.results)
	if err != nil {
		return err
	}
	required, others := scenarios(string(text), s.role)
	for _, name := range required {
		total.add(s.revision+" "+s.role, report(s.revision, name, results[name]))
	}
	for _, name := range others {
		if strings.HasPrefix(name, "tasks-") {
			total.add("tasks", report(s.revision, name, results[name]))
		}
	}
	return nil
}

// scenarios reads which scenarios a revision requires of a role, server or client, and which the
// suite runs beside them, out of one of its YAML files.
func scenarios(requirements, role string) (required, others []string) {
	section := ""
	for line := range strings.Lines(requirements) {
		line = strings.TrimRight(line, "\n")
		if key, ok := strings.CutSuffix(line, ":"); ok && !strings.HasPrefix(line, " ") {
			section = key
		}
		name, isName := strings.CutPrefix(line, "  - ")
		switch {
		case isName && section == role:
			required = append(required, name)
		case isName && section == "not_scored":
			others = append(others, strings.TrimPrefix(name, "scenario: "))
		case section == "not_scored" && strings.HasPrefix(line, "    leg: ") && line != "    leg: "+role:
			others = others[:len(others)-1]
		}
	}
	return required, others
}

// check is one check of a scenario, as the suite wrote it.
type check struct {
	ID, Description, Status, ErrorMessage string
}

// resultsIn reads the checks of each scenario. Their directories are named for them, for servers
// behind the role; some names have a slash.
func resultsIn(dir string) (map[string][]check, error) {
	named := regexp.MustCompile(`^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[^/]+/checks\.json$`)
	results := make(map[string][]check)
	tree := os.DirFS(dir)
	return results, fs.WalkDir(tree, ".", func(path string, _ fs.DirEntry, err error) error {
		name := named.FindStringSubmatch(path)
		if err != nil || name == nil {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		var checks []check
		if err := json.Unmarshal(text, &checks); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		results[name[1]] = checks
		return nil
	})
}

// report prints what came of a scenario, and reports whether it passed: a warning is a failure
// too. What the suite skips it says so itself.
func report(revision, scenario string, checks []check) bool {
	var wrong []check
	counts := map[string]int{}
	for _, c := range checks {
		counts[c.Status]++
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			wrong = append(wrong, c)
		}
	}
	passed := len(checks) > 0 && len(wrong) == 0
	verdict := "ok"
	if !passed {
		verdict = "FAIL"
	}
	fmt.Printf("%-4s  %s  %-46s %2d checks", verdict, revision, scenario, counts["SUCCESS"])
	if n := counts["SKIPPED"]; n > 0 {
		fmt.Printf(", %d skipped by the suite", n)
	}
	fmt.Println()
	if len(checks) == 0 {
		fmt.Println("      it has no result: it took too long, or the suite does not know it")
	}
	for _, c := range wrong {
		fmt.Printf("      %s (%s): %s\n", c.Description, c.ID, c.ErrorMessage)
	}
	return passed
}
