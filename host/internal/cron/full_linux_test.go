package cron_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// On a full disk no job is made and none comes due that could not be written down; when there is
// room again, it does.
func TestFullDisk(t *testing.T) {
	dir := testenv.SmallDisk(t, 128<<10)
	if dir == "" {
		return
	}
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, dir)
		defer d.run()()
		d.durable("*/10 * * * *", "ten", true)
		var err error
		for made := 0; err == nil && made < 40; made++ {
			_, _, err = d.do(abi.CronArgs{Do: abi.CronCreate, Cron: "0 12 1 3 *", Prompt: strings.Repeat("x", 10_000), Durable: true})
		}
		if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), syscall.ENOSPC.Error()+"; no job was made") {
			t.Fatalf("got %v", err)
		}
		filler := filepath.Join(dir, "filler")
		if raw := make([]byte, 128<<10); os.WriteFile(filler, raw, 0o600) == nil {
			t.Fatal("the disk is not full")
		}
		d.after(15 * time.Minute)
		if n := d.log.n.Load(); n != 1 {
			t.Errorf("%d warnings were logged", n)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		d.after(time.Minute, "1T00:10 ten missed")
		d.after(5*time.Minute, "1T00:20 ten")
	})
}

// Of a store that nothing can be written in, jobs are listed, and no prompt is told twice for want
// of a note; those of the session come.
func TestReadOnly(t *testing.T) {
	dir := testenv.ReadOnlyDisk(t, func(dir string) {
		synctest.Test(t, func(t *testing.T) { newDesk(t, dir).durable("*/10 * * * *", "ten", true) })
	})
	if dir == "" {
		return
	}
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, dir)
		defer d.run()()
		if got := d.list(); got != "ten 2000-01-01T00:10:00Z" {
			t.Errorf("there are %s", got)
		}
		d.every("*/10 * * * *", "own")
		d.after(30*time.Minute, "1T00:10 own", "1T00:20 own", "1T00:30 own")
		if n := d.log.n.Load(); n != 1 {
			t.Errorf("%d warnings were logged", n)
		}
		for _, args := range []abi.CronArgs{{Do: abi.CronCreate, Cron: "0 9 * * *", Prompt: "x", Durable: true}, {Do: abi.CronDelete}} {
			if args.Do == abi.CronDelete {
				_, jobs, _ := d.do(abi.CronArgs{Do: abi.CronList})
				for _, j := range jobs {
					if j.Durable {
						args.ID = j.ID
					}
				}
			}
			if _, _, err := d.do(args); abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), syscall.EROFS.Error()) {
				t.Errorf("%s: %v", args.Do, err)
			}
		}
	})
}
