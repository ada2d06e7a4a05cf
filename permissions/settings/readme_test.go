package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// TestReadmeSettings reads the settings that the README shows: all of them together
// are a user's file without a fault.
func TestReadmeSettings(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for i, block := range strings.Split(string(readme), "```toml\n") {
		if i == 0 {
			continue
		}
		text, _, _ := strings.Cut(block, "```")
		all.WriteString(text)
	}
	for _, table := range []string{"[permissions]", "[results]", "[telemetry]"} {
		if !strings.Contains(all.String(), table) {
			t.Errorf("the README shows no %s any more", table)
		}
	}
	if _, err := settings.Parse(permissions.SourceUser, "README.md", []byte(all.String())); err != nil {
		t.Error(err)
	}
}
