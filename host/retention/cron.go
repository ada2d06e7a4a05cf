package retention

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host/internal/cron"
)

// findSchedules finds the durable scheduled prompts of projects. Those of a project that is there
// stay, however old: a prompt may come once a year.
func findSchedules(c *cleaner) {
	c.eachIn("cron", c.Cron, func(root *os.Root, entry fs.DirEntry) {
		name := entry.Name()
		path := filepath.Join(c.Cron, name)
		if !entry.IsDir() || !cron.IsKey(name) {
			c.foreign("cron", path, "it has no scheduled prompts")
			return
		}
		it := Item{Area: "cron", Name: name, Path: path, State: Kept, Bytes: sizeOf(root, name)}
		project, used, gone, err := cron.Gone(path)
		it.Used = used
		if err != nil {
			c.failed("cron", path, err)
			return
		}
		if gone {
			if c.judge(&it, c.keepFor("cron")); it.Goes() && project != "" {
				it.Why = "the project " + project + " is gone, and it is " + it.Why
			}
		}
		c.add(it)
	})
}

func removeSchedules(c *cleaner, it *Item) error { return cron.Forget(c.ctx, it.Path) }
