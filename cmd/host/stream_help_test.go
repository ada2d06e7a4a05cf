package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestHelpNamesEveryLine has the help name each type of line that there is.
func TestHelpNamesEveryLine(t *testing.T) {
	t.Parallel()
	lines, err := os.ReadFile("../../host/message/stream/testdata/protocol.golden")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		var head struct{ Type string }
		if err := json.Unmarshal([]byte(line), &head); err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`[ \n]` + head.Type + `[ ,;\n]`).MatchString(helpStream) {
			t.Errorf("the help names no line of the type %s", head.Type)
		}
	}
}
